/** Sums of usage. */
import type { Usage } from "../base.ts";
import type { Spent } from "../goal/goal.ts";

export const NOTHING_SPENT: Spent = { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 };

/** The sum of two turns that count as one. */
export function sumUsage(a: Usage | null, b: Usage | null): Usage | null {
  if (a === null || b === null) return a ?? b;
  const date = [a.pricesDate ?? "", b.pricesDate ?? ""].sort().at(-1);
  const cacheReadTokens = (a.cacheReadTokens ?? 0) + (b.cacheReadTokens ?? 0);
  const cacheWriteTokens = (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0);
  return {
    costUsd: sum(a.costUsd, b.costUsd),
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    ...(a.costFrom === undefined && b.costFrom === undefined ? {} : { costFrom: "prices" }),
    ...(date ? { pricesDate: date } : {}),
    // two different models have no common name
    ...(a.model === b.model && a.model !== undefined ? { model: a.model } : {}),
    ...(cacheReadTokens > 0 ? { cacheReadTokens } : {}),
    ...(cacheWriteTokens > 0 ? { cacheWriteTokens } : {}),
  };
}

/** The fields of a receipt that say whether a price table gave the cost. */
export function pricesOf(usage: Usage | null | undefined): Pick<Usage, "costFrom" | "pricesDate"> {
  if (usage?.costFrom === undefined) return {};
  const { costFrom, pricesDate } = usage;
  return { costFrom, ...(pricesDate === undefined ? {} : { pricesDate }) };
}

export function addUsage(spent: Spent, usage: Usage | null, durationMs: number): Spent {
  return {
    ...spend(spent, usage),
    timeMs: spent.timeMs + durationMs,
    unpriced: spent.unpriced + Number(usage?.costUsd == null),
  };
}

export function addSpent(a: Spent, b: Spent): Spent {
  const estimatedUsd = (a.estimatedUsd ?? 0) + (b.estimatedUsd ?? 0);
  return {
    costUsd: a.costUsd + b.costUsd,
    tokens: a.tokens + b.tokens,
    timeMs: a.timeMs + b.timeMs,
    unpriced: a.unpriced + b.unpriced,
    ...(estimatedUsd > 0 ? { estimatedUsd } : {}),
  };
}

/** null: the agent reported no cost. */
export function knownCost({ costUsd, unpriced }: Spent): number | null {
  return costUsd === 0 && unpriced > 0 ? null : costUsd;
}

/** The totals of cost and tokens after this usage. */
export function spend(
  { costUsd, tokens, estimatedUsd = 0 }: Spent,
  usage: Usage | null,
): Pick<Spent, "costUsd" | "tokens" | "estimatedUsd"> {
  const cost = usage?.costUsd ?? 0;
  const estimated = estimatedUsd + (usage?.costFrom === "prices" ? cost : 0);
  return {
    costUsd: costUsd + cost,
    tokens: tokens + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
    ...(estimated > 0 ? { estimatedUsd: estimated } : {}),
  };
}

/** The sum of what is known; null: nothing. */
export function sum(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
}
