/** What the end of each part of an attempt means for its story. */
import { remedyFor } from "../failures.ts";
import type { Failure } from "../goal/goal.ts";
import { cleanLine } from "../text/clean.ts";
import { addSpent, addUsage, outputOf, takersOf } from "./attempt-spent.ts";
import type { Attempt, AttemptJob, Backlog, StoryReceipt } from "./backlog.ts";
import { type BacklogDecision, backlogNotice, change, intend, pauseRun } from "./change.ts";
import type { EvaluatorRecord, GeneratorRecord, MergeRecord, StoryRound } from "./event.ts";
import { isLook, isTouched, lookAfter, takeBack, whyUnmet } from "./prd/broken-stories.ts";
import { storyTokens } from "./prd/depth.ts";
import { withNote } from "./prd/registry.ts";
import type { Story } from "./stories.ts";
import { hideHoldouts } from "./verdict.ts";

/** Turns in a row that came to nothing before somebody has to look. */
const PATIENCE = 5;
const BACKOFF_MS = 5_000;
/** Of the checks that were red, so many are kept for the next attempt. */
const MOST_FAILING = 5;
const LONGEST_BACKOFF_MS = 10 * 60_000;

export function afterGenerator(
  backlog: Backlog,
  attempt: Attempt,
  job: AttemptJob,
  turn: GeneratorRecord,
  nonce: string,
  now: number,
): BacklogDecision {
  const spent = addUsage(attempt.spent, turn.usage, turn.durationMs);
  const done: Attempt = {
    ...attempt,
    spent,
    outputTokens: outputOf(attempt, turn),
    diff: turn.diff,
    ...takersOf(attempt, turn),
  };
  if (turn.failure !== null) return afterFailure(backlog, done, turn.failure, now);
  const { diff } = turn;
  if (diff === null || (turn.isSilent && diff.filesChanged === 0))
    return fail(backlog, done, null, "the generator said and did nothing", now);
  const isLeft = isTouched(done);
  if (diff.isRewritten)
    return reject(backlog, done, "commits from before the attempt were rewritten", now, isLeft);
  if (turn.overScope !== null) return reject(backlog, done, turn.overScope, now, isLeft);
  if (diff.filesChanged === 0 && diff.tree === diff.treeBefore && backlog.terms.mode !== "explore")
    return reject(backlog, done, "nothing was changed", now);
  return intend(backlog, done, "check", { token: job.token, nonce, now });
}

export function afterChecks(
  backlog: Backlog,
  attempt: Attempt,
  job: AttemptJob,
  round: StoryRound,
  nonce: string,
  now: number,
): BacklogDecision {
  const spent = { ...attempt.spent, timeMs: attempt.spent.timeMs + round.durationMs };
  const checked: Attempt = { ...attempt, spent, evidence: round.evidence, checkedTree: round.tree };
  if (isLook(attempt))
    return change(backlog, {
      ...takeBack(backlog, checked, now),
      attempts: without(backlog, attempt),
      spent: addSpent(backlog.spent, spent),
    });
  const reason = whyRed(round);
  if (reason !== null) return reject(backlog, checked, reason, now);
  const { skipEval } = backlog.terms;
  if (skipEval && Object.keys(round.evidence).length === 0)
    return reject(backlog, checked, "nothing proves it: it has no check, and no evaluator looks", now);
  const isJudged = attempt.verdict?.kind === "pass" || skipEval;
  if (!isJudged) return intend(backlog, checked, "evaluate", { token: job.token, nonce, now });
  return passOrMerge(backlog, checked, job, nonce, now);
}

export function afterEvaluator(
  backlog: Backlog,
  attempt: Attempt,
  job: AttemptJob,
  turn: EvaluatorRecord,
  nonce: string,
  now: number,
): BacklogDecision {
  const spent = addUsage(attempt.spent, turn.usage, turn.durationMs);
  const judged: Attempt = {
    ...attempt,
    spent,
    outputTokens: outputOf(attempt, turn),
    verdict: turn.verdict,
    ...takersOf(attempt, turn),
  };
  if (turn.failure !== null)
    return afterFailure(backlog, { ...judged, verdict: null }, turn.failure, now, "evaluate");
  const isLeft = turn.tree !== attempt.checkedTree;
  if (turn.verdict.kind !== "pass")
    return reject(backlog, judged, turn.verdict.reason ?? "the evaluator gave no verdict", now, isLeft);
  // A judge that ran the code may have left something: what was proved is not what is there now.
  if (isLeft) return intend(backlog, judged, "check", { token: job.token, nonce, now });
  return passOrMerge(backlog, judged, job, nonce, now);
}

export function afterMerge(
  backlog: Backlog,
  attempt: Attempt,
  merge: MergeRecord,
  now: number,
): BacklogDecision {
  switch (merge.kind) {
    case "merged":
    case "red": {
      const proved = { ...attempt, evidence: merge.round.evidence };
      const red = whyRed(merge.round) ?? whyUnproved(attempt, merge.round);
      // merged before a crash, and looked at again after it: that it is in is no proof
      if (merge.kind === "merged" && red === null) return pass(backlog, proved, now);
      const reason = `together with what was merged before: ${red ?? "a check is red"}${catchUp(backlog)}`;
      return reject(backlog, proved, reason, now);
    }
    case "conflict":
      return reject(
        backlog,
        attempt,
        `it conflicts with what was merged before: ${merge.files.join(", ")}${catchUp(backlog)}`,
        now,
      );
    case "impossible":
      return pauseRun(
        { ...backlog, attempts: waitFor(backlog, { ...attempt, next: "merge" }) },
        "surroundings",
        merge.reason,
        now,
      );
  }
}

/** The next attempt works in the same worktree: it has to take in what it did not go together with. */
function catchUp({ terms }: Backlog): string {
  return terms.target === null ? "" : `; first of all merge ${terms.target} into your branch`;
}

/** A generator's turn that was cut short is over; a judge's and a round of checks are simply taken again. */
export function settleInterrupted(
  backlog: Backlog,
  attempt: Attempt,
  job: AttemptJob,
  reason: string,
  now: number,
): BacklogDecision {
  if (job.phase !== "generate")
    return change(backlog, { attempts: waitFor(backlog, { ...attempt, next: job.phase }) });
  return change(backlog, {
    attempts: without(backlog, attempt),
    receipts: [...backlog.receipts, receiptOf(attempt, "interrupted", reason, null, now)],
    spent: addSpent(backlog.spent, attempt.spent),
  });
}

function passOrMerge(
  backlog: Backlog,
  attempt: Attempt,
  job: AttemptJob,
  nonce: string,
  now: number,
): BacklogDecision {
  if (attempt.place?.worktree == null) return pass(backlog, attempt, now);
  // One at a time: each is proved on what the others have left.
  const isBusy = backlog.attempts.some(
    (other) => other.story !== attempt.story && other.job?.phase === "merge",
  );
  if (isBusy) return change(backlog, { attempts: waitFor(backlog, { ...attempt, next: "merge" }) });
  return intend(backlog, attempt, "merge", { token: job.token, nonce, now });
}

function pass(backlog: Backlog, attempt: Attempt, now: number): BacklogDecision {
  return settle(
    backlog,
    attempt,
    (story) => ({ ...story, passes: true, blocked: false }),
    "passed",
    null,
    now,
  );
}

/**
 * C7: it counts, the reason leads the next prompt, and at the limit a person has to look. `isLeft`: the files are not
 * those that the evidence is of.
 */
function reject(
  backlog: Backlog,
  attempt: Attempt,
  reason: string,
  now: number,
  isLeft = false,
): BacklogDecision {
  const { evalRetries } = backlog.terms;
  const update = (story: Story): Story => {
    const rejections = story.rejections + 1;
    // what only the evaluator may know must not reach the generator by its reasons (C15)
    const noted = withNote(story.notes, "REJECTED", hideHoldouts(reason, story.holdouts));
    const { used, limit, state } = storyTokens(story, {
      receipts: [...backlog.receipts, receiptOf(attempt, "rejected", reason, null, now)],
    });
    if (rejections < evalRetries && state !== "exhausted") return { ...story, rejections, notes: noted };
    const why =
      rejections < evalRetries
        ? `its ${limit} tokens are used up (${used}), needs human review`
        : `rejected ${rejections} times, needs human review`;
    return { ...story, rejections, blocked: true, notes: withNote(noted, "BLOCKED", why) };
  };
  const { holdouts = [] } = backlog.stories.find(({ id }) => id === attempt.story) ?? {};
  const why = hideHoldouts(reason, holdouts);
  const settled = settle(backlog, attempt, update, "rejected", why, now);
  if (settled.kind !== "change") return settled;
  const { loop } = settled;
  const rest = isLeft ? { attempts: lookAfter(backlog, attempt) } : takeBack(loop, attempt, now);
  const isBlocked = loop.stories.some(({ id, blocked }) => id === attempt.story && blocked);
  // of a run that stands still, the reason for that was told
  const isTold = isBlocked && loop.status === "active";
  const effects = isTold ? [backlogNotice(loop, "has a blocked story", blockedText(attempt.story, why))] : [];
  return { ...settled, effects, loop: { ...loop, ...rest } };
}

function blockedText(story: string, reason: string): string {
  return `${story} needs human review: ${cleanLine(reason)}. Take it up again with: loop backlog unblock ${story}`;
}

function settle(
  backlog: Backlog,
  attempt: Attempt,
  update: (story: Story) => Story,
  outcome: "passed" | "rejected",
  reason: string | null,
  now: number,
): BacklogDecision {
  return change(backlog, {
    stories: backlog.stories.map((story) => (story.id === attempt.story ? update(story) : story)),
    attempts: without(backlog, attempt),
    places:
      outcome === "passed" ? backlog.places.filter(({ story }) => story !== attempt.story) : backlog.places,
    receipts: [...backlog.receipts, receiptOf(attempt, outcome, reason, null, now)],
    spent: addSpent(backlog.spent, attempt.spent),
    freeFailures: 0,
  });
}

/** C11: not the story's fault, whatever it was. `again`: the part that is taken again; left out: all of the attempt. */
function afterFailure(
  backlog: Backlog,
  attempt: Attempt,
  failure: Failure,
  now: number,
  again: "evaluate" | null = null,
): BacklogDecision {
  const remedy = remedyFor(failure, backlog.freeFailures, spreadOf(backlog), now);
  // What is not the agent's own doing costs no iteration.
  const iteration = backlog.iteration - (again === null ? 1 : 0);
  const folded = { ...fold(backlog, attempt, failure, again, now), iteration };
  if (remedy.kind === "pause") return pauseRun(folded, remedy.code, remedy.reason, now);
  if (remedy.kind === "wait") {
    return change(folded, {
      freeFailures: backlog.freeFailures + 1,
      waitUntil: remedy.until,
      waitReason: remedy.reason,
    });
  }
  return fail(backlog, attempt, failure, failure.reason, now, again);
}

/** A warning with backoff, not the end; after some of them in a row somebody has to look. */
function fail(
  backlog: Backlog,
  attempt: Attempt,
  failure: Failure | null,
  reason: string,
  now: number,
  again: "evaluate" | null = null,
): BacklogDecision {
  const freeFailures = backlog.freeFailures + 1;
  const folded = { ...fold(backlog, attempt, failure, again, now, reason), freeFailures };
  if (freeFailures >= PATIENCE)
    return pauseRun(folded, "failures", `${freeFailures} turns in a row failed; the last: ${reason}`, now);
  const waitMs = Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** (freeFailures - 1));
  return change(folded, { waitUntil: now + waitMs, waitReason: reason });
}

function fold(
  backlog: Backlog,
  attempt: Attempt,
  failure: Failure | null,
  again: "evaluate" | null,
  now: number,
  reason: string | null = failure?.reason ?? null,
): Backlog {
  if (again !== null) return { ...backlog, attempts: waitFor(backlog, { ...attempt, next: again }) };
  return {
    ...backlog,
    attempts: isTouched(attempt) ? lookAfter(backlog, attempt) : without(backlog, attempt),
    receipts: [...backlog.receipts, receiptOf(attempt, "failed", reason, failure, now)],
    spent: addSpent(backlog.spent, attempt.spent),
  };
}

/** What is red, in one line; null: everything is proved on files that stand still. */
export function whyRed({ evidence, unstable }: StoryRound): string | null {
  const unmet = whyUnmet(evidence);
  if (unmet !== null) return unmet;
  if (unstable.length > 0) return `the checks change files each time: ${unstable.slice(0, 3).join(", ")}`;
  return null;
}

/** What was proved before the merge has to be proved after it. */
function whyUnproved({ evidence }: Attempt, round: StoryRound): string | null {
  const name = Object.keys(evidence).find((each) => !(each in round.evidence));
  return name === undefined ? null : `${name} was not run`;
}

function receiptOf(
  attempt: Attempt,
  outcome: StoryReceipt["outcome"],
  reason: string | null,
  failure: Failure | null,
  now: number,
): StoryReceipt {
  const { story, iteration, spent, diff } = attempt;
  const red = Object.entries(attempt.evidence).filter(([, { met }]) => !met);
  return {
    story,
    iteration,
    outcome,
    reason,
    failure,
    at: now,
    spent,
    outputTokens: attempt.outputTokens,
    filesChanged: diff?.filesChanged ?? 0,
    failing: Object.fromEntries(red.slice(0, MOST_FAILING)),
    ...(attempt.takenBy === undefined ? {} : { takenBy: attempt.takenBy }),
  };
}

function waitFor({ attempts }: Backlog, waiting: Attempt): readonly Attempt[] {
  return attempts.map((each) => (each.story === waiting.story ? { ...waiting, job: null } : each));
}

function without({ attempts }: Backlog, gone: Attempt): readonly Attempt[] {
  return attempts.filter(({ story }) => story !== gone.story);
}

/** Between 0 and 1, and the same for the same state: many that fail together do not come back together. */
function spreadOf({ id, jobs }: Backlog): number {
  return ((Number.parseInt(id.slice(0, 4), 16) + jobs * 7919) % 1000) / 1000;
}
