/**
 * Reads the output of a test run with the patterns of the table: how many tests ran and failed, and which. The tested
 * code may print anything, so a reading is a hint and never a proof.
 */
import { cleanLine } from "../text/clean.ts";
import { TEST_OUTPUTS } from "./table.ts";
import type { TestOutput } from "./tool.ts";

export interface FailedTest {
  /** Starts with the file if the output names it: `src/a.test.ts > cart > adds up`. */
  readonly name: string;
  readonly message: string;
}

/** `broken`: the tests could not run (syntax, compiler, collection), or there were none. */
export interface TestReading {
  readonly outcome: "passed" | "failed" | "broken";
  readonly passed?: number;
  readonly failed?: number;
  /** At most 20, each one line and of limited length. */
  readonly failures: readonly FailedTest[];
}

/** null: this is not the output of this runner. */
export function readTestOutput(output: TestOutput, text: string): TestReading | null {
  const figures = readFigures(output, text);
  const broken = output.broken === undefined ? 0 : take(text.matchAll(output.broken), ENOUGH).length;
  if (figures === null && broken === 0) return null;
  const { errors = 0, total, skipped = 0 } = figures ?? {};
  const failed = Math.max(0, (figures?.failed ?? 0) - (output.countsBroken ? broken : 0));
  const isSure = Object.keys(figures ?? {}).length > 0 && failed + errors + broken === 0;
  const failures = isSure ? [] : failuresIn(output, text);
  if (broken > 0 && failed === 0) return { outcome: "broken", failures };
  const told = failed + errors;
  const passed = figures?.passed ?? countPasses(output, text);
  // Errors outside of tests do not count as tests.
  const red = total === undefined ? told : Math.min(told, Math.max(0, total - (passed ?? 0) - skipped));
  const green = passed ?? (total === undefined ? undefined : Math.max(0, total - red - skipped));
  return {
    outcome: told + failures.length === 0 ? "passed" : "failed",
    failed: told === 0 ? failures.length : red,
    failures,
    ...(green === undefined ? {} : { passed: green }),
  };
}

function countPasses({ passes }: TestOutput, text: string): number | undefined {
  return (passes === undefined ? 0 : [...text.matchAll(passes)].length) || undefined;
}

/**
 * How many tests ran; null: unknown. Tested code may end the process or leave out tests with exit code 0, and only the
 * number shows it. Several summaries (workspaces, crates) are added up.
 */
export function countTests(text: string): number | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes colours
  const plain = text.slice(-20_000).replaceAll(/\u001b\[[0-9;]*m/g, "");
  for (const [, output] of TEST_OUTPUTS) {
    const figures = output.isRedOnly ? null : readFigures(output, plain);
    const { total, passed, failed, errors, other } = figures ?? {};
    const counts = [passed, failed, errors, other].flatMap((count) => count ?? []);
    if (total !== undefined) return total;
    if (counts.length > 0) return counts.reduce((sum, count) => sum + count, 0);
  }
  return null;
}

type Figure = "passed" | "failed" | "errors" | "skipped" | "other" | "total";
type Figures = Partial<Record<Figure, number>>;

/** Words of the runners. A number in parentheses at the end is the total. */
const WORDS: readonly (readonly [Figure, RegExp])[] = [
  ["passed", /^(?:pass(?:ed|ing)?|succeeded)$/],
  ["failed", /^(?:fail(?:ed|ing|ures?)?|cancelled|timed out|unexpected successes)$/],
  ["errors", /^errors?$/],
  ["skipped", /^(?:skipped|pending|incomplete|expected failures)$/],
  ["other", /^x(?:failed|passed)$/],
  ["total", /^(?:total(?: tests)?|tests?(?: run| completed)?|examples?)$/],
];
const NUMBER_FIRST = /(\d+) (timed out|tests? (?:run|completed)|[a-z]+)/gi;
const WORD_FIRST = /([a-z]+(?: [a-z]+)?)(?:: *|=| )(\d+)/gi;

/** null: no summary. Empty: a summary without figures. */
function readFigures({ summary }: TestOutput, text: string): Figures | null {
  let figures: Figures | null = null;
  for (const [line] of text.matchAll(summary)) {
    figures ??= {};
    const numbered = [...line.matchAll(NUMBER_FIRST)].map(([, count, word]) => [word, count] as const);
    const named = [...line.matchAll(WORD_FIRST)].map(([, word, count]) => [word, count] as const);
    const found = numbered.some(([word]) => figureOf(word) !== undefined) ? numbered : named;
    const [, all] = /\((\d+)\)\s*$/.exec(line) ?? [];
    for (const [word, count] of [...found, ...(all === undefined ? [] : [["total", all] as const])]) {
      const figure = figureOf(word);
      if (figure !== undefined) figures[figure] = (figures[figure] ?? 0) + Number(count);
    }
  }
  return figures;
}

function figureOf(word = ""): Figure | undefined {
  return WORDS.find(([, pattern]) => pattern.test(word.toLowerCase()))?.[0];
}

/** A limit, because the time grows with the square of the number. */
const ENOUGH = 60;
const MAX_FAILURES = 20;
const MAX_NAME = 200;
const MAX_MESSAGE = 300;

function failuresIn({ failures, around }: TestOutput, text: string): FailedTest[] {
  for (const pattern of failures) {
    const found = take(text.matchAll(pattern), ENOUGH);
    if (found.length > 0) return tidy(found.map((match, i) => failureOf(text, match, found[i - 1], around)));
  }
  return [];
}

function take<T>(items: Iterable<T>, count: number): T[] {
  const taken: T[] = [];
  for (const item of items) {
    taken.push(item);
    if (taken.length >= count) break;
  }
  return taken;
}

function failureOf(
  text: string,
  match: RegExpExecArray,
  before: RegExpExecArray | undefined,
  around: RegExp | undefined,
): FailedTest {
  const { name = "", test, file, message: own = "" } = match.groups ?? {};
  const end = match.index + match[0].length;
  const told = around === undefined ? {} : toldAround(text, around, endOf(before), end);
  const whole = test === undefined || name.endsWith(test) ? name : `${name}.${test}`;
  const titles = whole.replaceAll(/\n\s+/g, " › ");
  const above = told.message ?? "";
  const said = [own, own === above ? "" : above].filter((part) => part !== "").join(": ");
  const from = name === "" ? end : match.index + match[0].indexOf(name) + name.length;
  const message = said === "" ? messageAfter(text, from) : said;
  return {
    name: withFile(titles, file ?? told.file),
    // A file could not be loaded: the reason is at the top of the output.
    message: WHOLE_FILE.test(message) ? (LOAD_ERROR.exec(text)?.[1] ?? message) : message,
  };
}

const WHOLE_FILE = /^'?test failed'?$/;
const LOAD_ERROR = /^(?:# )?((?:Uncaught )?\w*Error\b[^:\n]*: .*)$/m;

function endOf(match: RegExpExecArray | undefined): number {
  return match === undefined ? 0 : match.index + match[0].length;
}

const LOOK_BACK = 20_000;

interface Told {
  file?: string;
  message?: string;
}

/** The last file above, and the last message since the previous failure. */
function toldAround(text: string, around: RegExp, start: number, end: number): Told {
  const from = Math.max(0, end - LOOK_BACK);
  const told: Told = {};
  for (const { groups = {}, index } of text.slice(from, end).matchAll(around)) {
    if (groups.file !== undefined) told.file = groups.file;
    if (groups.message !== undefined && from + index >= start) told.message = groups.message;
  }
  return told;
}

function withFile(name: string, file: string | undefined): string {
  if (file === undefined || file === name) return name;
  if (name === "" || name.endsWith(`/${file}`)) return file;
  return `${file}${name.includes(" › ") ? " › " : " > "}${name}`;
}

const MESSAGE_LETTERS = 4_000;
const MESSAGE_LINES = 4;
/** Rulers, stacks and code. */
const EMPTY_LINE =
  /^\s*$|^[\s=⎯─_-]+$|^\s*(?:at |❯ |File "|Traceback|\d+ ?\||> ?\d+ ?\||\||\^|note:|#|Failure\/Error:|Error Message:)/;
const ERROR_LINE = /^\s*(?:E +)?[A-Za-z_][\w.:]*(?:Error|Exception|Failure|Warning|Timeout)\b/;
const NEXT_FAILURE =
  /^(?: ?FAIL\b| {2}● |\s{1,8}\d+\) |(?:FAIL|ERROR|FAILED|PASS):? |test at |not ok |ok |={3,} |\s*(?:Tests|Test Files|Errors) {2,})/;

/** The most useful lines below a failure, from the error on. */
function messageAfter(text: string, from: number): string {
  const lines = text
    .slice(from, from + MESSAGE_LETTERS)
    .split("\n")
    .slice(1);
  const next = lines.findIndex((line) => NEXT_FAILURE.test(line));
  const own = next === -1 ? lines : lines.slice(0, next);
  const telling = own.findIndex((line) => ERROR_LINE.test(line));
  const kept: string[] = [];
  for (const line of own.slice(Math.max(0, telling))) {
    if (EMPTY_LINE.test(line)) {
      if (kept.length > 0) break;
    } else kept.push(line.trim());
    if (kept.length >= MESSAGE_LINES) break;
  }
  return kept.join(" ");
}

/** Removes duplicates, cleans the texts and limits their number. */
export function tidy(failures: readonly FailedTest[]): FailedTest[] {
  const byName = new Map<string, FailedTest>();
  for (const failure of failures) {
    const name = cut(cleanLine(failure.name), MAX_NAME);
    const message = cut(cleanLine(failure.message), MAX_MESSAGE);
    if (name === "" || (byName.get(name)?.message ?? "") !== "") continue;
    byName.set(name, { name, message });
  }
  return [...byName.values()].slice(0, MAX_FAILURES);
}

/** Never ends with half a letter. */
function cut(text: string, letters: number): string {
  if (text.length <= letters) return text;
  return `${text.slice(0, letters - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
