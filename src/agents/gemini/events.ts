/** The events of `gemini --output-format stream-json` (0.61.0), reduced to the fields that are read. */
import * as z from "zod";
import { Count, Input, lenient, Text } from "../stream/stream-events.ts";

const Tokens = z.object({ total_tokens: Count, input_tokens: Count, output_tokens: Count, cached: Count });

const Result = z.object({
  type: z.literal("result"),
  status: z.string(),
  error: lenient(z.object({ type: Text, message: Text })),
  /** This run only, also in a resumed conversation. Cached tokens are part of the input. */
  stats: lenient(Tokens.extend({ models: lenient(z.record(z.string(), Tokens)) })),
});
export type GeminiResult = z.infer<typeof Result>;

const ToolUse = z.object({
  type: z.literal("tool_use"),
  tool_name: z.string(),
  tool_id: Text,
  parameters: Input,
});
export type ToolUse = z.infer<typeof ToolUse>;

const GeminiToolResult = z.object({
  type: z.literal("tool_result"),
  tool_id: Text,
  status: Text,
  error: lenient(z.object({ type: Text })),
});
export type GeminiToolResult = z.infer<typeof GeminiToolResult>;

export const GeminiEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("init"), session_id: Text }),
  z.object({ type: z.literal("message"), role: z.string(), content: z.string() }),
  ToolUse,
  GeminiToolResult,
  z.object({ type: z.literal("error"), severity: Text, message: Text }),
  Result,
]);
export type GeminiEvent = z.infer<typeof GeminiEvent>;
