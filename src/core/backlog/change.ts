/** The ways in which a decision changes a backlog loop. */
import type { NoticeKind } from "../base.ts";
import type { Decision, Effect } from "../event.ts";
import type { JobId, PauseCode } from "../goal/goal.ts";
import type { Attempt, AttemptPhase, Backlog, BacklogOutcome } from "./backlog.ts";

export type BacklogDecision = Decision<Backlog>;

export const BACKLOG_UNCHANGED: BacklogDecision = { kind: "none" };

export function changeBacklog(
  backlog: Backlog,
  fields: Partial<Backlog>,
  effects: readonly Effect[] = [],
): BacklogDecision {
  const loop = { ...backlog, ...fields, version: backlog.version + 1 };
  return { kind: "change", loop, effects, outcomes: [] };
}

export function replaceAttempt({ attempts }: Backlog, changed: Attempt): readonly Attempt[] {
  return attempts.map((attempt) => (attempt.story === changed.story ? changed : attempt));
}

export function without({ attempts }: Backlog, gone: Attempt): readonly Attempt[] {
  return attempts.filter(({ story }) => story !== gone.story);
}

export function refuseBacklog(message: string): BacklogDecision {
  return { kind: "refused", message };
}

export interface Ready {
  readonly token: number;
  readonly nonce: string;
  readonly now: number;
}

/** Intends the next job of an attempt. In a run that is not active, the attempt waits for that job. */
export function intendAttempt(
  backlog: Backlog,
  attempt: Attempt,
  phase: AttemptPhase,
  { token, nonce, now }: Ready,
): BacklogDecision {
  if (backlog.status !== "active")
    return changeBacklog(backlog, {
      attempts: replaceAttempt(backlog, { ...attempt, job: null, next: phase }),
    });
  const jobs = backlog.jobs + 1;
  const id = `${backlog.id}-${jobs}` as JobId;
  const job = { id, phase, token, nonce, intendedAt: now, startedAt: null, process: null };
  const attempts = replaceAttempt(backlog, { ...attempt, job, next: phase });
  return changeBacklog(backlog, { attempts, jobs }, [{ kind: "work", jobId: id }]);
}

/** The first cause counts: a run that is paused or over keeps its reason. */
export function pauseRun(
  backlog: Backlog,
  code: PauseCode,
  reason: string,
  now: number,
  /** A flag that resuming needs. */
  flag = "",
): BacklogDecision {
  if (backlog.status !== "active") return changeBacklog(backlog, {});
  const goOn = `loop backlog run --resume${flag}`;
  const isPersonal = code === "person" || code === "interrupted";
  return changeBacklog(
    backlog,
    {
      status: "paused",
      pause: { code, reason, evidence: [], goOn, at: now },
      waitUntil: null,
      waitReason: null,
    },
    [
      ...cancelling(backlog, reason),
      ...(isPersonal
        ? []
        : [backlogNotice(backlog, "paused", "is paused", `${reason}. Go on with: ${goOn}`)]),
    ],
  );
}

export function endRun(
  backlog: Backlog,
  outcome: BacklogOutcome,
  reason: string,
  now: number,
): BacklogDecision {
  const isPersonal = outcome === "cancelled" || outcome === "stopped";
  const told =
    outcome === "done"
      ? backlogNotice(backlog, "done", "is done", reason)
      : backlogNotice(backlog, "ended", "has ended", reason);
  return changeBacklog(
    backlog,
    {
      status: "ended",
      end: { outcome, reason, at: now },
      pause: null,
      waitUntil: null,
      waitReason: null,
      isStopping: false,
    },
    [...cancelling(backlog, reason), ...(isPersonal ? [] : [told])],
  );
}

export function backlogNotice({ id }: Backlog, kind: NoticeKind, what: string, body: string): Effect {
  return { kind: "notify", notice: { kind, title: `Backlog ${id} ${what}`, body } };
}

function cancelling({ attempts }: Backlog, reason: string): readonly Effect[] {
  return attempts.flatMap(({ job }) =>
    job === null ? [] : [{ kind: "cancel", fireId: job.id, reason } as const],
  );
}
