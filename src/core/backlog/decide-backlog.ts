/** Pure decisions about a backlog loop: what an event makes of it, and what has to be done. */
import type { Decision, Effect } from "../event.ts";
import type { JobId } from "../goal/goal.ts";
import { interruptAttempt, waitFor, without } from "./attempt-ends.ts";
import { NOTHING_SPENT } from "./attempt-spent.ts";
import { afterChecks, afterEvaluator, afterGenerator, afterMerge } from "./attempts.ts";
import type { Attempt, Backlog, StoryPlace, ToolVerdict } from "./backlog.ts";
import {
  BACKLOG_UNCHANGED,
  changeBacklog,
  endRun,
  intendAttempt,
  pauseRun,
  type Ready,
  refuseBacklog,
} from "./change.ts";
import type { BacklogEvent } from "./event.ts";
import { adoptStories, nextStory } from "./pick.ts";
import { countsOfStories } from "./stories.ts";
import { addVerdict } from "./verdict.ts";

export type BacklogDecision = Decision<Backlog>;

/** When the owner has to look at it; null: not before something happens to it. */
export function backlogWakeAt(backlog: Backlog): number | null {
  if (backlog.status !== "active") return null;
  if (isGivenUp(backlog)) return 0;
  const isFree = isRoomLeft(backlog) && !backlog.isStopping;
  const isWaiting = nextWaiting(backlog) !== undefined;
  const isOver = backlog.attempts.length === 0;
  if (!isFree && !isWaiting && !isOver) return null;
  // Free, but nothing can be picked before one of the others is settled.
  if (!isWaiting && !isOver && nextStory(backlog) === null) return null;
  return backlog.waitUntil ?? 0;
}

/** Within the limits, another story may be begun. */
function isRoomLeft({ attempts, iteration, spent, terms }: Backlog): boolean {
  const isWithin = iteration < terms.maxIterations && spent.costUsd < terms.budgetUsd;
  return isWithin && attempts.length < terms.parallel;
}

/** Told to stop, with nothing under way but the wait for an agent that failed: nobody waits hours for that. */
function isGivenUp({ attempts, isStopping, waitUntil }: Backlog): boolean {
  return isStopping && waitUntil !== null && attempts.every(({ job }) => job === null);
}

/** The attempt that can go on now: merges go one at a time, each on what the one before has left. */
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
      return withJob(backlog, event.jobId, (attempt, job) =>
        job.phase === "generate"
          ? afterGenerator({ backlog, attempt, job, nonce: event.nextNonce, now }, event.turn)
          : BACKLOG_UNCHANGED,
      );
    case "attempt.checked":
      return withJob(backlog, event.jobId, (attempt, job) =>
        job.phase === "check"
          ? afterChecks({ backlog, attempt, job, nonce: event.nextNonce, now }, event.round)
          : BACKLOG_UNCHANGED,
      );
    case "attempt.judged":
      return withJob(backlog, event.jobId, (attempt, job) => decideJudged(backlog, attempt, job, event.said));
    case "attempt.evaluated":
      return withJob(backlog, event.jobId, (attempt, job) =>
        job.phase === "evaluate"
          ? afterEvaluator({ backlog, attempt, job, nonce: event.nextNonce, now }, event.turn)
          : BACKLOG_UNCHANGED,
      );
    case "attempt.merged":
      return withJob(backlog, event.jobId, (attempt, job) =>
        job.phase === "merge" ? afterMerge({ backlog, attempt, now }, event.merge) : BACKLOG_UNCHANGED,
      );
    case "attempt.interrupted":
      return withJob(backlog, event.jobId, (attempt, job) =>
        interruptAttempt({ backlog, attempt, now }, job.phase, event.reason),
      );
    case "attempt.withdrawn":
      // The agent never saw the prompt: as if it had not been intended.
      return withJob(backlog, event.jobId, (attempt, job) =>
        job.phase === "generate"
          ? changeBacklog(backlog, { attempts: without(backlog, attempt), iteration: backlog.iteration - 1 })
          : changeBacklog(backlog, { attempts: waitFor(backlog, attempt, job.phase) }),
      );
  }
}

/** Nobody but the evaluator of this very turn. */
function decideJudged(
  backlog: Backlog,
  attempt: Attempt,
  job: NonNullable<Attempt["job"]>,
  said: ToolVerdict,
): BacklogDecision {
  if (job.phase !== "evaluate") return refuseBacklog("Only the evaluator of a story gives a verdict.");
  if (said.nonce !== job.nonce || job.nonce === "")
    return refuseBacklog("The nonce is not the one of this turn; the verdict has no weight.");
  const verdicts = addVerdict(job, said);
  const isSame = (verdict: ToolVerdict) => JSON.stringify(verdict) === JSON.stringify(verdicts.at(-1));
  // a call that was repeated says nothing new
  if (job.verdicts?.some(isSame)) return BACKLOG_UNCHANGED;
  return changeBacklog(backlog, { attempts: replace(backlog, { ...attempt, job: { ...job, verdicts } }) });
}

type Paused = Extract<BacklogEvent, { type: "backlog.paused" }>;

/** A job that broke is over whatever the run has come to since: nobody else will settle it. */
function decidePause(backlog: Backlog, { code, reason, jobId }: Paused, now: number): BacklogDecision {
  // Decided on the run as it was before the forgery: whatever it was then, it has to be written once more.
  if (code === "forged")
    return backlog.status === "active" ? pauseRun(backlog, code, reason, now) : changeBacklog(backlog, {});
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
 * A story keeps the place and the base of its first attempt: all of its work is judged, and not only the last part.
 * Where that place could not be had again, the new one is its place.
 */
function begin(
  backlog: Backlog,
  attempt: Attempt,
  job: NonNullable<Attempt["job"]>,
  begun: StoryPlace | null,
): BacklogDecision {
  const isKept = (place: StoryPlace) => place.story === begun?.story && place.worktree === begun.worktree;
  const kept = begun === null || backlog.places.some(isKept);
  const others = backlog.places.filter(({ story }) => story !== begun?.story);
  return changeBacklog(backlog, {
    attempts: replace(backlog, { ...attempt, job, place: begun ?? attempt.place }),
    places: kept ? backlog.places : [...others, begun],
  });
}

type Due = Extract<BacklogEvent, { type: "backlog.due" }>;

/** What comes next. The order is the meaning. */
function decideDue(before: Backlog, { token, nonce, stories, problem }: Due, now: number): BacklogDecision {
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
    const isDone = passed === total || (backlog.terms.only !== null && isPassed(backlog, backlog.terms.only));
    if (isDone) return endRun(backlog, "done", `all ${passed} of ${total} stories have passed`, now);
    return endRun(backlog, "blocked", "what is left is blocked, or waits for what is", now);
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

function isPassed({ stories }: Backlog, id: string): boolean {
  return stories.some((story) => story.id === id && story.passes);
}

/** C12: once, and it ends after what is under way. */
function decideStopping(backlog: Backlog, now: number): BacklogDecision {
  if (backlog.status === "ended") return over(backlog);
  if (backlog.attempts.every(({ job }) => job === null))
    return endRun(backlog, "stopped", "stopped by a person", now);
  return backlog.isStopping ? BACKLOG_UNCHANGED : changeBacklog(backlog, { isStopping: true });
}

type Continued = Extract<BacklogEvent, { type: "backlog.continued" }>;

function decideContinue(backlog: Backlog, event: Continued): BacklogDecision {
  const { iterations, budgetUsd, session = backlog.session } = event;
  if (backlog.status === "ended") return over(backlog);
  const isRaised = iterations > 0 || budgetUsd > 0;
  const isMoved = session !== backlog.session;
  const isHeldUp = backlog.status !== "active" || backlog.waitUntil !== null || backlog.isStopping;
  if (!isRaised && !isMoved && !isHeldUp) return BACKLOG_UNCHANGED;
  const { terms } = backlog;
  return changeBacklog(backlog, {
    // what a person wrote there before they went on; in the middle of an attempt it may be an agent's word
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
  return refuseBacklog(`The run ${id} has ended: ${end?.reason ?? "it is over"}.`);
}

/** Late news of a job that is over change nothing. */
function withJob(
  backlog: Backlog,
  id: JobId,
  decideJob: (attempt: Attempt, job: NonNullable<Attempt["job"]>) => BacklogDecision,
): BacklogDecision {
  const attempt = backlog.attempts.find(({ job }) => job?.id === id);
  return attempt?.job == null ? BACKLOG_UNCHANGED : decideJob(attempt, attempt.job);
}

function replace({ attempts }: Backlog, changed: Attempt): readonly Attempt[] {
  return attempts.map((attempt) => (attempt.story === changed.story ? changed : attempt));
}

export type BacklogEffect = Effect;
