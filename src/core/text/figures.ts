/** Money, tokens, moments and counts as people read them. Small: status lines load it. */
import type { Goal, Receipt, Spent } from "../goal/goal.ts";

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
