/** The lines in which a goal loop tells a person what it does (B15). */
import { isWeak } from "../../checks/kinds.ts";
import type { Goal, Receipt, StepStatus } from "../../goal/goal.ts";
import { isMet, isProved } from "../../goal/proof.ts";
import { renderDuration } from "../../task/interval.ts";
import { cleanLine } from "../clean.ts";
import { count, renderBudget, renderCost, renderMoment, renderTokens } from "../figures.ts";
import { currentStep, iterationOf, stepCounts, verifiedBy } from "./goal-facts.ts";

export function renderStarting(goal: Goal): string {
  const shape = goal.shape === "tool" ? "Tool" : "Colleague";
  const { total } = stepCounts(goal);
  const steps = total === 0 && goal.needsPlan ? "planned first" : `${total}`;
  const budget = renderBudget(goal.limits.budgetUsd);
  return `[LOOP] Starting | Shape: ${shape} (${goal.score}/10) | Workflow: ${goal.workflow} | Steps: ${steps} | Budget: ${budget}`;
}

export function renderIteration(goal: Goal): string {
  const cost = `${renderCost(goal.spent)}/${renderBudget(goal.limits.budgetUsd)}`;
  const step = cleanLine(taskOf(goal));
  return `[LOOP] Iteration ${iterationOf(goal)} | Cost: ${cost} | Step: ${step}`;
}

function taskOf(goal: Goal): string {
  if (goal.job?.kind === "plan") return "plan the steps";
  if (goal.job?.kind === "precheck") return "pre-check";
  return currentStep(goal) ?? "unmet criteria";
}

/** Only a finished step gets the mark. */
export function renderIterationEnd(goal: Goal, receipt: Receipt): string {
  const { done, total } = stepCounts(goal);
  const step = cleanLine(receipt.step ?? (receipt.kind === "work" ? "turn" : receipt.kind));
  const next = currentStep(goal) ?? goal.next ?? (isProved(goal) ? "none" : "unmet criteria");
  const progress = `Progress: ${done}/${total} | Next: ${cleanLine(next)}`;
  if (receipt.failure !== null) {
    const { class: kind, reason } = receipt.failure;
    const charge = receipt.charged ? "" : " | Costs no iteration";
    return `[LOOP] ✗ ${step} failed (${kind}): ${cleanLine(reason)}${charge} | ${progress}`;
  }
  const is = (status: StepStatus) =>
    goal.steps.some((each) => each.name === receipt.step && each.status === status);
  if (receipt.step === null || is("done")) return `[LOOP] ✓ ${step} complete | ${progress}`;
  return `[LOOP] ${step} ${is("open") ? "goes on" : "was replaced"} | ${progress}`;
}

export function renderPaused(goal: Goal): string | null {
  if (goal.pause === null) return null;
  const { done, total } = stepCounts(goal);
  const { reason, goOn, evidence } = goal.pause;
  return [
    `[LOOP] ⏸ Paused: ${cleanLine(reason)}`,
    `Progress: ${count(done, "step")} complete, ${total - done} remaining`,
    `Resume: ${cleanLine(goOn)}`,
    ...evidence.map((line) => `  - ${cleanLine(line)}`),
  ].join("\n");
}

/** Only for a loop that is done, with every criterion proved. */
export function renderComplete(goal: Goal): string | null {
  if (goal.end?.status !== "done" || !isProved(goal)) return null;
  const lines = goal.criteria.map((criterion) => {
    const verification = verifiedBy(goal, criterion);
    const weak = isWeak(verification) ? ` (${verification}: weaker than a run)` : "";
    return `- ${cleanLine(criterion.name)}: ${isMet(goal, criterion.name) ? "✓" : "✗"}${weak}`;
  });
  return ["<loop-complete>", "All success criteria satisfied:", ...lines, "</loop-complete>"].join("\n");
}

/** `limit`: its name in `warned`. */
export function renderWarning(goal: Goal, limit: string): string | null {
  const { limits, spent, iteration, id } = goal;
  const all = [
    ["budget", spent.costUsd, limits.budgetUsd, () => renderCost(spent), renderBudget, "--budget=10"],
    ["iterations", iteration, limits.iterations, String, String, "--iterations=5"],
    ["tokens", spent.tokens, limits.tokens, renderTokens, renderTokens, "--tokens=200000"],
    ["time", spent.timeMs, limits.timeMs, renderDuration, renderDuration, "--time=30m"],
  ] as const;
  const row = all.find(([name]) => name === limit);
  if (row === undefined || row[2] === null) return null;
  const [, used, of, showUsed, showLimit, flag] = row;
  const figures = `${showUsed(used)}/${showLimit(of)}`;
  return `[LOOP] ⚠ ${Math.floor((used / of) * 100)} % of the ${limit} used: ${figures} | Raise it: loop continue ${id} ${flag} (adds to the limit)`;
}

export function renderWaiting(goal: Goal, now: number): string | null {
  if (goal.waitUntil === null) return null;
  const left = goal.waitUntil - now;
  const when = left <= 0 ? "any moment now" : `in ${renderDuration(left)} (${renderMoment(goal.waitUntil)})`;
  const reason = cleanLine(goal.waitReason ?? "the agent cannot be reached");
  return `[LOOP] ⏳ Waiting: ${reason} | Goes on: ${when} | Costs nothing`;
}

export function renderGate(goal: Goal): string | null {
  if (goal.gate === null) return null;
  const { kind, question, details, answerBy } = goal.gate;
  const answer = `Answer: loop approve ${goal.id} | loop reject ${goal.id} "why"`;
  const word = goal.policy.gateDefault === "approve" ? "yes" : "no";
  const deadline = answerBy === null ? [] : [`Without an answer by ${renderMoment(answerBy)}: ${word}`];
  return [
    `${kind}: ${cleanLine(question)}`,
    ...details.map((line) => `  ${cleanLine(line)}`),
    answer,
    ...deadline,
  ].join("\n");
}
