/**
 * How clear a spec is (B1), by rules and never by a model: the same words have the same score, offline. A score is
 * only given for words that are there. The example of the rubric's authors, "refactor all API routes to use
 * validation middleware", has 6 here and 7 there: they also count that it is to work, which it does not say.
 */
import { actionsOf, type Clause, readClauses } from "./clauses.ts";
import { constraintsIn, endIn, isWaiver, methodsIn, targetIn } from "./evidence-words.ts";
import { countedSetIn, placesIn } from "./places.ts";
import { contentRuns, isContent, leadingVerb, metricIn } from "./verbs.ts";

export type Dimension = "outcome" | "scope" | "constraints" | "success" | "done";

export interface DimensionScore {
  readonly dimension: Dimension;
  readonly score: 0 | 1 | 2;
  /** What earned it: quotes of the spec, or flags. */
  readonly words: readonly string[];
  /** What would raise it, as a sentence; null at 2. */
  readonly raise: string | null;
}

export interface Score {
  /** 0–10. */
  readonly total: number;
  readonly dimensions: readonly DimensionScore[];
}

/** What was said besides the spec itself. */
export interface Given {
  /** How many `--check`. */
  readonly checks: number;
  /** How many criteria known phrases became. */
  readonly phrases: number;
  /** What stood after `until`. */
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

/** `vague` is not started (B2). */
export function shapeOfScore(total: number): "tool" | "colleague" | "vague" {
  if (total >= TOOL_FROM) return "tool";
  return total >= COLLEAGUE_FROM ? "colleague" : "vague";
}

/** What a person has to answer so that the spec becomes clear, the emptiest dimensions first. */
export function questionsFor(score: Score): string[] {
  const open = score.dimensions.filter((one) => one.score < 2);
  return open.toSorted((a, b) => a.score - b.score).map(({ dimension }) => QUESTIONS[dimension]);
}

const NOTHING: Given = { checks: 0, phrases: 0, until: null, protect: 0 };
const MAX_QUOTES = 3;
const MAX_QUOTE = 80;

const QUESTIONS: Readonly<Record<Dimension, string>> = {
  outcome: "What is different when it is done, as something that can be measured or seen?",
  scope: "Which files, functions or addresses is it about?",
  constraints: "What must stay as it is, and what is not allowed?",
  success: "How is it found out that it works: which commands, which checks by hand?",
  done: "By what can anybody see that it is over: a green command, a merged PR?",
};

const RAISES: Readonly<Record<Dimension, readonly [string, string]>> = {
  outcome: [
    'Say what is to be different, such as "p95 latency <100ms" or "replace moment with date-fns".',
    'Add a target to it, such as "p95 latency <100ms", or what it becomes ("to use zod").',
  ],
  scope: [
    'Name the part of the project, such as "auth", or better the file or address.',
    'Name files, functions or addresses, such as "src/api/users.ts" or "/api/auth/token".',
  ],
  constraints: [
    'Say what is not allowed, such as "No new dependencies", or add --protect.',
    'Be explicit, such as "No new dependencies, under 500 lines", or add --protect.',
  ],
  success: [
    "Say how it is verified: add --check 'tests=npm test' or write \"all tests pass\".",
    'Add a second way to verify it: another --check, or "manual QA".',
  ],
  done: [
    'Say when it is over: add --check, or write "done when the PR is merged to main".',
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
  const target = quotes([...said, ...until], targetIn);
  if (target.length > 0) return [2, target];
  const actions = said.filter(({ kind }) => kind === "action").map(({ text }) => rateAction(text));
  const clear = actions.filter(([score]) => score === 2);
  if (clear.length > 0) return [2, clear.flatMap(([, words]) => words)];
  const some = [...actions.filter(([score]) => score === 1), ...rateStates(said)];
  const words = some.flatMap(([, found]) => found);
  const flags = flagWords(given);
  if (flags.length === 0) return some.length > 0 ? [1, words] : [0, []];
  // A check cannot tell what "make it better" means; words that nobody here can read are not held against it.
  const isReadable = said.some(({ kind }) => kind !== "foreign");
  return some.length > 0 || !isReadable ? [2, [...words, ...flags]] : [1, flags];
}

/** What an action is to lead to. */
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

/** "the login page is broken", "make all tests pass": a state that is to change or to come. */
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

/** What an action is about stands after its verb; in "the login page is slow" the trouble is no part of the project. */
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
  // "all tests pass" beside `--check tests=npm test` says the same thing twice
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

/** Checks are a target, a way to verify and an observable end at once. */
function flagWords({ checks, phrases, until }: Given): string[] {
  const flags = checks > 0 ? [times("--check", checks)] : [];
  return phrases > 0 && until !== null ? [until, ...flags] : flags;
}

function times(flag: string, count: number): string {
  return count === 1 ? flag : `${flag} (${count})`;
}

function quotes(clauses: readonly Clause[], find: (text: string) => string | null): string[] {
  return clauses.flatMap(({ text }) => find(text) ?? []);
}

function shorten(quote: string): string {
  if (quote.length <= MAX_QUOTE) return quote.trim();
  const space = quote.lastIndexOf(" ", MAX_QUOTE);
  return quote.slice(0, space > 20 ? space : MAX_QUOTE).trim();
}
