/** What readers of outputs share: where a summary and a failure are found in lines. */
import { cleanLine, cleanText } from "../text/clean.ts";
import type { TestFailure, TestOutcome } from "./run.ts";

export interface Reading {
  readonly outcome: TestOutcome;
  readonly passed?: number;
  readonly failed?: number;
  readonly failures: readonly TestFailure[];
}

/** null: nothing that this runner prints. */
export type OutputReader = (lines: readonly string[]) => Reading | null;

/** As many failures as a reader looks at that has to search for each: no time that grows with their square. */
export const ENOUGH = 60;

const HEAD = 60_000;
const TAIL = 200_000;
const MAX_LINE = 1_000;
const MAX_NAME = 200;
const MAX_MESSAGE = 300;
const MAX_MESSAGE_LINES = 6;
const MAX_FAILURES = 20;

/** The beginning and the end of an output, without colours, in lines that are not too long for a pattern. */
export function linesOf(output: string): string[] {
  const kept =
    output.length <= HEAD + TAIL ? output : `${output.slice(0, HEAD)}\n${output.slice(output.length - TAIL)}`;
  return cleanText(kept)
    .split("\n")
    .map((line) => line.slice(0, MAX_LINE).trimEnd());
}

/** How a run ended, by its figures. Tests that failed say more than files that could not be read. */
export function outcomeOf(failed: number, broken: number): TestOutcome {
  if (failed > 0) return "failed";
  return broken > 0 ? "broken" : "passed";
}

/** One of each name, cleaned, and not too many. */
export function tidyFailures(failures: readonly TestFailure[]): TestFailure[] {
  const byName = new Map<string, TestFailure>();
  for (const failure of failures) {
    const name = cut(cleanLine(failure.name), MAX_NAME);
    const message = cut(cleanLine(failure.message), MAX_MESSAGE);
    if (name === "" || (byName.get(name)?.message ?? "") !== "") continue;
    byName.set(name, { name, message });
    if (byName.size > MAX_FAILURES) break;
  }
  return [...byName.values()].slice(0, MAX_FAILURES);
}

/** The next few lines with something in them, up to one that is a stack, code or the next failure. */
export function messageFrom(lines: readonly string[], from: number, stop: RegExp): string {
  const found: string[] = [];
  for (let i = from; i < lines.length && i < from + 30 && found.length < MAX_MESSAGE_LINES; i++) {
    const line = lines[i] ?? "";
    if (stop.test(line)) break;
    if (line.trim() !== "") found.push(line.trim());
  }
  return found.join(" ");
}

/** Every match of a pattern that is anchored to a line, with the index of that line. */
export function matchesIn(
  lines: readonly string[],
  pattern: RegExp,
): { readonly at: number; readonly groups: readonly string[] }[] {
  return lines.flatMap((line, at) => {
    const found = pattern.exec(line);
    return found === null ? [] : [{ at, groups: found.slice(1).map((group) => group ?? "") }];
  });
}

/** The number in front of a word: `3 failed | 2 passed`. */
export function figure(text: string, word: RegExp): number {
  const found = new RegExp(`(\\d+) (?:${word.source})\\b`).exec(text);
  return Number(found?.[1] ?? 0);
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Does not end in the middle of a letter. */
function cut(text: string, letters: number): string {
  if (text.length <= letters) return text;
  return `${text.slice(0, letters - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
