/** What the texts about a goal tell again and again, in the same words. */

import type { Check, Criterion, Evidence, Goal, Receipt, Spent, Verification } from "../../goal/goal.ts";
import { verificationOf } from "../../spec/check-flag.ts";
import { renderDuration } from "../../task/interval.ts";
import { codeSpan } from "../quote.ts";

/** Names are anything that a person typed, `constructor` too. */
export function evidenceOf({ evidence }: Goal, name: string): Evidence | null {
  return Object.hasOwn(evidence, name) ? (evidence[name] ?? null) : null;
}

export function verifiedBy(goal: Goal, { name, check }: Criterion): Verification {
  return evidenceOf(goal, name)?.verification ?? verificationOf(check);
}

/** Somebody looked, nothing was run (B6). */
export function isWeak(verification: Verification): boolean {
  return verification === "observation" || verification === "code review";
}

/** Steps that were replaced are neither done nor left. */
export function progressOf({ steps }: Goal): { readonly done: number; readonly total: number } {
  const done = steps.filter(({ status }) => status === "done").length;
  return { done, total: done + steps.filter(({ status }) => status === "open").length };
}

/** The step that the next iteration does. */
export function currentStep({ steps }: Goal): string | null {
  return steps.find(({ status }) => status === "open")?.name ?? null;
}

/** The iteration that is under way, or would be next. */
export function iterationOf(goal: Goal): string {
  return `${goal.iteration + 1}/${goal.limits.iterations}`;
}

/** What a check demands, for a reader of Markdown. */
export function renderDemand(check: Check): string {
  switch (check.kind) {
    case "command":
      return `${codeSpan(check.command)} exits 0`;
    case "measure":
      return `the last number that ${codeSpan(check.command)} prints is ${check.comparison} ${check.target}`;
    case "judge":
      return `an agent with a fresh context looks at the running thing: ${codeSpan(check.question)}`;
    case "review":
      return `an agent with a fresh context reads the code: ${codeSpan(check.question)}`;
    case "assumption":
      return "nothing checks it, so it blocks the end until a person names a check";
  }
}

/** What a check returned, in a few words. */
export function renderResult({ check }: Criterion, evidence: Evidence | null): string {
  if (evidence === null) return "never checked";
  if (evidence.timedOut) return `ran out of time after ${renderDuration(evidence.durationMs)}`;
  if (check.kind === "judge" || check.kind === "review") return evidence.met ? "said yes" : "said no";
  if (check.kind === "assumption") return "assumed";
  const exit = evidence.exitCode === null ? "ended by a signal" : `exit ${evidence.exitCode}`;
  if (check.kind === "command") return exit;
  if (evidence.value === null) return `printed no number, ${exit}`;
  return evidence.met ? `${evidence.value}` : `${evidence.value}, wanted ${check.comparison} ${check.target}`;
}

export function renderUsd(amount: number): string {
  return amount > 0 && amount < 0.005 ? "<$0.01" : `$${amount.toFixed(2)}`;
}

/** A limit is mostly a round number. */
export function renderBudget(amount: number): string {
  return Number.isInteger(amount) ? `$${amount}` : renderUsd(amount);
}

/** Of a figure that is by a price table, and not the agent's own. */
export const ESTIMATE_MARK = "~";

/** A receipt's own. */
export function renderReceiptCost({ costUsd, costFrom }: Pick<Receipt, "costUsd" | "costFrom">): string {
  if (costUsd === null) return "not told";
  return `${costFrom === "prices" ? ESTIMATE_MARK : ""}${renderUsd(costUsd)}`;
}

/** What the mark means, in a place that has it; null: it has none. */
export function renderPricesNote({ receipts, spent }: Pick<Goal, "receipts" | "spent">): string | null {
  const dates = receipts.flatMap(({ pricesDate }) => pricesDate ?? []).sort();
  const isMarked = (spent.estimatedUsd ?? 0) > 0 || receipts.some(({ costFrom }) => costFrom === "prices");
  if (!isMarked) return null;
  const date = dates.at(-1);
  return `${ESTIMATE_MARK} by the price table${date === undefined ? "" : ` of ${date}`}: the agent told tokens and no cost`;
}

/** Never a number that nobody told. */
export function renderCost(spent: Spent): string {
  const isPart = spent.unpriced > 0 && spent.costUsd > 0;
  return isPart
    ? `${renderToldCost(spent)} + ${count(spent.unpriced, "turn")} not told`
    : renderToldCost(spent);
}

/** For a place that says beside it how many turns are missing. */
export function renderToldCost({ costUsd, unpriced, estimatedUsd = 0 }: Spent): string {
  if (costUsd === 0 && unpriced > 0) return "not told";
  return `${estimatedUsd > 0 ? ESTIMATE_MARK : ""}${renderUsd(costUsd)}`;
}

export function renderTokens(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  return tokens < 999_500 ? `${Math.round(tokens / 1_000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** Minutes are enough for a person; the zone is always said. An agent may name a time that no calendar has. */
export function renderMoment(at: number): string {
  if (!(Math.abs(at) <= LAST_MOMENT)) return "an unknown time";
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

const LAST_MOMENT = 253_402_300_799_999;

export function count(amount: number, noun: string): string {
  return amount === 1 ? `1 ${noun}` : `${amount} ${noun}s`;
}
