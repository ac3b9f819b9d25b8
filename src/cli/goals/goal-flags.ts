/** The flags that shape a goal. Each wrong value gets one sentence. */

import { DEFAULT_LIMITS, MAX_BUDGET_USD, MAX_ITERATIONS } from "../../core/cost/limits.ts";
import { STILL_LIMIT } from "../../core/goal/breakers.ts";
import type { Raise } from "../../core/goal/event.ts";
import type { GoalPolicy, Limits, Reversibility, Shape } from "../../core/goal/goal.ts";
import { usageError } from "../../errors.ts";
import type { Config } from "../../schema/config.ts";
import { countFlag, durationFlag } from "../tasks/task-flags.ts";

export interface LimitFlags {
  readonly budget?: string;
  readonly iterations?: string;
  readonly time?: string;
  readonly tokens?: string;
}

export interface PolicyFlags {
  readonly yes?: boolean;
  readonly exitOn?: string;
  readonly gateTimeout?: string;
  readonly gateDefault?: string;
  readonly timeout?: string;
  readonly checkTimeout?: string;
  readonly protect?: readonly string[];
  readonly allowChanges?: readonly string[];
}

const DEFAULT_CHECK_TIMEOUT_MS = 10 * 60_000;

export function limitsFrom(flags: LimitFlags, env: NodeJS.ProcessEnv): Limits {
  const raise = { ...raiseFromEnv(flags, env), ...raiseFrom(flags) };
  const limits = {
    budgetUsd: raise.budgetUsd ?? DEFAULT_LIMITS.budgetUsd,
    iterations: raise.iterations ?? DEFAULT_LIMITS.iterations,
    timeMs: raise.timeMs ?? null,
    tokens: raise.tokens ?? null,
  };
  if (limits.budgetUsd > MAX_BUDGET_USD)
    throw usageError(
      `A budget of $${limits.budgetUsd} is too much; at most $${MAX_BUDGET_USD} are allowed per loop.`,
    );
  if (limits.iterations > MAX_ITERATIONS)
    throw usageError(
      `${limits.iterations} iterations are too many; at most ${MAX_ITERATIONS} are allowed per loop.`,
    );
  return limits;
}

/** What `loop continue` adds. */
export function raiseFrom(flags: LimitFlags): Raise {
  return {
    ...(flags.budget === undefined ? {} : { budgetUsd: amountFlag("--budget", flags.budget) }),
    ...(flags.iterations === undefined ? {} : { iterations: countFlag("--iterations", flags.iterations) }),
    ...(flags.time === undefined ? {} : { timeMs: durationFlag("--time", flags.time) }),
    ...(flags.tokens === undefined ? {} : { tokens: countFlag("--tokens", flags.tokens) }),
  };
}

/** What a flag says is not looked up in the environment. */
function raiseFromEnv(flags: LimitFlags, { LOOP_BUDGET, LOOP_MAX_ITERATIONS }: NodeJS.ProcessEnv): Raise {
  return {
    ...(flags.budget === undefined && LOOP_BUDGET
      ? { budgetUsd: amountFlag("LOOP_BUDGET", LOOP_BUDGET) }
      : {}),
    ...(flags.iterations === undefined && LOOP_MAX_ITERATIONS
      ? { iterations: countFlag("LOOP_MAX_ITERATIONS", LOOP_MAX_ITERATIONS) }
      : {}),
  };
}

function amountFlag(name: string, text: string): number {
  const [, digits] = /^\$?(\d+(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  const amount = Number(digits);
  if (digits === undefined || amount <= 0)
    throw usageError(`${name} "${text}" is not an amount of dollars; write 5 or 2.50.`);
  return amount;
}

export function policyFrom(flags: PolicyFlags, config: Config): GoalPolicy {
  return {
    yes: flags.yes ?? false,
    exitOn: oneOf("--exit-on", flags.exitOn ?? "both", ["both", "proof"]),
    gateTimeoutMs: flags.gateTimeout === undefined ? null : durationFlag("--gate-timeout", flags.gateTimeout),
    gateDefault: oneOf("--gate-default", flags.gateDefault ?? "reject", ["approve", "reject"]),
    turnTimeoutMs:
      flags.timeout === undefined ? config.turnTimeoutMs : durationFlag("--timeout", flags.timeout),
    checkTimeoutMs:
      flags.checkTimeout === undefined
        ? DEFAULT_CHECK_TIMEOUT_MS
        : durationFlag("--check-timeout", flags.checkTimeout),
    stillLimit: STILL_LIMIT,
    protect: globs("--protect", flags.protect ?? []),
    allowChanges: globs("--allow-changes", flags.allowChanges ?? []),
  };
}

export function contextFlag(text: string | undefined): "fresh" | "continue" {
  return oneOf("--context", text ?? "continue", ["fresh", "continue"]);
}

export function reversibilityFlag(text: string | undefined): Reversibility | null {
  return text === undefined ? null : oneOf<Reversibility>("--reversibility", text, ["2A", "2B", "1"]);
}

/** LOOP_SHAPE: what a person who scripts it decided already. */
export function shapeFrom(env: NodeJS.ProcessEnv): Shape | null {
  const { LOOP_SHAPE } = env;
  if (LOOP_SHAPE === undefined || LOOP_SHAPE === "") return null;
  return oneOf<Shape>("LOOP_SHAPE", LOOP_SHAPE, ["tool", "colleague"]);
}

export function oneOf<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find((word) => word === text);
  if (found === undefined) throw usageError(`${name} "${text}" is none of ${known.join(", ")}.`);
  return found;
}

function globs(name: string, given: readonly string[]): readonly string[] {
  if (given.some((glob) => glob.trim() === ""))
    throw usageError(`${name} is empty; give a glob such as 'test/**'.`);
  return given;
}
