/**
 * Parses the payload of Claude Code's hooks. Command hooks send JSON on stdin. Tool hooks send strings: unknown fields
 * are empty and objects are JSON text. Both give the same result. The input is untrusted.
 */
import * as z from "zod";

export const HOOK_EVENTS = [
  "Stop",
  "StopFailure",
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "Notification",
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

export interface HookPayload {
  readonly event: HookEvent;
  readonly session: string;
  readonly promptId: string;
  readonly transcript: string | null;
  readonly cwd: string;
  /** Set for a sub-agent of the conversation. */
  readonly agentId: string;
  /** UserPromptSubmit: the typed text. */
  readonly prompt: string;
  /** Stop: the agent's last message. */
  readonly answer: string;
  /** SessionStart: startup, resume, fork, clear, compact; SessionEnd: the reason. */
  readonly source: string;
  /** StopFailure: the error class; PostToolUseFailure: the tool's output. */
  readonly error: string;
  readonly errorDetails: string;
  readonly tool: string;
  readonly toolUseId: string;
  readonly toolInput: unknown;
  readonly toolResponse: unknown;
  readonly durationMs: number | null;
}

const Text = z
  .string()
  .optional()
  .catch(undefined)
  .transform((text) => text ?? "");
const Loose = z.unknown().optional();

const raw = z.object({
  hook_event_name: Text,
  session_id: Text,
  prompt_id: Text,
  transcript_path: Text,
  cwd: Text,
  agent_id: Text,
  prompt: Text,
  last_assistant_message: Text,
  source: Text,
  reason: Text,
  error: Text,
  error_details: Text,
  tool_name: Text,
  tool_use_id: Text,
  tool_input: Loose,
  tool_response: Loose,
  duration_ms: Loose,
});

/** null: not an event that we answer. */
export function parsePayload(input: unknown): HookPayload | null {
  const parsed = raw.safeParse(input);
  if (!parsed.success) return null;
  const { data } = parsed;
  const event = HOOK_EVENTS.find((name) => name === data.hook_event_name);
  if (event === undefined) return null;
  return {
    event,
    session: data.session_id,
    promptId: data.prompt_id,
    transcript: data.transcript_path === "" ? null : data.transcript_path,
    cwd: data.cwd,
    agentId: data.agent_id,
    prompt: data.prompt,
    answer: data.last_assistant_message,
    source: data.source === "" ? data.reason : data.source,
    error: data.error,
    errorDetails: data.error_details,
    tool: data.tool_name,
    toolUseId: data.tool_use_id,
    toolInput: unpack(data.tool_input),
    toolResponse: unpack(data.tool_response),
    durationMs: toMillis(data.duration_ms),
  };
}

function toMillis(value: unknown): number | null {
  const isText = typeof value === "string" && value.trim() !== "";
  const millis = isText || typeof value === "number" ? Number(value) : Number.NaN;
  return Number.isFinite(millis) ? millis : null;
}

/** Tool hooks send objects as JSON text. */
function unpack(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
