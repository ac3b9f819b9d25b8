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
  /** The flag that raises the limit. */
  readonly flag: string;
}

/** The limit that the next turn would exceed, so that the turn does not start. */
export function limitReached(goal: Goal): Reached | null {
  const { limits, spent, iteration } = goal;
  if (iteration >= limits.iterations) {
    const reason = `${iteration} of ${limits.iterations} iterations are used`;
    return { code: "iterations", reason, flag: "--iterations=5" };
  }
  const costUsd = largest(goal, (receipt) => receipt.costUsd ?? 0);
  const budget = wouldExceed("budget", spent.costUsd, limits.budgetUsd, costUsd, usd);
  if (budget !== null) return { code: "budget", reason: budget, flag: "--budget=10" };
  const turnTokens = largest(goal, (receipt) => (receipt.inputTokens ?? 0) + (receipt.outputTokens ?? 0));
  const tokens = wouldExceed("token limit", spent.tokens, limits.tokens, turnTokens, String);
  if (tokens !== null) return { code: "tokens", reason: tokens, flag: "--tokens=200000" };
  if (limits.timeMs === null || spent.timeMs < limits.timeMs) return null;
  const reason = `${length(spent.timeMs)} of the time limit of ${length(limits.timeMs)} are used`;
  return { code: "time", reason, flag: "--time=30m" };
}

function wouldExceed(
  what: string,
  spent: number,
  limit: number | null,
  next: number,
  show: (amount: number) => string,
): string | null {
  if (limit === null || (spent + next <= limit && spent < limit)) return null;
  const cause =
    next > 0 ? `; the last turns used up to ${show(next)} each, so the next one could exceed it` : "";
  return `${show(spent)} of the ${what} of ${show(limit)} are spent${cause}`;
}

/** The estimate for the next turn: the most that one of the last three used. */
function largest(goal: Goal, of: (receipt: Goal["receipts"][number]) => number): number {
  return Math.max(0, ...goal.receipts.slice(-3).map(of));
}

/** Limits that are used to 80 %. Each warning appears once. */
export function nearLimits(goal: Goal): readonly { readonly name: string; readonly text: string }[] {
  const { limits, spent, iteration, warned } = goal;
  const all = [
    ["budget", spent.costUsd, limits.budgetUsd, usd, ""],
    ["iterations", iteration, limits.iterations, String, " iterations"],
    ["tokens", spent.tokens, limits.tokens, String, " tokens"],
    ["time", spent.timeMs, limits.timeMs, length, ""],
  ] as const;
  return all.flatMap(([name, used, limit, show, unit]) =>
    limit === null || used < limit * WARN_AT || warned.includes(name)
      ? []
      : [{ name, text: `${show(used)} of ${show(limit)}${unit}` }],
  );
}

type Raised =
  | { readonly kind: "raised"; readonly limits: Limits }
  | { readonly kind: "refused"; readonly message: string };

/** Adds to a limit (B12), or to the used amount if there was no limit. */
export function raiseLimits(limits: Limits, raise: Raise, spent: Spent): Raised {
  const budgetUsd = limits.budgetUsd + (raise.budgetUsd ?? 0);
  if (budgetUsd > MAX_BUDGET_USD) {
    const message = `The budget would be ${usd(budgetUsd)}; at most ${usd(MAX_BUDGET_USD)} are allowed per loop.`;
    return { kind: "refused", message };
  }
  const iterations = limits.iterations + (raise.iterations ?? 0);
  if (iterations > MAX_ITERATIONS) {
    const message = `That would be ${iterations} iterations; at most ${MAX_ITERATIONS} are allowed per loop.`;
    return { kind: "refused", message };
  }
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

function usd(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

function length(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  return ms < 60_000 ? `${Math.round(ms / 1_000)}s` : `${Math.round(ms / 60_000)}m`;
}
