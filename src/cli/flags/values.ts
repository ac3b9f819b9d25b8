/**
 * Parses the values of flags and environment variables. Each wrong value throws one sentence. A flag that was not given
 * stays undefined.
 */
import { readFileSync } from "node:fs";
import { MAX_BUDGET_USD } from "../../core/cost/limits.ts";
import { parseDuration } from "../../core/task/interval.ts";
import { usageError } from "../../errors.ts";
import { readThroughLinks } from "../../system/files.ts";
import { currentMask } from "../../system/secrets.ts";

export function durationFlag(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === null || ms <= 0)
    throw usageError(`${name} "${text}" is not a length of time; write it like 45s, 10m, 2h or 7d.`);
  return ms;
}

export function countFlag(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw usageError(`${name} "${text}" is not a whole number of 1 or more.`);
  return count;
}

/** Dollars, with or without the dollar sign. */
export function budgetFlag(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, digits] = /^\$?(\d+(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  const amount = Number(digits);
  if (digits === undefined || amount <= 0)
    throw usageError(`${name} "${text}" is not an amount of dollars; write it like 5 or 2.50.`);
  return amount;
}

export function checkBudget(budgetUsd: number): number {
  if (budgetUsd > MAX_BUDGET_USD)
    throw usageError(`A budget of $${budgetUsd} is too much; a loop can spend at most $${MAX_BUDGET_USD}.`);
  return budgetUsd;
}

/** Without the fields that are undefined. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** The engine keeps the person's own words as they are. null: they contain no secret. */
export function secretNotice(...words: readonly string[]): string | null {
  const [secret] = currentMask().find(words.join("\n"));
  if (secret === undefined) return null;
  return `Your words contain a secret (${secret.name}), and they are stored in .loop. Write the name of a variable instead, such as '$TOKEN' in single quotes.`;
}

/** Refuses an empty command. */
export function commandFlag(name: string, text: string | undefined): void {
  if (text?.trim() === "") throw usageError(`${name} is empty; write a command after it.`);
}

export function oneOf<T extends string>(
  name: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const found = known.find((word) => word === text);
  if (found === undefined)
    throw usageError(`${name} "${text}" is not known; write one of: ${known.join(", ")}.`);
  return found;
}

/** The content of the file; "-" is stdin. The shell's `<(command)` is a pipe below /dev; another pipe would block. */
export function fileFlag(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let text: string | null;
  try {
    const isStream = file === "-" || file.startsWith("/dev/");
    text = isStream ? readFileSync(file === "-" ? 0 : file, "utf8") : readThroughLinks(file);
  } catch (error) {
    throw usageError(`${name}: cannot read ${file}: ${(error as Error).message.replace(/\.$/, "")}.`);
  }
  if (text === null) throw usageError(`${name}: cannot read ${file}: there is no such file.`);
  return text;
}
