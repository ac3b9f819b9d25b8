/** Budget, iterations, time and tokens of a goal (B12). */
import type { Raise } from "../goal/event.ts";
import type { Goal, Limits, PauseCode, Spent } from "../goal/goal.ts";

export const DEFAULT_LIMITS: Limits = { budgetUsd: 25, iterations: 10, timeMs: null, tokens: null };
export const MAX_BUDGET_USD = 100;
export const MAX_ITERATIONS = 50;
const WARN_AT = 0.8;

export interface Reached {
  readonly code: PauseCode;
  readonly reason: string;
  /** The flag that adds to it. */
  readonly flag: string;
}

/** The limit that the next turn would pass, so that it is not started. */
export function limitReached(goal: Goal): Reached | null {
  const { limits, spent, iteration } = goal;
  if (iteration >= limits.iterations)
    return {
      code: "iterations",
      reason: `${iteration} of ${limits.iterations} iterations are used`,
      flag: "--iterations=5",
    };
  const costUsd = largest(goal, (receipt) => receipt.costUsd ?? 0);
  if (spent.costUsd + costUsd > limits.budgetUsd || spent.costUsd >= limits.budgetUsd)
    return {
      code: "budget",
      reason: wouldPass(
        "budget",
        usd(spent.costUsd),
        usd(limits.budgetUsd),
        costUsd > 0 ? usd(costUsd) : null,
      ),
      flag: "--budget=10",
    };
  const tokens = largest(goal, (receipt) => (receipt.inputTokens ?? 0) + (receipt.outputTokens ?? 0));
  if (limits.tokens !== null && (spent.tokens + tokens > limits.tokens || spent.tokens >= limits.tokens))
    return {
      code: "tokens",
      reason: wouldPass(
        "token limit",
        `${spent.tokens}`,
        `${limits.tokens}`,
        tokens > 0 ? `${tokens}` : null,
      ),
      flag: "--tokens=200000",
    };
  if (limits.timeMs !== null && spent.timeMs >= limits.timeMs)
    return {
      code: "time",
      reason: `${length(spent.timeMs)} of the time limit of ${length(limits.timeMs)} are used`,
      flag: "--time=30m",
    };
  return null;
}

function wouldPass(what: string, spent: string, limit: string, next: string | null): string {
  const cause = next === null ? "" : `; the last turns took up to ${next}, and another would pass it`;
  return `${spent} of the ${what} of ${limit} are spent${cause}`;
}

/** What a turn may need: the most that one of the last three needed. */
function largest(goal: Goal, of: (receipt: Goal["receipts"][number]) => number): number {
  return Math.max(0, ...goal.receipts.slice(-3).map(of));
}

/** Limits that are used to 80 %, each said once. */
export function nearLimits(goal: Goal): readonly { readonly name: string; readonly text: string }[] {
  const { limits, spent, iteration, warned } = goal;
  const all = [
    {
      name: "budget",
      used: spent.costUsd,
      of: limits.budgetUsd,
      text: `${usd(spent.costUsd)} of ${usd(limits.budgetUsd)}`,
    },
    {
      name: "iterations",
      used: iteration,
      of: limits.iterations,
      text: `${iteration} of ${limits.iterations} iterations`,
    },
    {
      name: "tokens",
      used: spent.tokens,
      of: limits.tokens,
      text: `${spent.tokens} of ${limits.tokens} tokens`,
    },
    {
      name: "time",
      used: spent.timeMs,
      of: limits.timeMs,
      text: `${length(spent.timeMs)} of ${length(limits.timeMs ?? 0)}`,
    },
  ];
  return all
    .filter(({ name, used, of }) => of !== null && used >= of * WARN_AT && !warned.includes(name))
    .map(({ name, text }) => ({ name, text }));
}

export type Raised =
  | { readonly kind: "raised"; readonly limits: Limits }
  | { readonly kind: "refused"; readonly message: string };

/** What a person gives is added (B12): to the limit or, where there was none, to what is used already. */
export function raiseLimits(limits: Limits, raise: Raise, spent: Spent): Raised {
  const budgetUsd = limits.budgetUsd + (raise.budgetUsd ?? 0);
  if (budgetUsd > MAX_BUDGET_USD)
    return refused(
      `The budget would be ${usd(budgetUsd)}; at most ${usd(MAX_BUDGET_USD)} are allowed per loop.`,
    );
  const iterations = limits.iterations + (raise.iterations ?? 0);
  if (iterations > MAX_ITERATIONS)
    return refused(`That would be ${iterations} iterations; at most ${MAX_ITERATIONS} are allowed per loop.`);
  return {
    kind: "raised",
    limits: {
      budgetUsd,
      iterations,
      timeMs: raise.timeMs === undefined ? limits.timeMs : (limits.timeMs ?? spent.timeMs) + raise.timeMs,
      tokens: raise.tokens === undefined ? limits.tokens : (limits.tokens ?? spent.tokens) + raise.tokens,
    },
  };
}

function refused(message: string): Raised {
  return { kind: "refused", message };
}

function usd(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

function length(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  return ms < 60_000 ? `${Math.round(ms / 1_000)}s` : `${Math.round(ms / 60_000)}m`;
}
