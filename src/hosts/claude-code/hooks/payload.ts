/**
 * Parses the payload of Claude Code's hooks. Command hooks send JSON on stdin. Tool hooks send strings: unknown fields
 * are empty and objects are JSON text. Both give the same result. The input is untrusted.
 */
import { fieldOf, textOf } from "../../conversation/fields.ts";

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

/** null: not an event that we answer. */
export function parsePayload(input: unknown): HookPayload | null {
  const text = (key: string) => textOf(input, key);
  const event = HOOK_EVENTS.find((name) => name === text("hook_event_name"));
  if (event === undefined) return null;
  return {
    event,
    session: text("session_id"),
    promptId: text("prompt_id"),
    transcript: text("transcript_path") || null,
    cwd: text("cwd"),
    agentId: text("agent_id"),
    prompt: text("prompt"),
    answer: text("last_assistant_message"),
    source: text("source") || text("reason"),
    error: text("error"),
    errorDetails: text("error_details"),
    tool: text("tool_name"),
    toolUseId: text("tool_use_id"),
    toolInput: unpack(fieldOf(input, "tool_input")),
    toolResponse: unpack(fieldOf(input, "tool_response")),
    durationMs: toMillis(fieldOf(input, "duration_ms")),
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
