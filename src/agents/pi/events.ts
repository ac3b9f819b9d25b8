/** The lines of `pi --mode rpc` (0.73.1, 0.87.1) that driver.ts prints, reduced to the fields that are read. */
import * as z from "zod";
import { Count, Input, lenient, Text } from "../stream/stream-events.ts";

const Usage = z.object({
  input: Count,
  output: Count,
  cacheRead: Count,
  cacheWrite: Count,
  cost: lenient(z.object({ total: Count })),
});

const Message = z.object({
  role: z.string(),
  content: z.array(z.object({ type: z.string(), text: Text })).catch([]),
  model: Text,
  usage: lenient(Usage),
  /** `stop`, `length`, `toolUse`, `error`, `aborted` */
  stopReason: Text,
  errorMessage: Text,
});
export type PiMessage = z.infer<typeof Message>;

export const PiEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("response"),
    /** The driver's request: `begin`, `prompt`, `state`, `stats`. */
    id: Text,
    success: z.boolean().catch(true),
    error: Text,
    /** `cost` covers the whole session. */
    data: lenient(z.object({ sessionId: Text, cost: Count })),
  }),
  z.object({ type: z.literal("message_end"), message: Message }),
  z.object({
    type: z.literal("tool_execution_start"),
    toolCallId: Text,
    toolName: z.string(),
    args: Input,
  }),
  z.object({
    type: z.literal("tool_execution_end"),
    toolCallId: Text,
    isError: lenient(z.boolean()),
  }),
  z.object({ type: z.literal("auto_retry_start"), errorMessage: Text }),
  z.object({ type: z.literal("auto_retry_end"), success: lenient(z.boolean()) }),
  /** `reason`: threshold, overflow, manual. `errorMessage`: compaction failed. */
  z.object({ type: z.literal("compaction_end"), reason: Text, errorMessage: Text }),
  /** An extension asks a person. The driver refuses. */
  z.object({ type: z.literal("extension_ui_request"), method: Text, title: Text }),
  z.object({ type: z.literal("agent_end") }),
]);
export type PiEvent = z.infer<typeof PiEvent>;
