/** A verdict as JSON, from agents that support an answer schema. It counts like the verdict tag (C6). */
import { isRecord, parseJson } from "../json.ts";
import { type ParsedVerdict, parseVerdict } from "./claims.ts";
import { tidyLine } from "./tidy.ts";

const MAX_REASON = 1000;

/** For `Turn.answerSchema`. Agents support different parts of JSON Schema, so nothing is optional. */
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
    return { kind: "none", reason: "Its verdict does not have the nonce of this turn." };
  // JSON.parse keeps the last of two equal keys
  if ((text.match(/(?<!\\)"verdict"\s*:/g) ?? []).length !== 1)
    return { kind: "none", reason: "It gave two verdicts." };
  if (said.verdict === "PASS") return { kind: "pass", reason };
  return said.verdict === "REJECT" ? { kind: "reject", reason } : null;
}
