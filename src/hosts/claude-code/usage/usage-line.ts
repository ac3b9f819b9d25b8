/** Reads the usage from one line of a transcript. Most lines have none. */
import type { UsageEntry } from "../../../core/cost/ledger.ts";
import { countOf, type Fields, isFields, parseFields } from "../../conversation/fields.ts";

export interface TranscriptUsage {
  readonly entry: UsageEntry;
  readonly isSidechain: boolean;
}

/** The model name of messages that the client itself wrote, for example about API errors. */
const SYNTHETIC = "<synthetic>";

export function parseTranscriptLine(text: string): TranscriptUsage | null {
  const line = parseFields(text);
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
    isSidechain: line.isSidechain === true,
    entry: {
      kind: "usage",
      id: ids.length === 0 ? String(line.uuid) : ids.join(":"),
      at,
      session: line.sessionId,
      model,
      inputTokens: countOf(usage, "input_tokens"),
      outputTokens: countOf(usage, "output_tokens"),
      cacheReadTokens: countOf(usage, "cache_read_input_tokens"),
      cacheWriteTokens: countOf(usage, "cache_creation_input_tokens"),
    },
  };
}

/** The timestamp of a line; null: it has none. */
export function timeOfLine(text: string): number | null {
  return timeOf(parseFields(text) ?? {});
}

function timeOf({ timestamp }: Fields): number | null {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return at >= 0 ? at : null;
}
