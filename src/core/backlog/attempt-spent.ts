/** What the turns of an attempt used up, and who took them. */
import type { Usage } from "../base.ts";
import { spend } from "../cost/usage.ts";
import type { Spent } from "../goal/goal.ts";
import type { Attempt } from "./backlog.ts";

export function outputOf({ outputTokens }: Attempt, { usage }: { readonly usage: Usage | null }): number {
  return outputTokens + (usage?.outputTokens ?? 0);
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

export function takersOf(
  { takenBy = [] }: Attempt,
  turn: { readonly takenBy?: string },
): Pick<Attempt, "takenBy"> {
  if (turn.takenBy === undefined || takenBy.includes(turn.takenBy)) return {};
  return { takenBy: [...takenBy, turn.takenBy] };
}
