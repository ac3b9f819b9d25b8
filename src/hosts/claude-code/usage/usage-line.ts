/** Reads the usage from one line of a transcript. Most lines have none. */
import type { UsageEntry } from "../../../core/cost/ledger.ts";

export interface TranscriptUsage {
  readonly kind: "answer";
  readonly entry: UsageEntry;
  readonly isSidechain: boolean;
}

/** The model name of messages that the client itself wrote, for example about API errors. */
const SYNTHETIC = "<synthetic>";

export function parseTranscriptLine(
  text: string,
): TranscriptUsage | { readonly kind: "cost"; readonly costUsd: number } | null {
  const line = parseObject(text);
  if (line?.type === "cost-state") {
    const { totalCostUSD } = line;
    return typeof totalCostUSD === "number" && totalCostUSD >= 0
      ? { kind: "cost", costUsd: totalCostUSD }
      : null;
  }
  if (line?.type !== "assistant" || !isFields(line.message)) return null;
  const { id, model, usage } = line.message;
  if (!isFields(usage) || typeof model !== "string" || model === SYNTHETIC) return null;
  const at = timeOf(line);
  const ids = [id, line.requestId].filter((part) => typeof part === "string" && part !== "");
  if (
    at === null ||
    typeof line.sessionId !== "string" ||
    (ids.length === 0 && typeof line.uuid !== "string")
  )
    return null;
  return {
    kind: "answer",
    isSidechain: line.isSidechain === true,
    entry: {
      kind: "usage",
      id: ids.length === 0 ? String(line.uuid) : ids.join(":"),
      at,
      session: line.sessionId,
      model,
      inputTokens: amount(usage.input_tokens),
      outputTokens: amount(usage.output_tokens),
      cacheReadTokens: amount(usage.cache_read_input_tokens),
      cacheWriteTokens: amount(usage.cache_creation_input_tokens),
    },
  };
}

/** The timestamp of a line; null: it has none. */
export function timeOfLine(text: string): number | null {
  return timeOf(parseObject(text) ?? {});
}

type Fields = Partial<Record<string, unknown>>;

function timeOf({ timestamp }: Fields): number | null {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return at >= 0 ? at : null;
}

function parseObject(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
