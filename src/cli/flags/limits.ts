/** The limits of a loop: `--budget`, `--iterations`, `--time`, `--tokens` and their environment variables. */
import { DEFAULT_LIMITS, MAX_ITERATIONS } from "../../core/cost/limits.ts";
import type { Raise } from "../../core/goal/event.ts";
import type { Limits } from "../../core/goal/goal.ts";
import { usageError } from "../../errors.ts";
import { budgetFlag, checkBudget, countFlag, durationFlag, given } from "./values.ts";

export interface LimitFlags {
  readonly budget?: string;
  readonly iterations?: string;
  readonly time?: string;
  readonly tokens?: string;
}

export function limitsFrom(flags: LimitFlags, env: NodeJS.ProcessEnv): Limits {
  const raise = raiseFrom(flags);
  const fromEnv = () => countFlag("LOOP_MAX_ITERATIONS", env.LOOP_MAX_ITERATIONS || undefined);
  const iterations = raise.iterations ?? fromEnv() ?? DEFAULT_LIMITS.iterations;
  const budgetUsd = budgetFrom(flags, env);
  if (iterations > MAX_ITERATIONS)
    throw usageError(`${iterations} iterations are too many; a loop can have at most ${MAX_ITERATIONS}.`);
  return { budgetUsd, iterations, timeMs: raise.timeMs ?? null, tokens: raise.tokens ?? null };
}

/** Limits to add to those of an existing loop. */
export function raiseFrom(flags: LimitFlags): Raise {
  return given({
    budgetUsd: budgetFlag("--budget", flags.budget),
    iterations: countFlag("--iterations", flags.iterations),
    timeMs: durationFlag("--time", flags.time),
    tokens: countFlag("--tokens", flags.tokens),
  });
}

export function budgetFrom({ budget }: LimitFlags, { LOOP_BUDGET }: NodeJS.ProcessEnv): number {
  const fromEnv = () => budgetFlag("LOOP_BUDGET", LOOP_BUDGET || undefined);
  return checkBudget(budgetFlag("--budget", budget) ?? fromEnv() ?? DEFAULT_LIMITS.budgetUsd);
}
