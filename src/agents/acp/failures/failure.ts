/** Decides how a turn ended, from kinds, codes and numbers. The agent's words only go into the reason. */
import * as z from "zod";
import type { Failure, FailureClass } from "../../../core/goal/goal.ts";
import { foldLine } from "../../display.ts";
import { describeError, makeFailure } from "../../process/reasons.ts";
import { classOfHttpStatus, lenient, numberIn, Text } from "../../stream/stream-events.ts";
import { type PromptResult, readSessionFailure } from "../connection/messages.ts";
import { PeerGone, PeerSilent } from "../connection/peer.ts";
import type { AcpProfile } from "../profiles.ts";
import type { AcpTurnRecord } from "../record.ts";
import { AUTH_REQUIRED, classOfKind, classOfSessionFailure } from "./failure-class.ts";

const RequestError = z.object({
  code: z.number(),
  message: z.string().catch(""),
  data: lenient(z.object({ errorKind: Text, errorName: Text, details: Text })),
});

const STOPS: ReadonlyMap<string, readonly [FailureClass, string]> = new Map([
  ["max_tokens", ["overflow", "the model reached its token limit"]],
  ["max_turn_requests", ["timeout", "the agent reached its limit of model requests"]],
  ["refusal", ["fault", "the model refused"]],
  ["cancelled", ["fault", "the agent cancelled the turn by itself"]],
]);

/** What an agent records about an error outside the protocol. */
export interface Cause {
  readonly kind: string | null;
  readonly status: number | null;
}

/** null: no failure. */
export function failureOfResult(
  profile: AcpProfile,
  result: PromptResult,
  record: AcpTurnRecord,
  hasUsage: boolean,
): Failure | null {
  const typed = readSessionFailure(result._meta);
  if (typed !== null && typed.severity !== "warning") {
    const type = classOfSessionFailure(typed);
    return fail(profile, type, typed.title ?? typed.category, type === "quota" ? record.resetsAt : null);
  }
  const { denials } = record.activity();
  const isDenied =
    denials.length > 0 && (profile.afterDenial === "ends" || result.stopReason === "cancelled");
  if (isDenied) return fail(profile, "denied", `no permission to use ${denials.join(", ")}`);
  if (result.stopReason !== "end_turn") {
    const other = ["fault", `the agent ended the turn with ${JSON.stringify(result.stopReason)}`] as const;
    return fail(profile, ...(STOPS.get(result.stopReason) ?? other));
  }
  const mark = profile.errorMark;
  if ((profile.usageProves && !hasUsage) || (mark !== undefined && record.lastChunk.startsWith(mark)))
    return fail(profile, "outage", foldLine(record.lastChunk) || "no model answered");
  if (!record.hasSaid && !record.hasCalled())
    return fail(profile, "fault", withNotice("the agent ended the turn without an answer", record));
  return null;
}

function withNotice(reason: string, { lastNotice }: AcpTurnRecord): string {
  return lastNotice === null ? reason : `${reason}: ${lastNotice}`;
}

/** For an error that the agent reported in words only. */
export function withCause(failure: Failure, { kind, status }: Cause): Failure {
  const type = classOfKind(kind ?? "") ?? (status === null ? null : classOfHttpStatus(status));
  return type === null ? failure : makeFailure(type, failure.reason, failure.resetsAt);
}

/** For a request that failed or got no answer. `status`: found elsewhere; null: unknown. */
export function failureOfError(
  profile: AcpProfile,
  error: unknown,
  record: AcpTurnRecord | null,
  status: number | null = null,
): Failure {
  if (error instanceof PeerGone) return fail(profile, "fault", error.message);
  if (error instanceof PeerSilent) return fail(profile, "outage", error.message);
  const parsed = RequestError.safeParse(error);
  if (!parsed.success) return fail(profile, "fault", describeError(error));
  const { code, message, data } = parsed.data;
  const known = status ?? statusIn(profile, code, data?.details ?? null);
  const type =
    classOfKind(data?.errorKind ?? "") ??
    classOfKind(data?.errorName ?? "") ??
    (code === AUTH_REQUIRED ? "auth" : known === null ? "fault" : classOfHttpStatus(known));
  const text = [known === null ? "" : String(known), foldLine(message), foldLine(data?.details ?? "")];
  const reason = text.filter((part) => part !== "").join(": ");
  return fail(profile, type, reason, type === "quota" ? (record?.resetsAt ?? null) : null);
}

/** Would the HTTP status decide the class? */
export function needsStatus(failure: Failure, error: unknown): boolean {
  return failure.class === "fault" && RequestError.safeParse(error).success;
}

function statusIn(profile: AcpProfile, code: number, details: string | null): number | null {
  if (profile.status !== "none" && code >= 400 && code < 600) return code;
  // "401 Incorrect API key": the vendor's library puts the status first
  return profile.status === "details" ? numberIn(/^([45]\d\d)\b/, details ?? "") : null;
}

function fail(
  profile: AcpProfile,
  type: FailureClass,
  reason: string,
  resetsAt: number | null = null,
): Failure {
  return makeFailure(type, `${profile.name}: ${reason}`, resetsAt);
}
