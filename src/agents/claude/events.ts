/** The events of `claude -p --output-format stream-json --verbose` (2.1.325), reduced to the fields that are read. */
import * as z from "zod";
import { Count, Input, lenient, objectLines, parseEvent, Text } from "../stream/stream-events.ts";

const Status = lenient(z.coerce.number().int());

/** A block of a model's answer (text, tool_use) or of the reply to it (tool_result). */
const ContentBlock = z.object({
  type: z.string(),
  text: Text,
  id: Text,
  name: Text,
  input: Input,
  tool_use_id: Text,
  is_error: lenient(z.boolean()),
});
export type ContentBlock = z.infer<typeof ContentBlock>;

const Blocks = z.object({ content: z.array(ContentBlock).catch([]) }).catch({ content: [] });

const SystemEvent = z.object({
  type: z.literal("system"),
  subtype: Text,
  session_id: Text,
  /** permission_denied */
  tool_name: Text,
  /** api_retry */
  error: Text,
  error_status: Status,
});
export type SystemEvent = z.infer<typeof SystemEvent>;

const ModelUsage = z.object({
  costUSD: z.number().nonnegative(),
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  cacheReadInputTokens: z.number().nonnegative().default(0),
  cacheCreationInputTokens: z.number().nonnegative().default(0),
});

const ResultEvent = z.object({
  type: z.literal("result"),
  subtype: Text,
  is_error: z.boolean(),
  result: Text,
  session_id: Text,
  terminal_reason: Text,
  api_error_status: Status,
  errors: lenient(z.array(z.string())),
  permission_denials: lenient(z.array(z.object({ tool_name: z.string() }))),
  total_cost_usd: Count,
  model_usage_since_last_result: lenient(z.record(z.string(), ModelUsage)),
  usage: lenient(
    z.object({
      input_tokens: Count,
      output_tokens: Count,
      cache_creation_input_tokens: Count,
      cache_read_input_tokens: Count,
    }),
  ),
});
export type ResultEvent = z.infer<typeof ResultEvent>;

const ClaudeEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("assistant"),
    message: Blocks,
    /** The tool call that started the speaking sub-agent; null: the main agent. */
    parent_tool_use_id: Text,
    /** The kind of API error that this message reports. */
    error: Text,
  }),
  z.object({ type: z.literal("user"), message: Blocks }),
  SystemEvent,
  z.object({
    type: z.literal("rate_limit_event"),
    rate_limit_info: z.object({ status: z.string(), resetsAt: lenient(z.union([z.number(), z.string()])) }),
  }),
  ResultEvent,
]);
export type ClaudeEvent = z.infer<typeof ClaudeEvent>;

export function parseClaudeEvent(line: string): ClaudeEvent | null {
  // Tool results can be megabytes per line. Only failed ones matter.
  if (line.startsWith('{"type":"user"') && !line.includes('"is_error":true')) return null;
  return parseEvent(ClaudeEvent, line);
}

export function parseClaudeStream(stream: string): readonly ClaudeEvent[] {
  return objectLines(stream).flatMap((line) => parseClaudeEvent(line) ?? []);
}
