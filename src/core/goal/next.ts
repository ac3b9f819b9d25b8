/** What a goal does next, when nothing is under way: it follows from its phase. */
import { renderCheck } from "../checks/kinds.ts";
import { limitReached, nearLimits } from "../cost/limits.ts";
import { trippedBreaker } from "./breakers.ts";
import { ask, changeGoal, GOAL_UNCHANGED, type GoalDecision, intendJob, notice, pause } from "./change.ts";
import type { GoalEvent } from "./event.ts";
import { answerGate } from "./gates.ts";
import type { Goal } from "./goal.ts";
import { confirm } from "./phase.ts";
import { askUnsignalled } from "./unsignalled.ts";

/** When the owner has to look at it; null: not before something happens to it. */
export function goalWakeAt(goal: Goal): number | null {
  if (goal.status !== "active" || goal.job !== null) return null;
  if (goal.gate !== null) return goal.gate.answerBy;
  // At once, also when the clock was set back to before it was created.
  return goal.waitUntil ?? 0;
}

type Due = Extract<GoalEvent, { type: "goal.due" }>;

export function decideNext(goal: Goal, { token, nonce }: Due, now: number): GoalDecision {
  const at = goalWakeAt(goal);
  if (at === null || at > now) return GOAL_UNCHANGED;
  const { gate, policy } = goal;
  if (gate !== null)
    return answerGate(goal, gate, { answer: policy.gateDefault, note: null, by: "nobody" }, now);
  const ready = { token, nonce, now };
  switch (goal.phase.kind) {
    case "survey":
      return intendJob(goal, "survey", ready);
    case "checking":
      return intendJob(goal, "checks", ready);
    case "planning":
      return stopBeforeTurn(goal, now) ?? intendJob(goal, "plan", ready);
    case "approval":
      return stopBeforeTurn(goal, now) ?? askForPlan(goal, now);
    case "pre-check":
      return stopBeforeTurn(goal, now) ?? intendJob(goal, "precheck", ready);
    case "working":
    // Proved, and the agent did not signal the end: it is told so, and has this turn to do it.
    case "proved":
      return stopBeforeTurn(goal, now) ?? intendJob(goal, "work", ready);
  }
}

/** A breaker or a limit stops a turn before it is paid for; a person is warned of a limit that is near. */
function stopBeforeTurn(goal: Goal, now: number): GoalDecision | null {
  const tripped = trippedBreaker(goal);
  if (tripped !== null) return pause(goal, { code: "breaker", ...tripped }, now);
  const reached = limitReached(goal);
  if (reached !== null && goal.phase.kind === "proved") return endWithoutTurn(goal, now);
  if (reached !== null)
    return pause(
      goal,
      { code: reached.code, reason: reached.reason, goOn: `loop continue ${goal.id} ${reached.flag}` },
      now,
    );
  const near = nearLimits(goal);
  if (near.length === 0) return null;
  return changeGoal(goal, { warned: [...goal.warned, ...near.map(({ name }) => name)] }, [
    notice(goal, "near-limit", "nears a limit", `${near.map(({ text }) => text).join(", ")} used.`),
  ]);
}

/** No turn is left for the agent's signal: the person's word stands in for it (B9). */
function endWithoutTurn(goal: Goal, now: number): GoalDecision {
  return goal.policy.yes ? changeGoal(goal, { phase: confirm(goal.phase) }) : askUnsignalled(goal, now);
}

function askForPlan(goal: Goal, now: number): GoalDecision {
  const checks = [...goal.criteria, ...goal.proposed];
  if (checks.length === 0)
    return pause(
      goal,
      {
        code: "person",
        reason: "there is no criterion, so nothing could prove the end",
        goOn: `loop cancel ${goal.id}, then: loop until --check 'name=command' …`,
      },
      now,
    );
  const count = goal.steps.length;
  const question = count > 1 ? `Decomposed into ${count} steps. Proceed?` : "This is one step. Proceed?";
  const details = [
    ...goal.steps.map(({ name }, index) => `${index + 1}. ${name}`),
    ...goal.criteria.map((criterion) => `check ${renderCheck(criterion)}`),
    ...goal.proposed.map((criterion) => `check proposed by the agent: ${renderCheck(criterion)}`),
    ...(goal.baseline?.green ?? []).map((name) => `${name} is green already, before any work`),
    ...changedWhilePlanning(goal).map((path) => `changed while it planned: ${path}`),
  ];
  return ask(goal, "G1", question, details, now);
}

/** A plan changes nothing. What was changed all the same has to be seen before it is part of the start. */
function changedWhilePlanning({ receipts }: Goal): readonly string[] {
  return receipts.flatMap(({ kind, files }) => (kind === "plan" ? files : []));
}
