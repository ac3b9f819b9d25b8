/** The failure class (B13) of each code that agents and vendors use. */
import type { FailureClass } from "../../../core/goal/goal.ts";
import { CLAUDE_KINDS } from "../../claude/failure.ts";
import type { SessionFailure } from "../connection/messages.ts";

/** `data.errorKind` of Claude, `data.errorName` of opencode, `errorType` of Copilot. */
const KINDS: ReadonlyMap<string, FailureClass> = new Map<string, FailureClass>([
  ...CLAUDE_KINDS,
  // a fresh conversation helps
  ["max_output_tokens", "overflow"],
  ["prompt_too_long", "overflow"],
  ["ProviderAuthError", "auth"],
  ["ContextOverflowError", "overflow"],
  ["MessageOutputLengthError", "overflow"],
  ["quota", "quota"],
  ["authentication", "auth"],
  ["authorization", "auth"],
  ["policy", "auth"],
  ["context_limit", "overflow"],
]);

/** The protocol's code for "authentication required". */
export const AUTH_REQUIRED = -32000;

export function classOfKind(kind: string): FailureClass | null {
  return KINDS.get(kind) ?? null;
}

/** A limit that a new session does not have is the limit of the context. */
export function classOfSessionFailure({ category, actions }: SessionFailure): FailureClass {
  if (category === "access") return "auth";
  if (category === "connection" || category === "service") return "outage";
  if (category === "limit") return actions?.includes("new_session") ? "overflow" : "quota";
  return "fault";
}
