/** The events of `opencode run --format json` (1.18.33), reduced to the fields that are read. */
import * as z from "zod";
import { Count, Input, lenient, Text } from "../stream/stream-events.ts";

const ToolPart = z.object({
  tool: z.string(),
  state: z.object({ status: Text, input: Input, error: Text }),
});
export type ToolPart = z.infer<typeof ToolPart>;

const StepPart = z.object({
  /** `stop`; `tool-calls`: stopped before the end; `length`, `content-filter`, … */
  reason: Text,
  /** This step only. Cached tokens are not part of the input. */
  cost: Count,
  tokens: lenient(
    z.object({
      input: Count,
      output: Count,
      reasoning: Count,
      cache: lenient(z.object({ read: Count, write: Count })),
    }),
  ),
});
export type StepPart = z.infer<typeof StepPart>;

const ErrorInfo = z.object({
  name: Text,
  data: lenient(z.object({ message: Text, statusCode: Count, responseHeaders: Input })),
});
export type ErrorInfo = z.infer<typeof ErrorInfo>;

const session = { sessionID: Text, timestamp: Count };
export const OpencodeEvent = z.discriminatedUnion("type", [
  z.object({ ...session, type: z.literal("step_start") }),
  z.object({ ...session, type: z.literal("text"), part: z.object({ text: z.string() }) }),
  z.object({ ...session, type: z.literal("tool_use"), part: ToolPart }),
  z.object({ ...session, type: z.literal("step_finish"), part: StepPart }),
  z.object({ ...session, type: z.literal("error"), error: ErrorInfo }),
]);
export type OpencodeEvent = z.infer<typeof OpencodeEvent>;
