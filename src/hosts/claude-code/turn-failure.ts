/** Maps the client's API error classes to our failure classes (B13). Reads structured fields only. */
import { makeFailure } from "../../agents/process/reasons.ts";
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import type { HookPayload } from "./hooks/payload.ts";

const CLASSES: ReadonlyMap<string, FailureClass> = new Map(
  Object.entries({
    server_error: "outage",
    overloaded: "outage",
    unknown: "outage",
    rate_limit: "quota",
    authentication_failed: "auth",
    oauth_org_not_allowed: "auth",
    account_on_hold: "auth",
    verification_required: "auth",
    billing_error: "auth",
    cloud_credential_error: "auth",
    model_not_found: "auth",
    invalid_request: "fault",
    max_output_tokens: "fault",
  }),
);

export function claudeFailureOf({ error, errorDetails }: HookPayload): Failure {
  const isTooLong = error === "invalid_request" && /"message":\s*"prompt is too long/.test(errorDetails);
  const type = isTooLong ? "overflow" : (CLASSES.get(error) ?? "outage");
  return makeFailure(type, `the client's request failed: ${error === "" ? "unknown" : error}`);
}
