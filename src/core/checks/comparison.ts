/** Reads a command with or without a comparison at its end. */
import { type ShellPiece, shellPieces } from "../shell/pieces.ts";
import type { Comparison } from "./check.ts";

interface ReadCommand {
  readonly command: string;
  /** null: the exit code alone counts. */
  readonly compared: { readonly comparison: Comparison; readonly target: number } | null;
}

/**
 * A comparison is at the end of a command, outside quotes and brackets, with spaces around it and a number after it.
 * `> out.txt` is a redirection. A shell does not know `>=` and `<=`, so elsewhere they are mistakes. A string says what
 * is wrong.
 */
export function readCommand(text: string): ReadCommand | string {
  const parts = shellPieces(text);
  const redirected = redirectionOfTest(text, parts);
  if (redirected !== null) {
    return `"${redirected}" inside test or [ ] writes or reads a file and compares nothing; use -gt, -ge, -lt or -le`;
  }
  const [operator, number] = parts.slice(-2);
  const comparison = operator === undefined ? null : comparisonOf(operator);
  const target = number?.isPlain && NUMBER.test(number.text) ? Number(number.text.replace("%", "")) : null;
  const isCompared = parts.length >= 2 && comparison !== null && target !== null;
  const last = isCompared ? parts.length - 2 : parts.length;
  const stray = parts.slice(0, last).find((part) => part.strayComparison !== null);
  if (stray !== undefined) {
    const sign = stray.strayComparison;
    return `"${sign}" must have a space on each side and one number after it, at the very end, as in "npm run -s cov ${sign} 80"`;
  }
  if (!isCompared || operator === undefined || /^(?:test|expr)$/.test(parts[0]?.text ?? "")) {
    return { command: text, compared: null };
  }
  const command = text.slice(0, operator.at).trim();
  if (command === "") return `there is no command before "${operator.text}"`;
  return { command, compared: { comparison, target } };
}

const NUMBER = /^[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d{1,3})?%?$/i;

/** `test 3 > 2` and `[ 3 > 2 ]` create a file named 2 and are always true. */
function redirectionOfTest(text: string, parts: readonly ShellPiece[]): string | null {
  const inner = text.startsWith("[ ") ? shellPieces(text.slice(2)) : parts[0]?.text === "test" ? parts : [];
  const found = inner.find((part) => /^[<>]=?$/.test(part.text) && part.isPlain);
  return found?.text ?? null;
}

function comparisonOf({ text, isPlain }: ShellPiece): Comparison | null {
  return isPlain && Object.hasOwn(COMPARES, text) ? (text as Comparison) : null;
}

export function compare(value: number, comparison: Comparison, target: number): boolean {
  return COMPARES[comparison](value, target);
}

const COMPARES: Readonly<Record<Comparison, (value: number, target: number) => boolean>> = {
  ">=": (value, target) => value >= target,
  "<=": (value, target) => value <= target,
  ">": (value, target) => value > target,
  "<": (value, target) => value < target,
  "==": (value, target) => value === target,
  "!=": (value, target) => value !== target,
};

/** The last number of an output: `All files | 82.5 %` gives 82.5. */
export function lastNumber(output: string): number | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not numbers
  const plain = output.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "");
  const found = plain.match(/(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi)?.at(-1);
  return found === undefined ? null : Number(found);
}
