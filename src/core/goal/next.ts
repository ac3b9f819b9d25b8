/** Decides what a goal does next when no job is running. The phase of the goal decides. */

import { renderCheck } from "../checks/kinds.ts";
import { limitReached, nearLimits } from "../cost/limits.ts";
import { change, UNCHANGED } from "../decision.ts";
import { trippedBreaker } from "./breakers.ts";
import { ask, askUnsignalled, type GoalDecision, intendJob, notice, pause } from "./change.ts";
import type { EventOf } from "./event.ts";
import { answerGate } from "./gates.ts";
import type { Goal } from "./goal.ts";
import { confirm } from "./phase.ts";

/** When the goal is due; null: only after another event. */
export function goalWakeAt(goal: Goal): number | null {
  if (goal.status !== "active" || goal.job !== null) return null;
  if (goal.gate !== null) return goal.gate.answerBy;
  // 0 is due at once, even when the clock was set back.
  return goal.waitUntil ?? 0;
}

export function decideNext(goal: Goal, { token, nonce }: EventOf<"goal.due">, now: number): GoalDecision {
  const at = goalWakeAt(goal);
  if (at === null || at > now) return UNCHANGED;
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
    // The agent did not signal the end. The prompt tells it, and it has this turn to do so.
    case "proved":
      return stopBeforeTurn(goal, now) ?? intendJob(goal, "work", ready);
  }
}

/** A breaker or a limit stops a turn before it costs anything. A limit that is close warns a person. */
function stopBeforeTurn(goal: Goal, now: number): GoalDecision | null {
  const tripped = trippedBreaker(goal);
  if (tripped !== null) return pause(goal, { code: "breaker", ...tripped }, now);
  const reached = limitReached(goal);
  // No turn is left for the agent's signal, so a person (or `--yes`) confirms the end instead (B9).
  if (reached !== null && goal.phase.kind === "proved")
    return goal.policy.yes ? change(goal, { phase: confirm(goal.phase) }) : askUnsignalled(goal, now);
  if (reached !== null) {
    const { code, reason, flag } = reached;
    return pause(goal, { code, reason, goOn: `loop continue ${goal.id} ${flag}` }, now);
  }
  const near = nearLimits(goal);
  if (near.length === 0) return null;
  return change(goal, { warned: [...goal.warned, ...near.map(({ name }) => name)] }, [
    notice(goal, "near-limit", "is close to a limit", `${near.map(({ text }) => text).join(", ")} used.`),
  ]);
}

function askForPlan(goal: Goal, now: number): GoalDecision {
  if (goal.criteria.length + goal.proposed.length === 0) {
    const reason = "there is no criterion, so nothing can prove the end";
    const goOn = `loop cancel ${goal.id}, then: loop until --check 'name=command' …`;
    return pause(goal, { code: "person", reason, goOn }, now);
  }
  const count = goal.steps.length;
  const question = count > 1 ? `Decomposed into ${count} steps. Proceed?` : "This is one step. Proceed?";
  const planned = goal.receipts.filter(({ kind }) => kind === "plan");
  const details = [
    ...goal.steps.map(({ name }, index) => `${index + 1}. ${name}`),
    ...goal.criteria.map((criterion) => `check ${renderCheck(criterion)}`),
    ...goal.proposed.map((criterion) => `check proposed by the agent: ${renderCheck(criterion)}`),
    ...(goal.baseline?.green ?? []).map((name) => `${name} is green already, before any work`),
    // A planning turn must not change files. A person sees the changes before they become part of the baseline.
    ...planned.flatMap(({ files }) => files.map((path) => `changed during planning: ${path}`)),
  ];
  return ask(goal, "G1", question, details, now);
}
