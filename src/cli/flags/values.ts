/** What is typed behind a flag, or stands in an environment variable. Each wrong value gets one sentence. */
import { MAX_BUDGET_USD } from "../../core/cost/limits.ts";
import { parseDuration } from "../../core/task/interval.ts";
import { usageError } from "../../errors.ts";

export function durationFlag(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0)
    throw usageError(`${name} "${text}" is not a length of time; write 45s, 10m, 2h or 7d.`);
  return ms;
}

export function countFlag(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw usageError(`${name} "${text}" is not a whole number from 1 up.`);
  return count;
}

/** Dollars, with or without the sign. */
export function budgetFlag(name: string, text: string): number {
  const [, digits] = /^\$?(\d+(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  const amount = Number(digits);
  if (digits === undefined || amount <= 0)
    throw usageError(`${name} "${text}" is not an amount of dollars; write 5 or 2.50.`);
  return amount;
}

/** One loop, of whatever kind, spends no more than this. */
export function checkBudget(budgetUsd: number): number {
  if (budgetUsd > MAX_BUDGET_USD)
    throw usageError(
      `A budget of $${budgetUsd} is too much; at most $${MAX_BUDGET_USD} are allowed per loop.`,
    );
  return budgetUsd;
}

/** A command of the person's own; undefined: none was given. */
export function commandFlag(name: string, text: string | undefined): void {
  if (text?.trim() === "") throw usageError(`${name} is empty; give a command.`);
}

export function oneOf<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find((word) => word === text);
  if (found === undefined) throw usageError(`${name} "${text}" is none of ${known.join(", ")}.`);
  return found;
}
