/**
 * What an agent's last message claims: a status block (B10), a sentinel (D5) or a verdict (C6). All three are words,
 * never facts, and they count only if the agent says them itself, bare, with the nonce of this very turn.
 *
 * 1. What is shown (code, quotes, comments, output of tools) or said of them in a sentence claims nothing.
 * 2. Text that the engine injects claims nothing when it is echoed: it has placeholders where values belong.
 * 3. In doubt it is no claim. A refused claim costs a turn; one that nobody made can end a loop.
 * 4. Any text is read in a time that grows with its length, and nothing is thrown.
 */

import type { Claims, Report } from "../goal/goal.ts";
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

/** A judge's, reviewer's or evaluator's word. `none` is no PASS, and its reason says what was wrong with it. */
export interface ParsedVerdict {
  readonly kind: "pass" | "reject" | "none";
  readonly reason: string | null;
}

const MAX_REASON = 1000;
const NONE: Report = { kind: "none" };

/** What the last message of an agent claims. */
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

/** A judge's, reviewer's or evaluator's word on one question. */
export function parseVerdict(message: string, expected: { readonly nonce: string }): ParsedVerdict {
  if (!message.includes("<verdict")) return { kind: "none", reason: "It gave no verdict." };
  const text = readOwnLines(message);
  const said = (word: string) =>
    text.lines.some((line, index) => isLine(line, verdict(expected.nonce, word)) && text.startsOwn(index));
  const [pass, reject] = [said("PASS"), said("REJECT")];
  if (expected.nonce === "" || (!pass && !reject)) {
    return {
      kind: "none",
      reason: "Its verdict is not alone on a plain line with the nonce of this turn.",
    };
  }
  if (pass && reject) return { kind: "none", reason: "It said both PASS and REJECT." };
  return { kind: pass ? "pass" : "reject", reason: rejectionReason(text) };
}

/** Would any part of a text that we inject count if an agent repeated it? Prompts are checked with this. */
export function countsIfEchoed(text: string, nonce: string): boolean {
  const tags = [promise(nonce), verdict(nonce, "PASS"), verdict(nonce, "REJECT")];
  if (tags.some((tag) => text.includes(tag))) return true;
  let block: string[] | null = null;
  for (const line of splitLines(text)) {
    // A part may begin in the middle of a line, and end there.
    if (trimSpace(line).endsWith(START)) block = [];
    else if (block !== null && line.startsWith(END)) {
      if (parseBlock(block, { nonce, criteria: [] }).kind === "valid") return true;
      block = null;
    } else if (block !== null && trimSpace(line) !== "") block.push(line);
  }
  return false;
}

/** What a prompt shows of the status block. It can not be mistaken for one. */
export function statusTemplate(nonce: string, criteria: readonly string[], withChecks: boolean): string {
  const met = criteria.map((name) => `${JSON.stringify(name)}: <true or false>`).join(", ");
  return [
    `Nonce of this turn: ${nonce}`,
    START,
    "NONCE: <the nonce of this turn>",
    "EXIT_SIGNAL: <true or false>",
    ...(criteria.length === 0 ? [] : [`CRITERIA: {${met}}`]),
    "STUCK_COUNT: <how many turns in a row got nowhere>",
    "STEP: <done or open>",
    'STEPS: <a JSON list of all steps that remain, ["…", "…"]; only if the plan changes>',
    ...(withChecks ? ['CHECKS: <a JSON list of the checks that you propose, ["name=command"]>'] : []),
    "NEXT: <what comes next, in one line>",
    END,
  ].join("\n");
}

/** What a prompt shows of a verdict. It can not be mistaken for one. */
export function verdictTemplate(nonce: string): string {
  return `${verdict(nonce, "<PASS or REJECT>")}\n<rejection_reason><why, if it is REJECT></rejection_reason>`;
}

/** The last block counts. Others with its nonce must say the same: an agent that says two things says nothing. */
function settle(blocks: readonly Block[], last: Block, expected: Expected): Report {
  const isOfTurn = (block: Block) => hasNonce(block, expected.nonce);
  const words = last.join("\n");
  if (isOfTurn(last) && blocks.some((block) => isOfTurn(block) && block.join("\n") !== words)) {
    return voided("there are two blocks of this turn that differ");
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

/** A paragraph of its own at the very end: the line may be the rest of "I am not done and will not say". */
function promises({ lines, startsOwn }: OwnLines, nonce: string): boolean {
  const last = lines.findLastIndex((line) => trimSpace(line) !== "");
  const line = lines[last];
  if (line === undefined || nonce === "" || !isLine(line, promise(nonce)) || !startsOwn(last)) return false;
  return trimSpace(lines[last - 1] ?? "") === "";
}

/** For the agent that means it and puts it where nothing counts: it is told so. */
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

/** Nothing but this on the line, from its first column. */
function isLine(line: string, text: string): boolean {
  return line.startsWith(text) && trimSpace(line.slice(text.length)) === "";
}

const REASON = "<rejection_reason>";

/** The last one that stands outside code and quotes, with all that is in it. */
function rejectionReason({ lines, opensOwn }: OwnLines): string | null {
  const first = lines.findLastIndex((line, index) => line.includes(REASON) && opensOwn(index));
  if (first === -1) return null;
  const after = lines.slice(first).join("\n");
  const from = after.indexOf(REASON) + REASON.length;
  const to = after.indexOf("</rejection_reason>", from);
  const reason = tidyLine(after.slice(from, to === -1 ? undefined : to), MAX_REASON);
  return reason === "" || isPlaceholder(reason) ? null : reason;
}
