/** Money, tokens, times and counts for people. Keep it small: status lines load it. */
import type { Goal, Receipt, Spent } from "../goal/goal.ts";

export function renderUsd(amount: number): string {
  return amount > 0 && amount < 0.005 ? "<$0.01" : `$${amount.toFixed(2)}`;
}

export function renderBudget(amount: number): string {
  return Number.isInteger(amount) ? `$${amount}` : renderUsd(amount);
}

/** Marks a cost from a price table instead of the agent. */
export const ESTIMATE_MARK = "~";

export function renderReceiptCost({ costUsd, costFrom }: Pick<Receipt, "costUsd" | "costFrom">): string {
  if (costUsd === null) return "unknown";
  return `${costFrom === "prices" ? ESTIMATE_MARK : ""}${renderUsd(costUsd)}`;
}

/** What the mark means; null: no figure has it. */
export function renderPricesNote({ receipts, spent }: Pick<Goal, "receipts" | "spent">): string | null {
  const dates = receipts.flatMap(({ pricesDate }) => pricesDate ?? []).sort();
  const isMarked = (spent.estimatedUsd ?? 0) > 0 || receipts.some(({ costFrom }) => costFrom === "prices");
  if (!isMarked) return null;
  const date = dates.at(-1);
  return `${ESTIMATE_MARK} by the price table${date === undefined ? "" : ` of ${date}`}: the agent reported tokens but no cost`;
}

export function renderCost(spent: Spent): string {
  const isPart = spent.unpriced > 0 && spent.costUsd > 0;
  return isPart
    ? `${renderToldCost(spent)} + ${count(spent.unpriced, "turn")} not reported`
    : renderToldCost(spent);
}

/** For places that also show how many turns have no cost. */
export function renderToldCost({ costUsd, unpriced, estimatedUsd = 0 }: Spent): string {
  if (costUsd === 0 && unpriced > 0) return "unknown";
  return `${estimatedUsd > 0 ? ESTIMATE_MARK : ""}${renderUsd(costUsd)}`;
}

export function renderTokens(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  return tokens < 999_500 ? `${Math.round(tokens / 1_000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** In minutes, with the zone. An agent may name a time that no calendar has. */
export function renderMoment(at: number): string {
  if (!(Math.abs(at) <= LAST_MOMENT)) return "an unknown time";
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

const LAST_MOMENT = 253_402_300_799_999;

export function count(amount: number, noun: string): string {
  return amount === 1 ? `1 ${noun}` : `${amount} ${noun}s`;
}
