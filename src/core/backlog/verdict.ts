/**
 * What becomes of an attempt (C6, C9).
 *
 * 1. PASS needs all of it: the evaluator's word, every check green, the scope kept. Nothing else passes a story.
 * 2. The evaluator's word counts once and clearly: no verdict, two of them, a quoted one, one with another nonce, all
 *    are REJECT.
 * 3. What nobody evaluates has to be proved by a check: without either, nothing stands behind a PASS.
 * 4. A reason names every cause, and no criterion that is hidden from the generator (C15).
 */
import { renderDemand, renderFinding } from "../checks/kinds.ts";
import { parseVerdict } from "../claims/claims.ts";
import type { Criterion, Evidence } from "../goal/goal.ts";
import { cleanLine, cleanText } from "../text/clean.ts";
import { count } from "../text/figures.ts";
import { tellingLine } from "../text/telling-line.ts";
import { cutTo } from "../text/width.ts";
import type { Attempt, AttemptJob, Backlog, ToolVerdict } from "./backlog.ts";
import type { Scope } from "./scope.ts";

export type { ToolVerdict } from "./backlog.ts";

/** What an evaluator calls instead of writing a tag. */
export const VERDICT_TOOL = "loop_verdict";

export type SaidVerdict = NonNullable<Attempt["verdict"]>;

/** What a check of a story came to, in words. */
export interface CheckOutcome {
  readonly name: string;
  readonly met: boolean;
  /** What it demands, for a reader of Markdown; null: only its name is known. */
  readonly demand: string | null;
  readonly result: string;
  /** The last part of what was printed. */
  readonly tail: string;
}

export interface VerdictFacts {
  /** The evaluator's last message; null: it said nothing. */
  readonly evaluatorAnswer: string | null;
  /** All calls of the tool in this turn. */
  readonly toolVerdicts: readonly ToolVerdict[];
  /** Of the evaluator's turn. */
  readonly nonce: string;
  readonly checks: readonly CheckOutcome[];
  readonly scope: Pick<Scope, "kind" | "text">;
  readonly skipEval: boolean;
  readonly holdouts: readonly string[];
}

export type RejectCause = "evaluator" | "no-verdict" | "check" | "scope" | "unproved";

export type StoryVerdict =
  | { readonly kind: "PASS"; readonly by: "evaluator" | "checks" }
  | {
      readonly kind: "REJECT";
      /** One line. */
      readonly reason: string;
      readonly causes: readonly RejectCause[];
      /** For the prompt of the next attempt. */
      readonly failing: readonly CheckOutcome[];
    };

export function decideVerdict(facts: VerdictFacts): StoryVerdict {
  const failing = facts.checks.filter(({ met }) => !met);
  const faults: { readonly cause: RejectCause; readonly reason: string }[] = [];
  if (facts.skipEval) {
    if (facts.checks.length === 0) faults.push({ cause: "unproved", reason: UNPROVED });
  } else {
    const said = readVerdict(facts.evaluatorAnswer, facts.toolVerdicts, facts.nonce);
    if (said.kind === "none") faults.push({ cause: "no-verdict", reason: said.reason ?? NO_VERDICT });
    if (said.kind === "reject") faults.push({ cause: "evaluator", reason: said.reason ?? NO_REASON });
  }
  for (const check of failing) faults.push({ cause: "check", reason: whyNotMet(check) });
  if (facts.scope.kind === "over") faults.push({ cause: "scope", reason: facts.scope.text });
  if (faults.length === 0) return { kind: "PASS", by: facts.skipEval ? "checks" : "evaluator" };
  const reason = faults.map((fault) => asClause(fault.reason)).join("; ");
  return {
    kind: "REJECT",
    reason: cutTo(hideHoldouts(reason, facts.holdouts), MAX_REASON),
    causes: [...new Set(faults.map(({ cause }) => cause))],
    failing,
  };
}

const MAX_REASON = 2_000;
const UNPROVED = "nobody evaluated it and it has no check, so nothing proves it";
const NO_VERDICT = "the evaluator gave no verdict";
const NO_REASON = "the evaluator rejected it and gave no reason";

/** What the evaluator says, by tool or by tag. Whoever says two things says nothing. */
export function readVerdict(
  answer: string | null,
  tools: readonly ToolVerdict[],
  nonce: string,
): SaidVerdict {
  const tag = parseVerdict(answer ?? "", { nonce });
  const calls = nonce === "" ? [] : tools.filter((call) => call.nonce === nonce);
  const called = (verdict: ToolVerdict["verdict"]) => calls.some((call) => call.verdict === verdict);
  const passes = tag.kind === "pass" || called("PASS");
  const rejects = tag.kind === "reject" || called("REJECT");
  if ((passes && rejects) || hasBoth(answer ?? "", nonce)) return none(BOTH);
  if (!passes && !rejects) return none(whyNone(answer, tag.reason, tools));
  if (passes) return { kind: "pass", reason: null };
  const told = calls.findLast(({ reason }) => reason !== null && cleanLine(reason) !== "")?.reason;
  const reason = told ?? (tag.kind === "reject" ? tag.reason : null);
  return { kind: "reject", reason: reason === null ? null : cutTo(cleanLine(reason), MAX_SAID) };
}

const MAX_SAID = 1_000;

/** With one more call of the tool. Of each word only the last stays: nobody can fill the journal with them. */
export function addVerdict(
  { verdicts = [] }: Pick<AttemptJob, "verdicts">,
  { nonce, verdict, reason }: ToolVerdict,
): readonly ToolVerdict[] {
  const said = reason === null || cleanLine(reason) === "" ? null : cutTo(cleanLine(reason), MAX_SAID);
  return [...verdicts.filter((other) => other.verdict !== verdict), { nonce, verdict, reason: said }];
}

/** What was said through the tool in the turn of this job so far. */
export function toolVerdictsOf({ attempts }: Backlog, id: AttemptJob["id"]): readonly ToolVerdict[] {
  return attempts.find(({ job }) => job?.id === id)?.job?.verdicts ?? [];
}

const BOTH = "the evaluator said both PASS and REJECT";

/** Two tags that both count are no verdict to the parser, as is none at all: without the one, the other shows. */
function hasBoth(message: string, nonce: string): boolean {
  if (parseVerdict(message, { nonce }).kind !== "none") return false;
  const rest = message.replaceAll(`<verdict nonce="${nonce}">PASS</verdict>`, "-");
  return parseVerdict(rest, { nonce }).kind === "reject";
}

function whyNone(answer: string | null, reason: string | null, tools: readonly ToolVerdict[]): string {
  if (tools.length > 0) return "the evaluator gave its verdict with a nonce that is not the one of its turn";
  if (answer === null || answer.trim() === "") return "the evaluator said nothing";
  if (!answer.includes("<verdict")) return NO_VERDICT;
  return reason === null ? NO_VERDICT : `the evaluator gave no verdict that counts: ${asClause(reason)}`;
}

function none(reason: string): SaidVerdict {
  return { kind: "none", reason };
}

/** A check that never ran is not met. */
export function outcomeOf(criterion: Criterion, evidence: Evidence | null): CheckOutcome {
  const note = evidence?.note ? `; ${cleanLine(evidence.note)}` : "";
  return {
    name: criterion.name,
    met: evidence?.met ?? false,
    demand: renderDemand(criterion.check),
    result: `${renderFinding(criterion, evidence)}${note}`,
    tail: evidence?.tail ?? "",
  };
}

export const MAX_ANALYSIS_LINES = 300;

/** What a machine can see of the work of explore: the file is there, and it is short. null: it is not. */
export function outcomeOfAnalysis(path: string, text: string | null): CheckOutcome {
  const lines = text === null ? 0 : text.replace(/\n+$/, "").split("\n").length;
  const isEmpty = text === null || text.trim() === "";
  const result =
    text === null ? "it is not there" : isEmpty ? "it is empty" : `it has ${count(lines, "line")}`;
  return {
    name: "analysis",
    met: !isEmpty && lines < MAX_ANALYSIS_LINES,
    demand: `${cleanLine(path)} has less than ${MAX_ANALYSIS_LINES} lines`,
    result,
    tail: "",
  };
}

function whyNotMet({ name, result, tail }: CheckOutcome): string {
  const line = tellingLine(tail);
  return `${cleanLine(name)} is not met: ${result}${line === "" ? "" : `: ${line}`}`;
}

/** Some parts are sentences, some are half of one. */
function asClause(reason: string): string {
  return cleanLine(reason).replace(/[.;\s]+$/, "");
}

/** Below this many letters a criterion is made of words that may stand anywhere. */
const TELLING = 12;

/** The text without the criteria that the generator does not know of, however they are broken into lines. */
export function hideHoldouts(text: string, holdouts: readonly string[]): string {
  const hidden = holdouts.map(cleanLine).filter((one) => one.length >= TELLING);
  if (hidden.length === 0) return text;
  const longestFirst = hidden.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, one) => rest.replaceAll(anyLayout(one), HIDDEN), cleanText(text));
}

const HIDDEN = "[hidden]";

function anyLayout(line: string): RegExp {
  const words = line.split(" ").map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(words.join("\\s+"), "giu");
}
