/**
 * Parses the claims in an agent's last message: a status block (B10), a sentinel (D5) or a verdict (C6). Claims are never
 * facts. A claim counts only as the agent's own plain text with the nonce of this turn.
 *
 * 1. Code, quotes, comments, tool output and sentences about a claim are not claims.
 * 2. An echo of text that the engine injects is not a claim: the text has placeholders instead of values.
 * 3. In doubt, a text is not a claim. A refused claim costs a turn; a false claim can end a loop.
 * 4. Parsing takes linear time and never throws.
 */
import type { Claims, Report } from "../goal/goal.ts";
import { isRecord, parseJson } from "../json.ts";
import { type OwnLines, readOwnLines, splitLines } from "./own-lines.ts";
import {
  type Block,
  END,
  type Expected,
  findBlocks,
  hasNonce,
  isPlaceholder,
  parseBlock,
  START,
  voided,
} from "./status-block.ts";
import { tidyLine, trimSpace } from "./tidy.ts";

/** The verdict of a judge, reviewer or evaluator. `none` is not a PASS; its reason says what is wrong. */
export interface ParsedVerdict {
  readonly kind: "pass" | "reject" | "none";
  readonly reason: string | null;
}

const MAX_REASON = 1000;
const NONE: Report = { kind: "none" };

export function parseClaims(message: string, expected: Expected): Report {
  if (![START, END, "<promise "].some((sign) => message.includes(sign))) return NONE;
  const text = readOwnLines(message);
  const blocks = findBlocks(text);
  if ("kind" in blocks) return blocks;
  const last = blocks.at(-1);
  if (last !== undefined) return settle(blocks, last, expected);
  if (promises(text, expected.nonce)) return { kind: "valid", claims: PROMISED };
  return showsBlock(text, expected.nonce)
    ? voided("it is indented or inside code, a quote or a tag; write it as plain text after an empty line")
    : NONE;
}

export function parseVerdict(message: string, expected: { readonly nonce: string }): ParsedVerdict {
  if (!message.includes("<verdict")) return noVerdict("It gave no verdict.");
  const text = readOwnLines(message);
  const said = (word: string) =>
    text.lines.some((line, index) => isLine(line, verdict(expected.nonce, word)) && text.startsOwn(index));
  const [pass, reject] = [said("PASS"), said("REJECT")];
  if (expected.nonce === "" || (!pass && !reject)) {
    return noVerdict("Its verdict is not alone on a plain line with the nonce of this turn.");
  }
  if (pass && reject) return noVerdict("It said both PASS and REJECT.");
  return { kind: pass ? "pass" : "reject", reason: rejectionReason(text) };
}

function noVerdict(reason: string): ParsedVerdict {
  return { kind: "none", reason };
}

/** The verdict as JSON, for `Turn.answerSchema`. Agents support different parts of JSON Schema, so nothing is optional. */
export const VERDICT_SCHEMA: object = {
  type: "object",
  properties: {
    nonce: { type: "string", description: "the nonce of this turn, as in the verdict tag of the task" },
    reason: { type: "string", description: "what you looked at and what you saw; for REJECT: why" },
    verdict: { type: "string", enum: ["PASS", "REJECT"] },
  },
  required: ["nonce", "reason", "verdict"],
  additionalProperties: false,
};

/** Parses either form. JSON must be the whole message, so that a quote is not a verdict. */
export function parseJudgement(message: string, expected: { readonly nonce: string }): ParsedVerdict {
  return parseJsonVerdict(message.trim(), expected.nonce) ?? parseVerdict(message, expected);
}

function parseJsonVerdict(text: string, nonce: string): ParsedVerdict | null {
  const said = parseJson(text);
  if (!isRecord(said) || Object.keys(said).sort().join() !== "nonce,reason,verdict") return null;
  if (typeof said.reason !== "string") return null;
  const reason = tidyLine(said.reason, MAX_REASON) || null;
  if (nonce === "" || said.nonce !== nonce)
    return noVerdict("Its verdict does not have the nonce of this turn.");
  // JSON.parse keeps the last of two equal keys
  if ((text.match(/(?<!\\)"verdict"\s*:/g) ?? []).length !== 1) return noVerdict("It gave two verdicts.");
  if (said.verdict === "PASS") return { kind: "pass", reason };
  return said.verdict === "REJECT" ? { kind: "reject", reason } : null;
}

/** Whether an echo of any part of an injected text would count as a claim. Tests check all prompts with this. */
export function countsIfEchoed(text: string, nonce: string): boolean {
  const tags = [promise(nonce), verdict(nonce, "PASS"), verdict(nonce, "REJECT")];
  if (tags.some((tag) => text.includes(tag))) return true;
  let block: string[] | null = null;
  for (const line of splitLines(text)) {
    // A part may begin or end in the middle of a line.
    if (trimSpace(line).endsWith(START)) block = [];
    else if (block !== null && line.startsWith(END)) {
      if (parseBlock(block, { nonce, criteria: [] }).kind === "valid") return true;
      block = null;
    } else if (block !== null && trimSpace(line) !== "") block.push(line);
  }
  return false;
}

/** The status block as a prompt shows it. The parser does not accept the template. */
export function statusTemplate(nonce: string, criteria: readonly string[], withChecks: boolean): string {
  const met = criteria.map((name) => `${JSON.stringify(name)}: <true or false>`).join(", ");
  return [
    `Nonce of this turn: ${nonce}`,
    START,
    "NONCE: <the nonce of this turn>",
    "EXIT_SIGNAL: <true or false>",
    ...(criteria.length === 0 ? [] : [`CRITERIA: {${met}}`]),
    "STUCK_COUNT: <how many turns in a row made no progress>",
    "STEP: <done or open>",
    'STEPS: <a JSON list of all steps that remain, ["…", "…"]; only if the plan changes>',
    ...(withChecks ? ['CHECKS: <a JSON list of the checks that you propose, ["name=command"]>'] : []),
    "NEXT: <what comes next, in one line>",
    END,
  ].join("\n");
}

/** The verdict as a prompt shows it. The parser does not accept the template. */
export function verdictTemplate(nonce: string): string {
  return `${verdict(nonce, "<PASS or REJECT>")}\n<rejection_reason><why, if it is REJECT></rejection_reason>`;
}

/** The last block counts. Other blocks with the same nonce must be equal, or none counts. */
function settle(blocks: readonly Block[], last: Block, expected: Expected): Report {
  const isOfTurn = (block: Block) => hasNonce(block, expected.nonce);
  const words = last.join("\n");
  if (isOfTurn(last) && blocks.some((block) => isOfTurn(block) && block.join("\n") !== words)) {
    return voided("two blocks of this turn differ");
  }
  return parseBlock(last, expected);
}

const PROMISED: Claims = {
  exitSignal: true,
  criteria: {},
  stuckCount: null,
  next: null,
  steps: null,
  checks: null,
  stepDone: true,
};

/** The sentinel must be its own last paragraph: otherwise it may be the rest of "I am not done and will not say". */
function promises({ lines, startsOwn }: OwnLines, nonce: string): boolean {
  const last = lines.findLastIndex((line) => trimSpace(line) !== "");
  const line = lines[last];
  if (line === undefined || nonce === "" || !isLine(line, promise(nonce)) || !startsOwn(last)) return false;
  return trimSpace(lines[last - 1] ?? "") === "";
}

/** Whether a block of this turn is in a place where it does not count, so that the agent can be told. */
function showsBlock({ lines }: OwnLines, nonce: string): boolean {
  const bare = lines.map((line) => trimSpace(line.replace(/^[\s>]+/, "")));
  return nonce !== "" && bare.includes(START) && hasNonce(bare, nonce);
}

function promise(nonce: string): string {
  return `<promise nonce="${nonce}">COMPLETE</promise>`;
}

function verdict(nonce: string, word: string): string {
  return `<verdict nonce="${nonce}">${word}</verdict>`;
}

/** Whether the line is exactly this text, from the first column. */
function isLine(line: string, text: string): boolean {
  return line.startsWith(text) && trimSpace(line.slice(text.length)) === "";
}

const REASON = "<rejection_reason>";

/** The whole last reason outside code and quotes. */
function rejectionReason({ lines, opensOwn }: OwnLines): string | null {
  const first = lines.findLastIndex((line, index) => line.includes(REASON) && opensOwn(index));
  if (first === -1) return null;
  const after = lines.slice(first).join("\n");
  const from = after.indexOf(REASON) + REASON.length;
  const to = after.indexOf("</rejection_reason>", from);
  const reason = tidyLine(after.slice(from, to === -1 ? undefined : to), MAX_REASON);
  return reason === "" || isPlaceholder(reason) ? null : reason;
}
