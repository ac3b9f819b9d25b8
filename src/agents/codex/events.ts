/** The events of `codex exec --json` (0.166.0), reduced to the fields that are read. */
import * as z from "zod";
import { Count, lenient, Text } from "../stream/stream-events.ts";

const Item = z.object({
  id: Text,
  type: z.string(),
  /** agent_message */
  text: Text,
  /** command_execution; `declined`: not allowed to run */
  command: Text,
  status: Text,
  /** file_change */
  changes: lenient(z.array(z.object({ path: z.string() }))),
  /** mcp_tool_call, collab_tool_call */
  server: Text,
  tool: Text,
  /** web_search */
  query: Text,
});
export type CodexItem = z.infer<typeof Item>;

/** Totals of the whole thread, including earlier runs. Cached tokens are part of the input. */
export const CodexTokens = z.object({
  input_tokens: z.number().nonnegative(),
  cached_input_tokens: Count,
  output_tokens: z.number().nonnegative(),
});
export type CodexTokens = z.infer<typeof CodexTokens>;

export const CodexEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("thread.started"), thread_id: z.string() }),
  z.object({ type: z.literal("item.started"), item: Item }),
  z.object({ type: z.literal("item.completed"), item: Item }),
  z.object({ type: z.literal("turn.completed"), usage: lenient(CodexTokens) }),
  z.object({ type: z.literal("turn.failed"), error: z.object({ message: z.string() }) }),
  /** A failed attempt, or a repetition of `turn.failed`. */
  z.object({ type: z.literal("error"), message: z.string() }),
]);
export type CodexEvent = z.infer<typeof CodexEvent>;
