/** Pure decisions about a backlog loop: how an event changes it, and which effects follow. */
import { NOTHING_SPENT } from "../cost/usage.ts";
import type { JobId } from "../goal/goal.ts";
import { interruptAttempt, waitFor } from "./attempt-ends.ts";
import { afterChecks, afterEvaluator, afterGenerator, afterMerge, type EndedPart } from "./attempts.ts";
import type { Attempt, AttemptJob, AttemptPhase, Backlog, StoryPlace, ToolVerdict } from "./backlog.ts";
import {
  BACKLOG_UNCHANGED,
  type BacklogDecision,
  changeBacklog,
  endRun,
  intendAttempt,
  pauseRun,
  type Ready,
  refuseBacklog,
  replaceAttempt,
  without,
} from "./change.ts";
import type { BacklogEvent } from "./event.ts";
import { adoptStories, nextStory } from "./pick.ts";
import { countsOfStories, type Story } from "./stories.ts";
import { addVerdict } from "./verdict.ts";

/** When the owner must look at the run; null: only after the next event. */
export function backlogWakeAt(backlog: Backlog): number | null {
  if (backlog.status !== "active") return null;
  if (isGivenUp(backlog)) return 0;
  const isFree = isRoomLeft(backlog) && !backlog.isStopping;
  const isWaiting = nextWaiting(backlog) !== undefined;
  const isOver = backlog.attempts.length === 0;
  if (!isFree && !isWaiting && !isOver) return null;
  // There is room, but no story is ready until a current one is settled.
  if (!isWaiting && !isOver && nextStory(backlog) === null) return null;
  return backlog.waitUntil ?? 0;
}

/** The limits allow to start another story. */
function isRoomLeft({ attempts, iteration, spent, terms }: Backlog): boolean {
  const isWithin = iteration < terms.maxIterations && spent.costUsd < terms.budgetUsd;
  return isWithin && attempts.length < terms.parallel;
}

/** A person stopped the run, and it only waits for a failed agent. That wait can take hours, so it ends now. */
function isGivenUp({ attempts, isStopping, waitUntil }: Backlog): boolean {
  return isStopping && waitUntil !== null && attempts.every(({ job }) => job === null);
}

/** The attempt that can continue now. Only one merge runs at a time. */
function nextWaiting({ attempts }: Backlog): Attempt | undefined {
  const isMerging = attempts.some(({ job }) => job?.phase === "merge");
  return attempts.find(({ job, next }) => job === null && !(isMerging && next === "merge"));
}

export function decideBacklog(backlog: Backlog, event: BacklogEvent, now: number): BacklogDecision {
  const decision = decideEvent(backlog, event, now);
  if (decision.kind !== "change") return decision;
  const notify = decision.effects.findLast((effect) => effect.kind === "notify");
  if (notify === undefined) return decision;
  return { ...decision, loop: { ...decision.loop, notice: notify.notice } };
}

type Of<Type extends BacklogEvent["type"]> = Extract<BacklogEvent, { type: Type }>;

function decideEvent(backlog: Backlog, event: BacklogEvent, now: number): BacklogDecision {
  switch (event.type) {
    case "backlog.created":
      return BACKLOG_UNCHANGED;
    case "backlog.due":
      return decideDue(backlog, event, now);
    case "backlog.notified":
      return backlog.notice === null ? BACKLOG_UNCHANGED : changeBacklog(backlog, { notice: null });
    case "backlog.stopping":
      return decideStopping(backlog, now);
    case "backlog.paused":
      return decidePause(backlog, event, now);
    case "backlog.continued":
      return decideContinue(backlog, event);
    case "backlog.cancelled":
      if (backlog.status === "ended") return over(backlog);
      return endRun(backlog, "cancelled", event.reason, now);
    case "attempt.started":
      return withJob(backlog, event.jobId, (attempt, job) =>
        job.startedAt !== null
          ? BACKLOG_UNCHANGED
          : begin(backlog, attempt, { ...job, startedAt: now, process: event.process }, event.place ?? null),
      );
    case "attempt.generated":
      return endPart(backlog, event, now, "generate", (part) => afterGenerator(part, event.turn));
    case "attempt.checked":
      return endPart(backlog, event, now, "check", (part) => afterChecks(part, event.round));
    case "attempt.judged":
      return withJob(backlog, event.jobId, (attempt, job) => decideJudged(backlog, attempt, job, event.said));
    case "attempt.evaluated":
      return endPart(backlog, event, now, "evaluate", (part) => afterEvaluator(part, event.turn));
    case "attempt.merged":
      return endPart(backlog, event, now, "merge", (part) => afterMerge(part, event.merge));
    case "attempt.interrupted":
      return withJob(backlog, event.jobId, (attempt, job) =>
        interruptAttempt({ backlog, attempt, now }, job.phase, event.reason),
      );
    case "attempt.withdrawn":
      // The agent never saw the prompt, so the job does not count.
      return withJob(backlog, event.jobId, (attempt, job) =>
        job.phase === "generate"
          ? changeBacklog(backlog, { attempts: without(backlog, attempt), iteration: backlog.iteration - 1 })
          : changeBacklog(backlog, { attempts: waitFor(backlog, attempt, job.phase) }),
      );
  }
}

/** Only the evaluator of this turn gives a verdict. */
function decideJudged(
  backlog: Backlog,
  attempt: Attempt,
  job: AttemptJob,
  said: ToolVerdict,
): BacklogDecision {
  if (job.phase !== "evaluate") return refuseBacklog("Only the evaluator of a story can give a verdict.");
  if (said.nonce !== job.nonce || job.nonce === "")
    return refuseBacklog("This is not the nonce of this turn, so the verdict does not count.");
  const verdicts = addVerdict(job, said);
  const isSame = (verdict: ToolVerdict) => JSON.stringify(verdict) === JSON.stringify(verdicts.at(-1));
  if (job.verdicts?.some(isSame)) return BACKLOG_UNCHANGED;
  return changeBacklog(backlog, {
    attempts: replaceAttempt(backlog, { ...attempt, job: { ...job, verdicts } }),
  });
}

/** A broken job is over in every state of the run: nobody else will settle it. */
function decidePause(
  backlog: Backlog,
  { code, reason, jobId }: Of<"backlog.paused">,
  now: number,
): BacklogDecision {
  // The state here is from before the forgery. It must be written again, whatever it was.
  if (code === "forged") return pauseRun(backlog, code, reason, now);
  const settled =
    jobId === undefined
      ? BACKLOG_UNCHANGED
      : withJob(backlog, jobId, (attempt, job) =>
          interruptAttempt({ backlog, attempt, now }, job.phase, reason),
        );
  if (backlog.status === "active")
    return pauseRun(
      settled.kind === "change" ? { ...settled.loop, version: backlog.version } : backlog,
      code,
      reason,
      now,
    );
  if (settled.kind === "change" || backlog.status === "paused") return settled;
  return over(backlog);
}

/**
 * A story keeps the place and the base of its first attempt, so that all of its work is judged. If that place is gone,
 * the new one replaces it.
 */
function begin(
  backlog: Backlog,
  attempt: Attempt,
  job: AttemptJob,
  begun: StoryPlace | null,
): BacklogDecision {
  const isKept = (place: StoryPlace) => place.story === begun?.story && place.worktree === begun.worktree;
  const kept = begun === null || backlog.places.some(isKept);
  const others = backlog.places.filter(({ story }) => story !== begun?.story);
  return changeBacklog(backlog, {
    attempts: replaceAttempt(backlog, { ...attempt, job, place: begun ?? attempt.place }),
    places: kept ? backlog.places : [...others, begun],
  });
}

/** What comes next. The order of the questions matters. */
function decideDue(
  before: Backlog,
  { token, nonce, stories, problem }: Of<"backlog.due">,
  now: number,
): BacklogDecision {
  const at = backlogWakeAt(before);
  if (at === null || at > now) return BACKLOG_UNCHANGED;
  if (problem !== null || stories === null)
    return endRun(before, "error", problem ?? "the stories cannot be read", now);
  const backlog = { ...before, stories: adoptStories(before, stories), waitUntil: null, waitReason: null };
  const ready = { token, nonce, now };
  if (isGivenUp(before)) return endRun(backlog, "stopped", "stopped by a person", now);
  const waiting = nextWaiting(backlog);
  if (waiting !== undefined) return intendAttempt(backlog, waiting, waiting.next, ready);
  if (backlog.isStopping) return endRun(backlog, "stopped", "stopped by a person", now);
  const { passed, total } = countsOfStories(backlog.stories);
  const story = nextStory(backlog);
  if (story === null) {
    const isOnly = ({ id, passes }: Story) => id === backlog.terms.only && passes;
    const isDone = passed === total || backlog.stories.some(isOnly);
    if (isDone) return endRun(backlog, "done", `all ${passed} of ${total} stories have passed`, now);
    return endRun(backlog, "blocked", "the remaining stories are blocked", now);
  }
  if (backlog.iteration >= backlog.terms.maxIterations)
    return endRun(backlog, "max_iterations", `${backlog.iteration} iterations are used`, now);
  if (backlog.spent.costUsd >= backlog.terms.budgetUsd)
    return pauseRun(
      backlog,
      "budget",
      `the budget of $${backlog.terms.budgetUsd} is used`,
      now,
      " --budget=10",
    );
  return attemptStory(backlog, story.id, ready);
}

function attemptStory(backlog: Backlog, story: string, ready: Ready): BacklogDecision {
  const iteration = backlog.iteration + 1;
  const attempt: Attempt = {
    story,
    iteration,
    job: null,
    next: "generate",
    diff: null,
    evidence: {},
    checkedTree: null,
    verdict: null,
    place: backlog.places.find((place) => place.story === story) ?? null,
    spent: NOTHING_SPENT,
    outputTokens: 0,
  };
  const begun = { ...backlog, iteration, attempts: [...backlog.attempts, attempt] };
  return intendAttempt(begun, attempt, "generate", ready);
}

/** C12: the run ends after its current jobs. */
function decideStopping(backlog: Backlog, now: number): BacklogDecision {
  if (backlog.status === "ended") return over(backlog);
  if (backlog.attempts.every(({ job }) => job === null))
    return endRun(backlog, "stopped", "stopped by a person", now);
  return backlog.isStopping ? BACKLOG_UNCHANGED : changeBacklog(backlog, { isStopping: true });
}

function decideContinue(backlog: Backlog, event: Of<"backlog.continued">): BacklogDecision {
  const { iterations, budgetUsd, session = backlog.session } = event;
  if (backlog.status === "ended") return over(backlog);
  const isRaised = iterations > 0 || budgetUsd > 0;
  const isMoved = session !== backlog.session;
  const isHeldUp = backlog.status !== "active" || backlog.waitUntil !== null || backlog.isStopping;
  if (!isRaised && !isMoved && !isHeldUp) return BACKLOG_UNCHANGED;
  const { terms } = backlog;
  return changeBacklog(backlog, {
    // During an attempt the file may hold an agent's edits, so it counts only between attempts.
    ...(event.stories !== undefined && backlog.attempts.length === 0 ? { stories: event.stories } : {}),
    session,
    status: "active",
    pause: null,
    isStopping: false,
    waitUntil: null,
    waitReason: null,
    freeFailures: 0,
    terms: {
      ...terms,
      maxIterations: terms.maxIterations + iterations,
      budgetUsd: terms.budgetUsd + budgetUsd,
    },
  });
}

function over({ id, end }: Backlog): BacklogDecision {
  return refuseBacklog(`Backlog ${id} has ended: ${end?.reason ?? "it is over"}.`);
}

/** Late events of a job that is over change nothing. */
function withJob(
  backlog: Backlog,
  id: JobId,
  decideJob: (attempt: Attempt, job: AttemptJob) => BacklogDecision,
): BacklogDecision {
  const attempt = backlog.attempts.find(({ job }) => job?.id === id);
  return attempt?.job == null ? BACKLOG_UNCHANGED : decideJob(attempt, attempt.job);
}

function endPart(
  backlog: Backlog,
  event: { readonly jobId: JobId; readonly nextNonce?: string },
  now: number,
  phase: AttemptPhase,
  decideEnd: (part: EndedPart) => BacklogDecision,
): BacklogDecision {
  return withJob(backlog, event.jobId, (attempt, job) =>
    job.phase === phase
      ? decideEnd({ backlog, attempt, job, nonce: event.nextNonce ?? "", now })
      : BACKLOG_UNCHANGED,
  );
}
