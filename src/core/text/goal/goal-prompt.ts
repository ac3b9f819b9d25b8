/** What an agent is told at each turn of a goal (B3, B10, B19, B20, B21, D4). Nothing in it, echoed, is a claim. */
import type { Goal, Job } from "../../goal/goal.ts";
import { unmetCriteria } from "../../goal/proof.ts";
import { inLine } from "../quote.ts";
import { cutTo } from "../width.ts";
import { currentStep, iterationOf, stepCounts } from "./goal-facts.ts";
import {
  isSilentlyProved,
  joinParts,
  nonceOf,
  renderCriteria,
  renderFailing,
  renderHandover,
  renderHead,
  renderMet,
  renderMustNot,
  renderRemarks,
  renderReportForm,
  renderRules,
  renderSpec,
  renderStep,
  renderSteps,
  renderWorkflow,
} from "./prompt-parts.ts";

export { renderHandover } from "./prompt-parts.ts";
export {
  renderJudgePrompt,
  renderPlanPrompt,
  renderPrecheckPrompt,
} from "./side-prompts.ts";

/** One work turn. A conversation that goes on knows the rules already; any other is told everything. */
export function renderWorkPrompt(goal: Goal, job: Job): string {
  const now = { ...goal, job };
  if (goal.context === "continue" && goal.conversation !== null) return renderNextTurn(now, job.nonce);
  const hasWorked = goal.receipts.some(({ kind }) => kind === "work");
  if (goal.context === "continue" && hasWorked) return renderResumePrompt(now, job);
  return joinParts([renderHead(now), renderWhole(now, job.nonce)]);
}

/** After a crash, a compaction or in a new conversation: where it stands, and then everything. */
export function renderResumePrompt(goal: Goal, job: Job): string {
  const now = { ...goal, job };
  return joinParts([renderResumeHeader(now), renderWhole(now, job.nonce)]);
}

/** A few lines that a conversation can be reminded with. */
export function renderResumeHeader(goal: Goal): string {
  const nonce = nonceOf(goal);
  const { done, total } = stepCounts(goal);
  const unmet = unmetCriteria(goal);
  return [
    "[LOOP RESUME]",
    `Spec: ${cutTo(inLine(goal.spec, nonce), 100)}`,
    `Steps: ${done}/${total} done`,
    `Iteration: ${iterationOf(goal)}`,
    `Unmet: ${unmet.length === 0 ? "none" : unmet.map((name) => inLine(name, nonce)).join(", ")}`,
    `Next: ${inLine(currentStep(goal) ?? goal.next ?? "what is unmet", nonce)}`,
  ].join("\n");
}

function renderWhole(goal: Goal, nonce: string): string {
  return joinParts([
    renderRemarks(goal),
    renderSpec(goal),
    renderWorkflow(goal),
    renderCriteria(goal),
    renderMustNot(goal),
    renderRules(goal),
    goal.receipts.length === 0 ? renderSteps(goal) : renderHandover(goal),
    hasEvidence(goal) && !isSilentlyProved(goal) ? renderFailing(goal) : "",
    renderStep(goal),
    renderReportForm(goal, nonce, false),
  ]);
}

function renderNextTurn(goal: Goal, nonce: string): string {
  return joinParts([
    renderHead(goal),
    renderRemarks(goal),
    renderFailing(goal),
    renderMet(goal),
    renderStep(goal),
    "The spec and the rules of the first message still hold. The nonce is a new one.",
    renderReportForm(goal, nonce, false),
  ]);
}

function hasEvidence({ evidence }: Goal): boolean {
  return Object.keys(evidence).length > 0;
}
