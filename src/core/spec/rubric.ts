/**
 * Scores how clear a spec is (B1). Rules decide, not a model: the same words always get the same score, offline. Only
 * words in the spec score. The rubric's example "refactor all API routes to use validation middleware" gets 6 here, not
 * 7, because it does not say that the result must work.
 */
import { actionsOf, type Clause, readClauses } from "./clauses.ts";
import { constraintsIn, endIn, isWaiver, methodsIn, targetIn } from "./evidence-words.ts";
import { countedSetIn, placesIn } from "./places.ts";
import { contentRuns, isContent, leadingVerb, metricIn } from "./verbs.ts";

export type Dimension = "outcome" | "scope" | "constraints" | "success" | "done";

export interface DimensionScore {
  readonly dimension: Dimension;
  readonly score: 0 | 1 | 2;
  /** The words or flags that earned the score. */
  readonly words: readonly string[];
  /** How to raise the score, as a sentence; null at 2. */
  readonly raise: string | null;
}

export interface Score {
  /** 0–10. */
  readonly total: number;
  readonly dimensions: readonly DimensionScore[];
}

/** What the person gave besides the spec. */
export interface Given {
  /** How many `--check`. */
  readonly checks: number;
  /** How many criteria came from phrases. */
  readonly phrases: number;
  /** The words after `until`. */
  readonly until: string | null;
  /** How many `--protect`. */
  readonly protect: number;
}

export const TOOL_FROM = 8;
export const COLLEAGUE_FROM = 5;

export function scoreSpec(spec: string, given: Given = NOTHING): Score {
  const clauses = readClauses(spec.trim() === given.until?.trim() ? "" : spec);
  const until = given.until === null ? [] : readClauses(given.until);
  const dimensions = [
    rate("outcome", scoreOutcome(clauses, until, given)),
    rate("scope", scoreScope(clauses)),
    rate("constraints", scoreConstraints(clauses, given)),
    rate("success", scoreSuccess([...clauses, ...until], given)),
    rate("done", scoreDone(clauses, until, given)),
  ];
  return { total: dimensions.reduce((sum, { score }) => sum + score, 0), dimensions };
}

/** A `vague` spec is not started (B2). */
export function shapeOfScore(total: number): "tool" | "colleague" | "vague" {
  if (total >= TOOL_FROM) return "tool";
  return total >= COLLEAGUE_FROM ? "colleague" : "vague";
}

/** Questions that make the spec clearer, lowest scores first. */
export function questionsFor(score: Score): string[] {
  const open = score.dimensions.filter((one) => one.score < 2);
  return open.toSorted((a, b) => a.score - b.score).map(({ dimension }) => QUESTIONS[dimension]);
}

const NOTHING: Given = { checks: 0, phrases: 0, until: null, protect: 0 };
const MAX_QUOTES = 3;
const MAX_QUOTE = 80;

const QUESTIONS: Readonly<Record<Dimension, string>> = {
  outcome: "What can be measured or seen when the work is done?",
  scope: "Which files, functions or addresses does the work concern?",
  constraints: "What must not change, and what is not allowed?",
  success: "How do you verify the result: which commands, which manual checks?",
  done: "How can anybody see that the work is finished: a passing command, a merged PR?",
};

const RAISES: Readonly<Record<Dimension, readonly [string, string]>> = {
  outcome: [
    'Say what must change, such as "p95 latency <100ms" or "replace moment with date-fns".',
    'Add a target, such as "p95 latency <100ms", or the result, such as "to use zod".',
  ],
  scope: [
    'Name the part of the project, such as "auth", or better a file or an address.',
    'Name files, functions or addresses, such as "src/api/users.ts" or "/api/auth/token".',
  ],
  constraints: [
    'Say what is not allowed, such as "No new dependencies", or add --protect.',
    'Be explicit, such as "No new dependencies, under 500 lines", or add --protect.',
  ],
  success: [
    "Say how to verify the result: add --check 'tests=npm test' or write \"all tests pass\".",
    'Add a second way to verify the result: another --check, or "manual QA".',
  ],
  done: [
    'Say when the work is finished: add --check, or write "done when the PR is merged to main".',
    'Make the end observable, such as "done when npm test passes" or "PR merged to main".',
  ],
};

type Rating = readonly [score: 0 | 1 | 2, words: readonly string[]];

function rate(dimension: Dimension, [score, found]: Rating): DimensionScore {
  const words = [...new Set(found.map(shorten))].slice(0, MAX_QUOTES);
  return { dimension, score, words, raise: score === 2 ? null : RAISES[dimension][score] };
}

function scoreOutcome(clauses: readonly Clause[], until: readonly Clause[], given: Given): Rating {
  const said = clauses.filter(({ kind }) => kind !== "constraint" && kind !== "code");
  const target = [...said, ...until].flatMap(({ text }) => targetIn(text) ?? []);
  if (target.length > 0) return [2, target];
  const actions = said.filter(({ kind }) => kind === "action").map(({ text }) => rateAction(text));
  const clear = actions.filter(([score]) => score === 2);
  if (clear.length > 0) return [2, clear.flatMap(([, words]) => words)];
  const some = [...actions.filter(([score]) => score === 1), ...rateStates(said)];
  const words = some.flatMap(([, found]) => found);
  const flags = flagWords(given);
  if (flags.length === 0) return some.length > 0 ? [1, words] : [0, []];
  // A check cannot say what "make it better" means. A foreign text is not scored down.
  const isReadable = said.some(({ kind }) => kind !== "foreign");
  return some.length > 0 || !isReadable ? [2, [...words, ...flags]] : [1, flags];
}

function rateAction(text: string): Rating {
  const verb = leadingVerb(text);
  const runs = contentRuns(verb?.object ?? text);
  if (runs.length === 0) return metricIn(text) === null ? [0, []] : [1, [text]];
  const count = runs.join(" ").split(/\s+/).length;
  if (verb === null) return [count >= 3 ? 2 : 1, [text]];
  const [, result = ""] = RESULT.exec(verb.object) ?? [];
  const isSeen = verb.kind === "concrete" && (count >= 3 || isContent(result) || /^\d/.test(result.trim()));
  return isSeen || BEHAVIOUR.test(verb.object) ? [2, [text]] : [1, [text]];
}

const RESULT = /\S\s+(?:to use|to|into|with|using|so that|instead of|as|from)\s+(.+)$/i;
const BEHAVIOUR = /\b(?:so that|such that)\s+\S+\s+\S+|\breturns? (?:a |an )?\d{3}\b/i;

/** States that must change or be reached: "the login page is broken", "make all tests pass". */
function rateStates(clauses: readonly Clause[]): Rating[] {
  return clauses.flatMap(({ kind, text }): Rating[] => {
    if (kind === "success" && /^(?:make|get)\b/i.test(text)) return [[1, [text]]];
    if (kind !== "context") return [];
    return TROUBLE.test(text) && isContent(text.replace(TROUBLE, " ")) ? [[1, [text]]] : [];
  });
}

const TROUBLE =
  /\b(?:broken|fail(?:s|ing|ed)?|crash(?:es|ing|ed)?|wrong|slow|flaky|can(?:no|['’])?t|hangs?|leaks?)\b/i;

function scoreScope(clauses: readonly Clause[]): Rating {
  const about = clauses.filter(({ kind }) => kind !== "constraint" && kind !== "done" && kind !== "success");
  const exact = about.flatMap(({ text }) => placesIn(text));
  if (exact.length > 0) return [2, exact];
  const actions = clauses.filter(({ kind }) => kind === "action");
  const sets = actions.flatMap(({ text }) => countedSetIn(text) ?? []);
  const exactSets = sets.filter(({ isExact }) => isExact);
  if (exactSets.length > 0) return [2, exactSets.map(({ words }) => words)];
  const parts = clauses
    .filter(({ kind, text }) => (kind === "action" || kind === "context") && !isWaiver(text))
    .flatMap(({ text }) => partsOf(text).flatMap(contentRuns).slice(0, 1));
  return parts.length > 0 ? [1, parts] : [0, []];
}

/** The text after the verb. In "the login page is slow", "slow" is not a part of the project. */
function partsOf(text: string): string[] {
  const verb = leadingVerb(text);
  return verb === null ? text.split(TROUBLE) : [verb.object];
}

function scoreConstraints(clauses: readonly Clause[], given: Given): Rating {
  const found = clauses.filter(({ kind }) => kind !== "code").map(constraintsIn);
  const protect = given.protect > 0 ? [times("--protect", given.protect)] : [];
  const explicit = [...protect, ...found.flatMap((one) => one.explicit)];
  if (explicit.length > 0) return [2, explicit];
  const general = found.flatMap((one) => one.general);
  return general.length > 0 ? [1, general] : [0, []];
}

function scoreSuccess(clauses: readonly Clause[], given: Given): Rating {
  const methods = new Map<string, string>();
  for (const clause of clauses) {
    if (clause.kind === "code") continue;
    for (const [method, words] of methodsIn(clause)) if (!methods.has(method)) methods.set(method, words);
  }
  const flags = flagWords(given);
  // "all tests pass" and `--check tests=npm test` mean the same
  if (flags.length > 0) methods.delete("tests");
  const count = given.checks + given.phrases + methods.size;
  return [count >= 2 ? 2 : count === 1 ? 1 : 0, [...flags, ...methods.values()]];
}

function scoreDone(clauses: readonly Clause[], until: readonly Clause[], given: Given): Rating {
  const flags = flagWords(given);
  if (flags.length > 0) return [2, flags];
  const ends = [...clauses, ...until.map(({ text }): Clause => ({ kind: "done", text }))].flatMap(
    (clause) => endIn(clause) ?? [],
  );
  const observable = ends.filter(({ isObservable }) => isObservable);
  if (observable.length > 0) return [2, observable.map(({ words }) => words)];
  const sets = actionsOf(clauses).flatMap(({ text }) => countedSetIn(text)?.words ?? []);
  const vague = [...ends.map(({ words }) => words), ...sets];
  return vague.length > 0 ? [1, vague] : [0, []];
}

/** A check is a target, a way to verify and an observable end. */
function flagWords({ checks, phrases, until }: Given): string[] {
  const flags = checks > 0 ? [times("--check", checks)] : [];
  return phrases > 0 && until !== null ? [until, ...flags] : flags;
}

function times(flag: string, count: number): string {
  return count === 1 ? flag : `${flag} (${count})`;
}

function shorten(quote: string): string {
  if (quote.length <= MAX_QUOTE) return quote.trim();
  const space = quote.lastIndexOf(" ", MAX_QUOTE);
  return quote.slice(0, space > 20 ? space : MAX_QUOTE).trim();
}
