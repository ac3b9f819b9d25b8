/** Why a turn of Claude Code failed (B13), from kinds and codes. Its words only go into the reason. */
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import type { Conversation } from "../../ports/agent.ts";
import { foldLine } from "../display.ts";
import { makeFailure } from "../process/reasons.ts";
import type { ClaudeEvent, ResultEvent, SystemEvent } from "./events.ts";

/** The client's kinds of API errors. For all other kinds the HTTP status decides. */
export const CLAUDE_KINDS: ReadonlyMap<string, FailureClass> = new Map([
  ["rate_limit", "quota"],
  ["overloaded", "outage"],
  // also means no connection
  ["server_error", "outage"],
  ["authentication_failed", "auth"],
  ["oauth_org_not_allowed", "auth"],
  ["cloud_credential_error", "auth"],
  // only a person can fix these, at the account
  ["account_on_hold", "auth"],
  ["verification_required", "auth"],
  ["billing_error", "auth"],
]);

/** The turn used up its limit of turns or money. */
const USED_UP: ReadonlySet<string> = new Set([
  "error_max_turns",
  "max_turns",
  "error_max_budget_usd",
  "budget_exhausted",
]);

/** For a turn whose last `result` is a failure. `resumed`: the conversation that was resumed. */
export function classifyFailure(
  result: ResultEvent,
  events: readonly ClaudeEvent[],
  resumed: Conversation | null,
): Failure {
  const type = classOf(result, events, resumed);
  return makeFailure(type, describeResult(result), type === "quota" ? resetOf(events) : null);
}

/** An API error after which the client retries by itself. */
export function classifyRetry(event: SystemEvent): Failure {
  const type = classOfApiError(event.error ?? null, event.error_status ?? null);
  const status = event.error_status == null ? "" : ` ${event.error_status}`;
  return makeFailure(type, `claude retries: ${(event.error ?? "error").replaceAll("_", " ")}${status}`);
}

/** The conversation is gone or unreadable: the client ended before it began. */
export function isUnresumable(
  result: ResultEvent,
  events: readonly ClaudeEvent[],
  resumed: Conversation | null,
): boolean {
  const hasBegun = events.some((event) => event.type === "system" && event.subtype === "init");
  return resumed !== null && !hasBegun && result.subtype === "error_during_execution";
}

function classOf(
  result: ResultEvent,
  events: readonly ClaudeEvent[],
  resumed: Conversation | null,
): FailureClass {
  // a fresh conversation helps in both cases
  if (result.terminal_reason === "prompt_too_long" || isUnresumable(result, events, resumed))
    return "overflow";
  if (USED_UP.has(result.subtype ?? "") || USED_UP.has(result.terminal_reason ?? "")) return "timeout";
  if (result.terminal_reason === "api_error" || result.api_error_status != null) {
    const type = classOfApiError(lastError(events), result.api_error_status ?? null);
    if (type !== "fault") return type;
  }
  return (result.permission_denials ?? []).length > 0 ? "denied" : "fault";
}

function classOfApiError(kind: string | null, status: number | null): FailureClass {
  const known = CLAUDE_KINDS.get(kind ?? "");
  if (known !== undefined) return known;
  if (status === null) return "outage"; // nobody answered
  if (status === 429) return "quota";
  if (status === 401 || status === 402 || status === 403) return "auth";
  return status === 408 || status >= 500 ? "outage" : "fault";
}

function lastError(events: readonly ClaudeEvent[]): string | null {
  const last = events.findLast((event) => event.type === "assistant" && event.parent_tool_use_id == null);
  return last?.type === "assistant" ? (last.error ?? null) : null;
}

function resetOf(events: readonly ClaudeEvent[]): number | null {
  const limits = events.flatMap((event) =>
    event.type === "rate_limit_event" ? [event.rate_limit_info] : [],
  );
  return parseMoment(limits.findLast(({ status }) => status === "rejected")?.resetsAt ?? null);
}

/** Seconds or milliseconds since 1970, or a text with a time zone. Without a time zone the text is ambiguous. */
function parseMoment(moment: number | string | null): number | null {
  if (moment === null || moment === "") return null;
  const count = Number(moment);
  if (Number.isFinite(count)) return count <= 0 ? null : Math.round(count < 1e11 ? count * 1000 : count);
  const isZoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(String(moment));
  const at = isZoned ? Date.parse(String(moment)) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function describeResult(result: ResultEvent): string {
  const { terminal_reason, subtype, api_error_status } = result;
  const kind = terminal_reason ?? (subtype === "success" ? "error" : subtype) ?? "error";
  const status = api_error_status == null ? "" : ` ${api_error_status}`;
  const text = foldLine(result.result || result.errors?.join("; ") || "");
  return `claude: ${kind.replaceAll("_", " ")}${status}${text === "" ? "" : `: ${text}`}`;
}
