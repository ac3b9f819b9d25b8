/**
 * What follows each part of an attempt: the generator's turn, a round of checks, the evaluator's turn and the merge.
 * Each leads to the next part or to the end of the attempt (`attempt-ends.ts`).
 */
import { foundByOf } from "../base.ts";
import { addSpent, addUsage } from "../cost/usage.ts";
import { backOff, type Ending, endByFailure, pass, reject, waitFor } from "./attempt-ends.ts";
import type { Attempt, AttemptJob, AttemptPhase, Backlog } from "./backlog.ts";
import { type BacklogDecision, changeBacklog, intendAttempt, pauseRun, without } from "./change.ts";
import type { EvaluatorRecord, GeneratorRecord, MergeRecord, StoryRound } from "./event.ts";
import { isLook, isTouched, takeBack, whyUnmet } from "./prd/broken-stories.ts";

/** A part of an attempt that has ended, and the nonce of the next. */
export interface EndedPart extends Ending {
  readonly job: AttemptJob;
  readonly nonce: string;
}

export function afterGenerator(part: EndedPart, turn: GeneratorRecord): BacklogDecision {
  const { attempt, backlog } = part;
  const { diff } = turn;
  const done = { ...part, attempt: { ...afterTurn(attempt, turn), diff } };
  if (turn.failure !== null) return endByFailure(done, turn.failure);
  if (diff === null || (turn.isSilent && diff.filesChanged === 0))
    return backOff(done, {
      failure: null,
      reason: "the generator neither said nor changed anything",
      again: null,
    });
  const isLeft = isTouched(done.attempt);
  if (diff.isRewritten) return reject(done, "commits from before the attempt were rewritten", isLeft);
  if (turn.overScope !== null) return reject(done, turn.overScope, isLeft);
  if (diff.filesChanged === 0 && diff.tree === diff.treeBefore && backlog.terms.mode !== "explore")
    return reject(done, "no file was changed");
  return goOn(done, "check");
}

export function afterChecks(part: EndedPart, round: StoryRound): BacklogDecision {
  const { backlog, attempt, now } = part;
  const spent = { ...attempt.spent, timeMs: attempt.spent.timeMs + round.durationMs };
  const checked: Attempt = { ...attempt, spent, evidence: round.evidence, checkedTree: round.tree };
  const done = { ...part, attempt: checked };
  if (isLook(attempt))
    return changeBacklog(backlog, {
      ...takeBack(backlog, checked, now),
      attempts: without(backlog, attempt),
      spent: addSpent(backlog.spent, spent),
    });
  const reason = whyRed(round);
  if (reason !== null) return reject(done, reason);
  const { skipEval } = backlog.terms;
  if (skipEval && Object.keys(round.evidence).length === 0)
    return reject(done, "nothing proves it: the story has no check, and the evaluator is off");
  const isJudged = attempt.verdict?.kind === "pass" || skipEval;
  return isJudged ? passOrMerge(done) : goOn(done, "evaluate");
}

export function afterEvaluator(part: EndedPart, turn: EvaluatorRecord): BacklogDecision {
  const { attempt } = part;
  const { verdict, failure, tree } = turn;
  const spent = afterTurn(attempt, turn);
  if (failure !== null)
    return endByFailure({ ...part, attempt: { ...spent, verdict: null } }, failure, "evaluate");
  const done = { ...part, attempt: { ...spent, verdict } };
  const isLeft = tree !== attempt.checkedTree;
  if (verdict.kind !== "pass") return reject(done, verdict.reason ?? "the evaluator gave no verdict", isLeft);
  // An evaluator that ran the code may have left files. Then the evidence is of other files.
  return isLeft ? goOn(done, "check") : passOrMerge(done);
}

export function afterMerge(ending: Ending, merge: MergeRecord): BacklogDecision {
  const { backlog, attempt, now } = ending;
  switch (merge.kind) {
    case "merged":
    case "red": {
      const proved = { ...ending, attempt: { ...attempt, evidence: merge.round.evidence } };
      const red = whyRed(merge.round) ?? whyUnproved(attempt, merge.round);
      // After a crash the merge may be done already. The checks still have to pass on it.
      if (merge.kind === "merged" && red === null) return pass(proved);
      const reason = `together with earlier merges: ${red ?? "a check failed"}${catchUp(backlog)}`;
      return reject(proved, reason);
    }
    case "conflict": {
      const files = merge.files.join(", ");
      return reject(ending, `conflicts with earlier merges: ${files}${catchUp(backlog)}`);
    }
    case "impossible": {
      const waiting = { ...backlog, attempts: waitFor(backlog, attempt, "merge") };
      return pauseRun(waiting, "surroundings", merge.reason, now);
    }
  }
}

/** Adds the cost of a turn. */
function afterTurn(attempt: Attempt, turn: GeneratorRecord | EvaluatorRecord): Attempt {
  const { takenBy = [] } = attempt;
  const isOther = turn.takenBy !== undefined && !takenBy.includes(turn.takenBy);
  return {
    ...attempt,
    spent: addUsage(attempt.spent, turn.usage, turn.durationMs),
    outputTokens: attempt.outputTokens + (turn.usage?.outputTokens ?? 0),
    ...(isOther ? { takenBy: [...takenBy, turn.takenBy] } : {}),
    ...foundByOf(attempt.job?.process ?? null),
  };
}

function goOn({ backlog, attempt, job, nonce, now }: EndedPart, next: AttemptPhase): BacklogDecision {
  return intendAttempt(backlog, attempt, next, { token: job.token, nonce, now });
}

function passOrMerge(part: EndedPart): BacklogDecision {
  const { backlog, attempt } = part;
  if (attempt.place?.worktree == null) return pass(part);
  // One merge at a time: each is proved on the result of the others.
  const isBusy = backlog.attempts.some(
    (other) => other.story !== attempt.story && other.job?.phase === "merge",
  );
  return isBusy
    ? changeBacklog(backlog, { attempts: waitFor(backlog, attempt, "merge") })
    : goOn(part, "merge");
}

/** The next attempt works in the same worktree, and has to merge the target branch first. */
function catchUp({ terms }: Backlog): string {
  return terms.target === null ? "" : `; first merge ${terms.target} into your branch`;
}

/** Why a round of checks proves nothing, in one line; null: everything is proved. */
export function whyRed({ evidence, unstable }: StoryRound): string | null {
  const unmet = whyUnmet(evidence);
  if (unmet !== null) return unmet;
  if (unstable.length > 0) return `the checks change files each time: ${unstable.slice(0, 3).join(", ")}`;
  return null;
}

/** Every check that passed before the merge has to run after it. */
function whyUnproved({ evidence }: Attempt, round: StoryRound): string | null {
  const name = Object.keys(evidence).find((each) => !(each in round.evidence));
  return name === undefined ? null : `${name} was not run`;
}
