/** Decides what follows a round of checks: the end, one more turn, a question, or a pause. */

import { kindOf } from "../checks/kinds.ts";
import { pricesOf, spend, sum } from "../cost/usage.ts";
import { change } from "../decision.ts";
import { remedyFor } from "../failures.ts";
import { countFree, countRound, earlierFailures } from "./breakers.ts";
import {
  ask,
  askUnsignalled,
  finish,
  type GoalDecision,
  type PauseWish,
  pause,
  proofLines,
} from "./change.ts";
import type { CheckRound, EventOf } from "./event.ts";
import type { Evidence, Goal, Receipt, Step } from "./goal.ts";
import { type Checking, isAtWork, stageOf, unproved } from "./phase.ts";
import {
  endOf,
  fewerTests,
  isNoop,
  isOnlyUnaccepted,
  isProved,
  movesBetween,
  pendingChanges,
  unmetCriteria,
  weigh,
} from "./proof.ts";

type Surveyed = EventOf<"job.surveyed">;

/** Before any work: a criterion that is green already cannot prove the work (B7). */
export function decideSurveyed(goal: Goal, { baseline, round }: Surveyed, now: number): GoalDecision {
  const evidence = weigh(goal, round);
  const green = goal.criteria.map(({ name }) => name).filter((name) => round.evidence[name]?.met === true);
  const surveyed: Goal = {
    ...goal,
    job: null,
    baseline: { ...baseline, green, tests: testsOf(round) },
    evidence: Object.fromEntries(
      Object.entries(evidence).map(([name, found]) => [name, green.includes(name) ? early(found) : found]),
    ),
    tree: round.tree,
    phase: { kind: stageOf(goal.phase) },
    spent: { ...goal.spent, timeMs: goal.spent.timeMs + round.durationMs },
  };
  const stop = goal.status === "active" ? stopOnMustNot(surveyed, round, now) : null;
  return stop ?? change(surveyed, {});
}

function testsOf({ evidence }: CheckRound): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(evidence).flatMap(([name, { tests }]) => (tests === undefined ? [] : [[name, tests]])),
  );
}

function early(found: Evidence): Evidence {
  return found.note === null ? { ...found, note: "green before any work" } : found;
}

export function decideChecked(goal: Goal, checking: Checking, round: CheckRound, now: number): GoalDecision {
  const evidence = weigh(goal, round);
  const moved = movesBetween(goal, goal.evidence, evidence);
  const wasTold = goal.protectedChanges.length > 0;
  const checked: Goal = {
    ...goal,
    job: null,
    evidence,
    tree: round.tree,
    protectedChanges: pendingChanges(goal, round.protectedChanges),
    spent: { ...goal.spent, ...spend(goal.spent, round.usage), timeMs: goal.spent.timeMs + round.durationMs },
    receipts: withRound(goal, round, moved),
  };
  // Paused or ended during the round: the evidence is kept, and a later round decides.
  if (goal.status !== "active") return change(checked, {});
  const isIteration = checking.round === "iteration";
  const isWhole = round.failure === null;
  const counted: Goal =
    isIteration && isWhole
      ? { ...checked, breakers: countRound(goal.breakers, unmetCriteria(checked), moved.length > 0) }
      : checked;
  // Without all judges the round decides nothing, so the turn is not counted yet.
  const phase = isIteration && !isWhole ? checking : unproved(checking);
  return (
    stopOnMustNot({ ...counted, phase }, round, now) ??
    waitForJudge(counted, round, now) ??
    decideProof(counted, { checking, round, wasTold, now })
  );
}

/** A round that is over, and what was known before it. */
interface EndedRound {
  readonly checking: Checking;
  readonly round: CheckRound;
  readonly wasTold: boolean;
  readonly now: number;
}

function decideProof(goal: Goal, ended: EndedRound): GoalDecision {
  if (!isProved(goal)) return decideUnproved(goal, ended);
  const { checking, round, now } = ended;
  if (checking.round === "final") return finish(goal, endOf(goal, unsignalled(goal)), now);
  if (isNoop(goal)) return refuseNoop({ ...goal, phase: unproved(checking) });
  const proved: Goal = { ...goal, phase: { kind: "proved", tree: round.tree } };
  const isWanted = goal.exitSignal || goal.policy.exitOn === "proof";
  const asksPerson = goal.shape === "colleague" && !goal.policy.yes;
  const fewer = fewerTests(goal);
  if (isWanted && !asksPerson && fewer.length === 0) return finish(proved, endOf(goal, []), now);
  const { from } = checking;
  // Proved before the work began: the gates before the work come first.
  if (!isAtWork(from)) return change(goal, { phase: from });
  if (isWanted && fewer.length > 0)
    return ask(proved, "G3", "All criteria met, but fewer tests ran than before any work. Done?", fewer, now);
  if (isWanted) return ask(proved, "G3", "All criteria met. Confirm done?", proofLines(goal), now);
  // B9: proved, but the agent did not signal the end. It gets one more turn on these files to do so.
  if (from.kind !== "proved" || from.tree !== round.tree)
    return change(proved, { remarks: [...goal.remarks, PROVED_UNSIGNALLED] });
  return goal.policy.yes && fewer.length === 0
    ? finish(proved, endOf(goal, unsignalled(goal)), now)
    : askUnsignalled(proved, now);
}

const PROVED_UNSIGNALLED =
  "Every criterion is proved now. If the spec is complete, signal the end. Otherwise say what is missing and do it.";

function decideUnproved(goal: Goal, { checking, round, wasTold, now }: EndedRound): GoalDecision {
  const steps = goal.exitSignal ? reopened(goal.steps) : goal.steps;
  const open: Goal = { ...goal, steps, phase: unproved(checking) };
  const blocked = whyNoTurnHelps(open, round, wasTold);
  if (blocked !== null) return pause(open, blocked, now);
  const paths = pathsOf(goal).slice(0, 10).join(", ");
  const told = `You changed files that the checks depend on: ${paths}. Restore them; only a person can accept the change.`;
  const refusal = `You signalled the end, but these criteria are not proved: ${unmetCriteria(open).join(", ")}.`;
  const remarks = [...goal.remarks, ...(goal.exitSignal ? [refusal] : []), ...(paths === "" ? [] : [told])];
  const asksPerson = checking.round === "iteration" && goal.shape === "colleague" && !goal.policy.yes;
  if (!asksPerson) return change(open, { remarks });
  return ask({ ...open, remarks }, "G2", afterIteration(open), proofLines(open), now);
}

/** Why another turn cannot help, so that the goal pauses; null: it can. */
function whyNoTurnHelps(goal: Goal, round: CheckRound, wasTold: boolean): PauseWish | null {
  const { id } = goal;
  if (round.tampered !== null) {
    const reason = `the record of the protected files was changed: ${round.tampered}`;
    return { code: "integrity", reason, goOn: `loop cancel ${id}` };
  }
  // The agent had one turn to restore the files. Now a person must look.
  const evidence = pathsOf(goal);
  if (evidence.length > 0 && wasTold && isOnlyUnaccepted(goal, round)) {
    const reason = "the checks pass, but files they depend on were changed";
    return { code: "integrity", reason, evidence, goOn: `loop accept ${id}` };
  }
  const assumed = onlyAssumed(goal);
  if (assumed.length === 0) return null;
  const reason = `no check proves ${assumed.join(", ")}, and an assumption blocks the end`;
  const goOn = `loop cancel ${id}, then start it with a check: --check 'name=command'`;
  return { code: "person", reason, goOn };
}

function pathsOf({ protectedChanges }: Goal): readonly string[] {
  return protectedChanges.map(({ path }) => path);
}

function afterIteration({ receipts, steps, iteration }: Goal): string {
  const step = receipts.at(-1)?.step ?? null;
  const isOpen = steps.some(({ name, status }) => name === step && status === "open");
  return step === null || isOpen
    ? `Iteration ${iteration} is over. Continue?`
    : `${step} complete. Continue?`;
}

/** The unmet criteria, if all of them are assumptions. */
function onlyAssumed(goal: Goal): readonly string[] {
  const unmet = unmetCriteria(goal);
  const isAssumed = (name: string) =>
    goal.criteria.some((criterion) => criterion.name === name && kindOf(criterion.check).blocks !== null);
  return unmet.every(isAssumed) ? unmet : [];
}

/** The agent claimed the end without proof, so its last step is open again. */
function reopened(steps: readonly Step[]): readonly Step[] {
  if (steps.some(({ status }) => status === "open")) return steps;
  const last = steps.findLastIndex(({ status }) => status === "done");
  return steps.map((step, index) => (index === last ? { ...step, status: "open" } : step));
}

function refuseNoop(goal: Goal): GoalDecision {
  return change(goal, {
    exitSignal: false,
    breakers: { ...goal.breakers, noopCount: goal.breakers.noopCount + 1 },
    remarks: [
      ...goal.remarks,
      "The end was refused: since the start no file changed, no tool was used and no check result changed. The checks passed before any work, so they prove nothing. Do what the spec asks for.",
    ],
  });
}

function stopOnMustNot(goal: Goal, round: CheckRound, now: number): GoalDecision | null {
  if (round.mustNot.length === 0) return null;
  const names = round.mustNot.map(({ name }) => name);
  const evidence = round.mustNot.map(({ name, tail }) => `${name}: ${tail.trim().split("\n").at(-1) ?? ""}`);
  const reason = `a must-not condition is true: ${names.join(", ")}`;
  return pause(goal, { code: "must-not", reason, evidence }, now);
}

/** A judge did not answer: the round runs again, and this costs no turn. */
function waitForJudge(goal: Goal, { failure }: CheckRound, now: number): GoalDecision | null {
  if (failure === null) return null;
  const again: Goal = { ...goal, breakers: countFree(goal.breakers, failure) };
  const remedy = remedyFor(failure, earlierFailures(goal.breakers, failure), 0, now);
  if (remedy.kind === "pause") return pause(again, remedy, now);
  const until = remedy.kind === "wait" ? remedy.until : now;
  return change(again, { waitUntil: until, waitReason: `the judge did not answer: ${failure.reason}` });
}

function unsignalled({ exitSignal, policy }: Goal): readonly string[] {
  return exitSignal
    ? []
    : [`the agent never signalled the end${policy.yes ? "" : "; a person confirmed it"}`];
}

/** The receipt of a turn includes the cost of its judges. */
function withRound({ receipts }: Goal, round: CheckRound, moved: readonly string[]): readonly Receipt[] {
  const last = receipts.at(-1);
  if (last === undefined) return receipts;
  const updated: Receipt = {
    ...last,
    checksMs: last.checksMs + round.durationMs,
    moved: [...last.moved, ...moved],
    costUsd: sum(last.costUsd, round.usage?.costUsd ?? null),
    inputTokens: sum(last.inputTokens, round.usage?.inputTokens ?? null),
    outputTokens: sum(last.outputTokens, round.usage?.outputTokens ?? null),
    ...pricesOf(round.usage),
    notes: [...last.notes, ...round.notes],
    checkpoint: round.checkpoint ?? last.checkpoint,
  };
  return [...receipts.slice(0, -1), updated];
}
