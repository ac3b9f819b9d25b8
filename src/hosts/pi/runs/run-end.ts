/** Reads the result of a run from the messages of `agent_end`. The messages are untrusted. */
import type { Usage } from "../../../core/base.ts";
import { countOf, type Fields, fieldOf, isFields, textOf } from "../../conversation/fields.ts";

export interface RunEnd {
  /** `length`: the answer was too long and was cut. */
  readonly kind: "ok" | "aborted" | "error" | "length";
  /** The agent's last message. */
  readonly answer: string;
  /** The error text of the provider's library; empty: no error. */
  readonly error: string;
  readonly usage: Usage | null;
  readonly toolCalls: number;
  /** The number of writes for each file. */
  readonly edits: Readonly<Record<string, number>>;
}

/** One answer of the model, for the ledger. */
interface Answered {
  readonly at: number;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number;
}

/** The messages of a run and its retries: the last result counts. null: the agent sent no message, not even an error. */
export function parseRunEnd(messages: readonly unknown[]): RunEnd | null {
  const said = saidIn(messages);
  const last = said.at(-1);
  if (last === undefined) return null;
  const calls = said.flatMap(partsOf).filter(({ type }) => type === "toolCall");
  return {
    kind: BROKEN_OFF.find((kind) => kind === last.stopReason) ?? "ok",
    answer: partsOf(last)
      .filter(({ type }) => type === "text")
      .map((part) => textOf(part, "text"))
      .join("\n"),
    error: textOf(last, "errorMessage"),
    usage: usageOf(answersIn(said)),
    toolCalls: calls.length,
    edits: countEdits(calls),
  };
}

const BROKEN_OFF = ["aborted", "error", "length"] as const;

export function parseAnswers(messages: readonly unknown[]): readonly Answered[] {
  return answersIn(saidIn(messages));
}

/** The messages of the agent. */
function saidIn(messages: readonly unknown[]): readonly Fields[] {
  return messages.filter(isFields).filter(({ role }) => role === "assistant");
}

function answersIn(said: readonly Fields[]): readonly Answered[] {
  return said
    .map((message) => ({
      at: countOf(message, "timestamp"),
      model: textOf(message, "model"),
      inputTokens: countOf(message.usage, "input"),
      outputTokens: countOf(message.usage, "output"),
      cacheReadTokens: countOf(message.usage, "cacheRead"),
      cacheWriteTokens: countOf(message.usage, "cacheWrite"),
      costUsd: countOf(fieldOf(message.usage, "cost"), "total"),
    }))
    .filter(
      ({ inputTokens, outputTokens, cacheReadTokens }) => inputTokens + outputTokens + cacheReadTokens > 0,
    );
}

function usageOf(answers: readonly Answered[]): Usage | null {
  if (answers.length === 0) return null;
  const sum = (of: (answer: Answered) => number) => answers.reduce((total, answer) => total + of(answer), 0);
  const costUsd = sum((answer) => answer.costUsd);
  const cacheReadTokens = sum((answer) => answer.cacheReadTokens);
  const cacheWriteTokens = sum((answer) => answer.cacheWriteTokens);
  return {
    // 0 means that pi knows no price for the model
    costUsd: costUsd === 0 ? null : costUsd,
    inputTokens: sum((answer) => answer.inputTokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: sum((answer) => answer.outputTokens),
    model: answers.at(-1)?.model ?? "",
    cacheReadTokens,
    cacheWriteTokens,
  };
}

const WRITING = new Set(["edit", "write"]);

function countEdits(calls: readonly Fields[]): Readonly<Record<string, number>> {
  const edits: Record<string, number> = {};
  for (const call of calls) {
    const path = textOf(call.arguments, "path");
    if (WRITING.has(textOf(call, "name")) && path !== "") edits[path] = (edits[path] ?? 0) + 1;
  }
  return edits;
}

function partsOf({ content }: Fields): readonly Fields[] {
  return Array.isArray(content) ? content.filter(isFields) : [];
}
