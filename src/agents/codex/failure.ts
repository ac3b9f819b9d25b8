/** Why a turn of codex failed (B13): from the recorded kind, or from the codes in the printed error. */
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import { foldLine } from "../display.ts";
import { makeFailure } from "../process/reasons.ts";
import { classOfHttpStatus } from "../stream/stream-events.ts";
import type { Rollout } from "./rollout.ts";

/** Kinds that decide the class. For all other kinds the HTTP status decides. */
const KINDS: ReadonlyMap<string, FailureClass> = new Map([
  ["usage_limit_exceeded", "quota"],
  ["context_window_exceeded", "overflow"],
  ["session_budget_exceeded", "timeout"],
  ["server_overloaded", "outage"],
  ["internal_server_error", "outage"],
  ["unauthorized", "auth"],
  ["sandbox_error", "denied"],
]);

const OF_CONNECTION: ReadonlySet<string> = new Set([
  "http_connection_failed",
  "response_stream_connection_failed",
  "response_stream_disconnected",
  "response_too_many_failed_attempts",
]);

/** `rollout` is null when codex recorded nothing. */
export function classifyCodexFailure(message: string, rollout: Rollout | null): Failure {
  const type = classOf(message, rollout?.error ?? null);
  const resetsAt = type === "quota" ? (rollout?.resetsAt ?? null) : null;
  return makeFailure(type, `codex: ${foldLine(message)}`, resetsAt);
}

function classOf(message: string, error: Rollout["error"]): FailureClass {
  const known = KINDS.get(error?.kind ?? "");
  if (known !== undefined) return known;
  const status = error?.status ?? statusIn(message);
  if (status !== null) return classOfHttpStatus(status);
  if (OF_CONNECTION.has(error?.kind ?? "")) return "outage";
  return codeIn(message) === "context_length_exceeded" ? "overflow" : "fault";
}

/** Two errors of codex start with a status. */
function statusIn(message: string): number | null {
  const status = /^(?:unexpected status |exceeded retry limit, last status: )(\d{3})\b/.exec(message)?.[1];
  return status === undefined ? null : Number(status);
}

/** For an invalid request the message is the body of the response. */
function codeIn(message: string): string | null {
  try {
    const code = (JSON.parse(message) as { error?: { code?: unknown } } | null)?.error?.code;
    return typeof code === "string" ? code : null;
  } catch {
    return null;
  }
}
