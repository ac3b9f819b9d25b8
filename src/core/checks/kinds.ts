/** The table of kinds of checks. Only this file knows all kinds: a new kind is a row here and a member of `Check`. */
import { renderDuration } from "../task/interval.ts";
import { JUDGE, REVIEW } from "./asked.ts";
import { ASSUMPTION } from "./assumption.ts";
import type { Check, CheckKind, CheckOf, Criterion, Evidence, Verdict, Verification } from "./check.ts";
import { COMMAND, MEASURE } from "./command.ts";
import type { AgentRun, CheckRun, KindOfCheck } from "./kind.ts";

/** From the strongest to the weakest. */
const KINDS: { readonly [K in CheckKind]: KindOfCheck<CheckOf<K>> } = {
  command: COMMAND,
  measure: MEASURE,
  judge: JUDGE,
  review: REVIEW,
  assumption: ASSUMPTION,
};

/** The only way to a row: a row accepts only checks of its kind, and the compiler does not see this. */
export function kindOf({ kind }: Check): KindOfCheck {
  return KINDS[kind];
}

const ROWS: readonly KindOfCheck[] = Object.values(KINDS);

/** Parses the text after `name=`. A string says what is wrong. */
export function parseCheck(text: string): Check | string {
  if (text === "") return 'there is no command after "="';
  if (text.includes("\0")) return "a command cannot have a NUL character in it";
  // Forms that begin with a word come first. Any text is a command, so this row comes last.
  for (const row of ROWS.toReversed()) {
    const found = row.parse(text);
    if (found !== null) return found;
  }
  return "this is not a check";
}

export function runOf(check: Check): CheckRun {
  return kindOf(check).run(check);
}

/** The command that the engine runs; null: none. */
export function commandOf(check: Check): string | null {
  const run = runOf(check);
  return run.kind === "command" ? run.command : null;
}

export function commandsOfChecks(criteria: readonly Pick<Criterion, "check">[]): readonly string[] {
  return criteria.flatMap(({ check }) => commandOf(check) ?? []);
}

/** The question to an agent; null: none. */
export function questionOf(check: Check): AgentRun | null {
  const run = runOf(check);
  return run.kind === "ask" ? run : null;
}

/** What a person must trust if the criterion comes from a file of the repository; null: nothing runs. */
export function renderTrusted(
  criterion: Criterion,
): { readonly name: string; readonly command: string } | null {
  const { name, check } = criterion;
  const run = runOf(check);
  switch (run.kind) {
    case "command":
      return { name: run.wanted === null ? name : `${name} ${run.wanted}`, command: run.command };
    case "ask":
      return { name, command: `${run.as}: ${run.question}` };
    case "nothing":
      return null;
  }
}

/** "tests: `npm test` exits 0". */
export function renderCheck({ name, check }: Pick<Criterion, "name" | "check">): string {
  return `${name}: ${kindOf(check).describe(check)}`;
}

export function renderDemand(check: Check): string {
  return kindOf(check).demand(check);
}

/** The command or question, for a table cell. */
export function renderBareCheck(check: Check): string {
  const run = runOf(check);
  switch (run.kind) {
    case "command":
      return run.wanted === null ? run.command : `${run.command} ${run.wanted}`;
    case "ask":
      return run.question;
    case "nothing":
      return "nothing";
  }
}

export function renderFinding({ check }: Criterion, evidence: Evidence | null): string {
  if (evidence === null) return "never checked";
  if (evidence.timedOut) return `ran out of time after ${renderDuration(evidence.durationMs)}`;
  return kindOf(check).renderFinding(check, evidence);
}

export function verificationOf(check: Check): Verification {
  return kindOf(check).verification;
}

export const VERIFICATIONS: readonly Verification[] = ROWS.map(({ verification }) => verification);

/** An agent looked, and no command ran (B6). */
export function isWeak(verification: Verification): boolean {
  return ROWS.some((row) => row.verification === verification && row.isWeaker);
}

/** A command ran, and its exit code or its number counted. */
export function isRunOrMeasured(verification: Verification): boolean {
  return ROWS.some((row) => row.verification === verification && !row.isWeaker && row.blocks === null);
}

export function bestVerdict(criteria: readonly Pick<Criterion, "check">[]): Verdict {
  const allowed = criteria.map(({ check }) => kindOf(check).atMost);
  if (allowed.length === 0 || allowed.includes("RESEARCH")) return "RESEARCH";
  return allowed.includes("MONITOR") ? "MONITOR" : "SHIP";
}

/** The kind that a word of SHAPE.md names; null: none. */
export function kindOfWord(word: string): KindOfCheck | null {
  return ROWS.find(({ shape }) => shape.words.test(word.trim())) ?? null;
}
