/** The few ways in which a decision changes a goal: intend a job, pause, ask, finish. */
import type { NoticeKind } from "../base.ts";
import { change } from "../decision.ts";
import type { Decision, Effect } from "../event.ts";
import type { End, Gate, GateKind, Goal, Job, JobId, JobKind, Pause } from "./goal.ts";
import { owe } from "./phase.ts";

export type GoalDecision = Decision<Goal>;

export function intendJob(
  goal: Goal,
  kind: JobKind,
  { token, nonce, now }: { readonly token: number; readonly nonce: string; readonly now: number },
): GoalDecision {
  const jobs = goal.jobs + 1;
  const id = `${goal.id}-${jobs}` as JobId;
  const intended = { id, kind, token, nonce, intendedAt: now };
  const job: Job = { ...intended, startedAt: null, process: null, reported: null };
  return change(goal, { job, jobs, waitUntil: null, waitReason: null }, [{ kind: "work", jobId: id }]);
}

const AT_REST = { gate: null, waitUntil: null, waitReason: null } as const;

/** Without `goOn`, `loop continue` goes on. */
export type PauseWish = Pick<Pause, "code" | "reason" | "unanswered"> &
  Partial<Pick<Pause, "evidence" | "goOn">>;

export function pause(goal: Goal, wish: PauseWish, now: number): GoalDecision {
  const { code, reason, evidence = [], goOn = `loop continue ${goal.id}`, unanswered } = wish;
  const paused: Pause = { code, reason, evidence, goOn, at: now, ...(unanswered ? { unanswered } : {}) };
  // After `loop continue` the question about the end is asked again, instead of one more turn.
  const phase = asksForEnd(goal.gate) ? owe(goal.phase) : goal.phase;
  const fields = { ...AT_REST, status: "paused", pause: paused, phase } as const;
  const isPersonal = code === "person" || code === "interrupted";
  return change(goal, fields, [
    ...cancelling(goal, reason),
    ...(isPersonal ? [] : [notice(goal, "paused", "is paused", `${reason}. Go on with: ${goOn}`)]),
  ]);
}

export function ask(
  goal: Goal,
  kind: GateKind,
  question: string,
  details: readonly string[],
  now: number,
): GoalDecision {
  const { gateTimeoutMs } = goal.policy;
  const answerBy = gateTimeoutMs === null ? null : now + gateTimeoutMs;
  const gate: Gate = { kind, question, details, askedAt: now, answerBy };
  return change(goal, { gate }, [
    notice(goal, "asks", "asks", `${question} Answer with: loop approve ${goal.id}`),
  ]);
}

/** Every criterion is proved, but the agent did not signal the end (B9). */
export function askUnsignalled(goal: Goal, now: number): GoalDecision {
  const question = "All criteria are proved, but the agent did not signal the end. Done?";
  return ask(goal, "proved", question, proofLines(goal), now);
}

/** The state of each criterion, shown with a question. */
export function proofLines(goal: Goal): readonly string[] {
  return goal.criteria.map(({ name }) => {
    const found = goal.evidence[name];
    const mark = found?.met === true ? "✓" : "✗";
    return `${mark} ${name}${found === undefined ? "" : ` (${found.verification})`}`;
  });
}

/** Does the gate ask a person whether the goal is done? */
export function asksForEnd(gate: Gate | null): boolean {
  return gate?.kind === "G3" || gate?.kind === "proved";
}

export function finish(goal: Goal, end: Omit<End, "at">, now: number): GoalDecision {
  const fields = { ...AT_REST, status: "ended", end: { ...end, at: now }, pause: null } as const;
  const isDone = end.status === "done";
  const word = isDone ? "is done" : `has ended: ${end.status}`;
  const effects =
    end.status === "cancelled" ? [] : [notice(goal, isDone ? "done" : "ended", word, end.reason)];
  return change(goal, fields, [...cancelling(goal, end.reason), ...effects]);
}

export function notice(goal: Goal, kind: NoticeKind, what: string, body: string): Effect {
  return { kind: "notify", notice: { kind, title: `Goal ${goal.id} ${what}`, body } };
}

function cancelling({ job }: Goal, reason: string): readonly Effect[] {
  return job === null ? [] : [{ kind: "cancel", fireId: job.id, reason }];
}
