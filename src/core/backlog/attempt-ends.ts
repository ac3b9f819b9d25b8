/** How an attempt at a story ends: passed, rejected, failed or interrupted. */
import { addSpent } from "../cost/usage.ts";
import { remedyFor } from "../failures.ts";
import type { Failure } from "../goal/goal.ts";
import { cleanLine } from "../text/clean.ts";
import type { Attempt, AttemptPhase, Backlog, StoryReceipt } from "./backlog.ts";
import {
  type BacklogDecision,
  backlogNotice,
  changeBacklog,
  pauseRun,
  replaceAttempt,
  without,
} from "./change.ts";
import { isTouched, lookAfter, takeBack } from "./prd/broken-stories.ts";
import { storyTokens } from "./prd/depth.ts";
import { withNote } from "./prd/registry.ts";
import type { Story } from "./stories.ts";
import { hideHoldouts } from "./verdict.ts";

/** After so many failed turns in a row a person must look. */
const PATIENCE = 5;
const BACKOFF_MS = 5_000;
const LONGEST_BACKOFF_MS = 10 * 60_000;
/** How many failing checks are kept for the next attempt. */
const MOST_FAILING = 5;

export interface Ending {
  readonly backlog: Backlog;
  readonly attempt: Attempt;
  readonly now: number;
}

export function pass(ending: Ending): BacklogDecision {
  const update = (story: Story): Story => ({ ...story, passes: true, blocked: false });
  const { backlog, attempt } = ending;
  return changeBacklog(backlog, {
    ...judged(ending, "passed", null, update),
    places: backlog.places.filter(({ story }) => story !== attempt.story),
  });
}

/**
 * C7: the rejection counts, its reason leads the next prompt, and at the limit the story is blocked. `isLeft`: the
 * files changed after the evidence was taken.
 */
export function reject(ending: Ending, reason: string, isLeft = false): BacklogDecision {
  const { backlog, attempt, now } = ending;
  const { holdouts = [] } = backlog.stories.find(({ id }) => id === attempt.story) ?? {};
  // The generator reads the reason, and must not learn hidden criteria from it (C15).
  const told = hideHoldouts(reason, holdouts);
  const rejected = {
    ...backlog,
    ...judged(ending, "rejected", told, (story) => sendBack(ending, story, told)),
  };
  const others = isLeft ? { attempts: lookAfter(backlog, attempt) } : takeBack(rejected, attempt, now);
  const isBlocked = rejected.stories.some(({ id, blocked }) => id === attempt.story && blocked);
  // A paused run has told its reason already.
  const isTold = isBlocked && rejected.status === "active";
  const text = `${attempt.story} needs human review: ${cleanLine(told)}. Try it again: loop backlog unblock ${attempt.story}`;
  return changeBacklog(
    rejected,
    others,
    isTold ? [backlogNotice(backlog, "blocked", "has a blocked story", text)] : [],
  );
}

/** Adds a rejection. Blocks the story at the limit of rejections or tokens. */
function sendBack({ backlog, attempt }: Ending, story: Story, reason: string): Story {
  const rejections = story.rejections + 1;
  const notes = withNote(story.notes, "REJECTED", reason);
  const before = storyTokens(story, backlog);
  const used = before.used + attempt.outputTokens;
  const isLast = rejections >= backlog.terms.evalRetries;
  if (!isLast && used < before.limit) return { ...story, rejections, notes };
  const why = isLast
    ? `rejected ${rejections} times, needs human review`
    : `its ${before.limit} tokens are used up (${used}), needs human review`;
  return { ...story, rejections, blocked: true, notes: withNote(notes, "BLOCKED", why) };
}

function judged(
  ending: Ending,
  outcome: "passed" | "rejected",
  reason: string | null,
  update: (story: Story) => Story,
): Pick<Backlog, "stories" | "attempts" | "receipts" | "spent" | "freeFailures"> {
  const { backlog, attempt } = ending;
  return {
    ...settled(ending, outcome, reason),
    stories: backlog.stories.map((story) => (story.id === attempt.story ? update(story) : story)),
    freeFailures: 0,
  };
}

/** The attempt is over: it has a receipt, and its cost counts. */
function settled(
  { backlog, attempt, now }: Ending,
  outcome: StoryReceipt["outcome"],
  reason: string | null,
  failure: Failure | null = null,
): Pick<Backlog, "attempts" | "receipts" | "spent"> {
  return {
    attempts: without(backlog, attempt),
    receipts: [...backlog.receipts, receiptOf(attempt, outcome, reason, failure, now)],
    spent: addSpent(backlog.spent, attempt.spent),
  };
}

/** C11: the failure of an agent does not count against the story. `again`: the part to repeat; null: everything. */
export function endByFailure(
  ending: Ending,
  failure: Failure,
  again: AttemptPhase | null = null,
): BacklogDecision {
  const { backlog, now } = ending;
  const failed = { failure, reason: failure.reason, again };
  const remedy = remedyFor(failure, backlog.freeFailures, spreadOf(backlog), now);
  // A failure of the environment costs no iteration.
  const iteration = backlog.iteration - (again === null ? 1 : 0);
  const folded = { ...fold(ending, failed), iteration };
  if (remedy.kind === "pause") return pauseRun(folded, remedy.code, remedy.reason, now);
  if (remedy.kind === "wait") {
    const freeFailures = backlog.freeFailures + 1;
    return changeBacklog(folded, { freeFailures, waitUntil: remedy.until, waitReason: remedy.reason });
  }
  return backOff(ending, failed);
}

interface Failed {
  /** null: the agent ended normally and did nothing. */
  readonly failure: Failure | null;
  readonly reason: string;
  readonly again: AttemptPhase | null;
}

/** Waits, and longer each time. After some failures in a row the run pauses. */
export function backOff(ending: Ending, failed: Failed): BacklogDecision {
  const { backlog, now } = ending;
  const { reason } = failed;
  const freeFailures = backlog.freeFailures + 1;
  const folded = { ...fold(ending, failed), freeFailures };
  if (freeFailures >= PATIENCE)
    return pauseRun(folded, "failures", `${freeFailures} turns in a row failed; the last: ${reason}`, now);
  const waitMs = Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** (freeFailures - 1));
  return changeBacklog(folded, { waitUntil: now + waitMs, waitReason: reason });
}

function fold(ending: Ending, { failure, reason, again }: Failed): Backlog {
  const { backlog, attempt } = ending;
  if (again !== null) return { ...backlog, attempts: waitFor(backlog, attempt, again) };
  const ended = { ...backlog, ...settled(ending, "failed", reason, failure) };
  return isTouched(attempt) ? { ...ended, attempts: lookAfter(backlog, attempt) } : ended;
}

/** An interrupted generator ends the attempt; an evaluation or a round of checks is repeated. */
export function interruptAttempt(ending: Ending, phase: AttemptPhase, reason: string): BacklogDecision {
  const { backlog, attempt } = ending;
  if (phase !== "generate") return changeBacklog(backlog, { attempts: waitFor(backlog, attempt, phase) });
  return changeBacklog(backlog, settled(ending, "interrupted", reason));
}

function receiptOf(
  attempt: Attempt,
  outcome: StoryReceipt["outcome"],
  reason: string | null,
  failure: Failure | null,
  now: number,
): StoryReceipt {
  const { story, iteration, spent, outputTokens, diff, takenBy, foundBy } = attempt;
  const red = Object.entries(attempt.evidence).filter(([, { met }]) => !met);
  return {
    story,
    iteration,
    outcome,
    reason,
    failure,
    at: now,
    spent,
    outputTokens,
    filesChanged: diff?.filesChanged ?? 0,
    failing: Object.fromEntries(red.slice(0, MOST_FAILING)),
    ...(takenBy === undefined ? {} : { takenBy }),
    ...(foundBy === undefined ? {} : { foundBy }),
  };
}

/** The attempt waits for its next part. */
export function waitFor(backlog: Backlog, waiting: Attempt, next: AttemptPhase): readonly Attempt[] {
  return replaceAttempt(backlog, { ...waiting, next, job: null });
}

/** From 0 to 1, derived from the state: runs that fail together do not all retry together. */
function spreadOf({ id, jobs }: Backlog): number {
  return ((Number.parseInt(id.slice(0, 4), 16) + jobs * 7919) % 1000) / 1000;
}
