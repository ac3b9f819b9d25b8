/** `--check 'name=command'` and its other forms (B6), and a criterion in words for people. */

import type { Check, Comparison, Criterion, Verification } from "../goal/goal.ts";
import { type ShellPiece, shellPieces } from "../shell/pieces.ts";

export type ParsedCheck =
  | { readonly kind: "ok"; readonly criterion: Criterion }
  | { readonly kind: "wrong"; readonly message: string };

/**
 * `tests=npm test`, `coverage=npm run -s cov >= 80`, `ui=judge: …`, `design=review: …`, `quota=assume: …`.
 * Whether the name is taken is for the caller to know.
 */
export function parseCheckFlag(text: string): ParsedCheck {
  const at = text.indexOf("=");
  if (at === -1) return wrong(`--check '${quote(text)}' has no "="; ${FORM}.`);
  const name = text.slice(0, at).trim();
  if (/[<>!]$/.test(name)) return wrong(missingCommand(text, name));
  const fault = faultOfName(name);
  if (fault !== null) return wrong(`--check '${quote(text)}': ${fault}; ${FORM}.`);
  const check = parseCheck(text.slice(at + 1).trim());
  if (typeof check === "string") return wrong(`--check ${quote(name)}: ${check}.`);
  return { kind: "ok", criterion: { name, check, source: "flag" } };
}

/** What stands after the `=`, or what is wrong with it. */
export function parseCheck(text: string): Check | string {
  if (text === "") return 'there is no command after "="';
  if (text.includes("\0")) return "a command cannot have a NUL character in it";
  const [, kind, rest = ""] = ASKED.exec(text) ?? [];
  if (kind !== undefined) return parseAsked(kind.toLowerCase(), rest.trim());
  return parseCommand(text);
}

/** What is wrong with a criterion's name, as half a sentence; null: nothing. */
export function faultOfName(name: string): string | null {
  if (name === "") return "the name is empty";
  if ([...name].length > MAX_NAME) return `the name has more than ${MAX_NAME} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(name)) return "the name has characters that cannot be seen";
  // names are keys of objects in state.json
  if (name === "__proto__") return "the name __proto__ cannot be used";
  return null;
}

/** A criterion with how it is found out: "tests: `npm test` exits 0". */
export function renderCheck({ name, check }: Pick<Criterion, "name" | "check">): string {
  switch (check.kind) {
    case "command":
      return `${name}: \`${check.command}\` exits 0`;
    case "measure":
      return `${name}: \`${check.command}\` prints a number ${check.comparison} ${check.target}`;
    case "judge":
      return `${name}: a second agent looks (weaker): ${check.question}`;
    case "review":
      return `${name}: a second agent reads the code (weaker): ${check.question}`;
    case "assumption":
      return `${name}: nothing finds out (assumption); it blocks the end`;
  }
}

export function verificationOf(check: Check): Verification {
  return VERIFICATIONS[check.kind];
}

const MAX_NAME = 60;
const FORM = "write --check 'name=command'";
const ASKED = /^(judge|review|assume)\s*:([\s\S]*)$/i;
const NUMBER = /^[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d{1,3})?%?$/i;
const VERIFICATIONS: Readonly<Record<Check["kind"], Verification>> = {
  command: "execution output",
  measure: "measurement",
  judge: "observation",
  review: "code review",
  assumption: "assumption",
};

function parseAsked(kind: string, question: string): Check | string {
  if (kind === "assume") return { kind: "assumption" };
  if (question === "") return `there is no question after "${kind}:"`;
  return kind === "judge" ? { kind: "judge", question } : { kind: "review", question };
}

/**
 * A comparison is the last thing of a command, outside of quotes and brackets, with spaces around it and a number
 * behind it. `> out.txt` is a redirection; `>=` and `<=` mean nothing to a shell, so that one in any other place is
 * a slip that would prove nothing.
 */
function parseCommand(text: string): Check | string {
  const parts = shellPieces(text);
  const redirected = redirectionOfTest(text, parts);
  if (redirected !== null) {
    return `"${redirected}" inside of test or [ ] writes or reads a file instead of comparing; use -gt, -ge, -lt or -le`;
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
    return { kind: "command", command: text };
  }
  const command = text.slice(0, operator.at).trim();
  if (command === "") return `there is no command before "${operator.text}"`;
  return { kind: "measure", command, comparison, target };
}

/** `test 3 > 2` and `[ 3 > 2 ]` make a file named 2 and are always true. */
function redirectionOfTest(text: string, parts: readonly ShellPiece[]): string | null {
  const inner = text.startsWith("[ ") ? shellPieces(text.slice(2)) : parts[0]?.text === "test" ? parts : [];
  const found = inner.find((part) => /^[<>]=?$/.test(part.text) && part.isPlain);
  return found?.text ?? null;
}

function comparisonOf({ text, isPlain }: ShellPiece): Comparison | null {
  if (!isPlain) return null;
  switch (text) {
    case ">=":
    case "<=":
    case ">":
    case "<":
    case "==":
    case "!=":
      return text;
    default:
      return null;
  }
}

function missingCommand(text: string, name: string): string {
  const bare = name.slice(-200).replace(/[<>!\s]+$/, "") || "coverage";
  const target = text.slice(text.indexOf("=") + 1).trim() || "80";
  const sign = `${name.at(-1) ?? ">"}=`;
  return `--check '${quote(text)}' has no command that prints the number; write --check '${quote(bare)}=npm run -s cov ${sign} ${quote(target)}'.`;
}

/** On one line, and short enough for a sentence. */
function quote(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ").trim();
  const letters = [...line];
  return letters.length > 60 ? `${letters.slice(0, 60).join("")}…` : line;
}

function wrong(message: string): ParsedCheck {
  return { kind: "wrong", message };
}
