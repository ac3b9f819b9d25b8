/** What turns cost. */
import type { Usage } from "../base.ts";
import { spend } from "../cost/usage.ts";
import type { Spent } from "../goal/goal.ts";

export const NOTHING_SPENT: Spent = { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 };

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
