/** A judge's word as JSON, from agents whose last message can be held to a schema. It counts as the tag does (C6). */
import { type ParsedVerdict, parseVerdict } from "./claims.ts";
import { tidyLine } from "./tidy.ts";

const MAX_REASON = 1000;

/** For `Turn.answerSchema`. Agents differ in what they take of JSON Schema: nothing optional, nothing open. */
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

/** Either form. JSON has to be the whole message, with the nonce of this turn: what is only quoted is no verdict. */
export function parseJudgement(message: string, expected: { readonly nonce: string }): ParsedVerdict {
  return parseJsonVerdict(message.trim(), expected.nonce) ?? parseVerdict(message, expected);
}

/** null: it is not of this form. */
function parseJsonVerdict(text: string, nonce: string): ParsedVerdict | null {
  if (!text.startsWith("{") || !text.endsWith("}")) return null;
  const said = readObject(text);
  if (said === null || Object.keys(said).sort().join() !== "nonce,reason,verdict") return null;
  if (typeof said.reason !== "string") return null;
  const reason = tidyLine(said.reason, MAX_REASON) || null;
  if (nonce === "" || said.nonce !== nonce)
    return { kind: "none", reason: "Its verdict does not have the nonce of this turn." };
  // of two values for one key the last would win
  if ((text.match(/(?<!\\)"verdict"\s*:/g) ?? []).length !== 1)
    return { kind: "none", reason: "It gave two verdicts." };
  if (said.verdict === "PASS") return { kind: "pass", reason };
  return said.verdict === "REJECT" ? { kind: "reject", reason } : null;
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}
