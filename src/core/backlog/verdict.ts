/**
 * What the evaluator says about an attempt (C6). A verdict counts only when it is clear: a missing verdict, two
 * different verdicts, a quoted one and one with another nonce all count as no verdict.
 */
import { parseVerdict } from "../claims/claims.ts";
import { cleanLine, cleanText } from "../text/clean.ts";
import { count } from "../text/figures.ts";
import { cutTo } from "../text/width.ts";
import type { Attempt, AttemptJob, Backlog, ToolVerdict } from "./backlog.ts";

/** The tool that an evaluator calls instead of writing a tag. */
export const VERDICT_TOOL = "loop_verdict";

export type SaidVerdict = NonNullable<Attempt["verdict"]>;

const MAX_REASON = 1_000;

/** The evaluator's verdict, by tool or by tag. */
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
  if ((passes && rejects) || hasBoth(answer ?? "", nonce))
    return { kind: "none", reason: "the evaluator said both PASS and REJECT" };
  if (!passes && !rejects) return { kind: "none", reason: whyNone(answer, tag.reason, tools) };
  if (passes) return { kind: "pass", reason: null };
  const told = calls.findLast(({ reason }) => reason !== null && cleanLine(reason) !== "")?.reason;
  return { kind: "reject", reason: shortReason(told ?? (tag.kind === "reject" ? tag.reason : null)) };
}

/** Adds a call of the tool. Only the last PASS and the last REJECT stay, so that calls cannot fill the journal. */
export function addVerdict(
  { verdicts = [] }: Pick<AttemptJob, "verdicts">,
  { nonce, verdict, reason }: ToolVerdict,
): readonly ToolVerdict[] {
  const said = shortReason(reason) || null;
  return [...verdicts.filter((other) => other.verdict !== verdict), { nonce, verdict, reason: said }];
}

function shortReason(reason: string | null): string | null {
  return reason === null ? null : cutTo(cleanLine(reason), MAX_REASON);
}

/** The verdicts that the tool recorded in the turn of this job. */
export function toolVerdictsOf({ attempts }: Backlog, id: AttemptJob["id"]): readonly ToolVerdict[] {
  return attempts.find(({ job }) => job?.id === id)?.job?.verdicts ?? [];
}

/** The parser says "none" for two valid tags, too. Without the PASS tag it then finds the REJECT tag. */
function hasBoth(message: string, nonce: string): boolean {
  if (parseVerdict(message, { nonce }).kind !== "none") return false;
  const rest = message.replaceAll(`<verdict nonce="${nonce}">PASS</verdict>`, "-");
  return parseVerdict(rest, { nonce }).kind === "reject";
}

function whyNone(answer: string | null, reason: string | null, tools: readonly ToolVerdict[]): string {
  if (tools.length > 0) return "the evaluator gave its verdict with a nonce that does not belong to its turn";
  if (answer === null || answer.trim() === "") return "the evaluator said nothing";
  if (reason === null || !answer.includes("<verdict")) return "the evaluator gave no verdict";
  return `the evaluator gave no verdict that counts: ${cleanLine(reason).replace(/[.;\s]+$/, "")}`;
}

/** A failing check of a story, for the prompt of the next attempt. */
export interface FailingCheck {
  readonly name: string;
  /** What the check demands, as Markdown; null: only its name is known. */
  readonly demand: string | null;
  readonly result: string;
  /** The last part of its output. */
  readonly tail: string;
}

const MAX_ANALYSIS_LINES = 300;

/** The result of `explore` that a machine can check: the file exists and is short. `text` null: no such file. */
export function outcomeOfAnalysis(text: string | null): { readonly met: boolean; readonly result: string } {
  if (text === null) return { met: false, result: "the file does not exist" };
  if (text.trim() === "") return { met: false, result: "the file is empty" };
  const lines = text.replace(/\n+$/, "").split("\n").length;
  return { met: lines < MAX_ANALYSIS_LINES, result: `the file has ${count(lines, "line")}` };
}

/** Shorter criteria consist of words that can occur anywhere. */
const MIN_HIDDEN_LETTERS = 12;

/** Removes criteria that the generator must not know (C15), however they are broken into lines. */
export function hideHoldouts(text: string, holdouts: readonly string[]): string {
  const hidden = holdouts.map(cleanLine).filter((one) => one.length >= MIN_HIDDEN_LETTERS);
  if (hidden.length === 0) return text;
  const longestFirst = hidden.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, one) => rest.replaceAll(anyLayout(one), "[hidden]"), cleanText(text));
}

function anyLayout(line: string): RegExp {
  const words = line.split(" ").map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(words.join("\\s+"), "giu");
}
