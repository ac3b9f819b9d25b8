/** Why a turn of opencode failed (B13): from the name and status of its error, or because it stopped too early. */
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import { foldLine } from "../display.ts";
import { makeFailure } from "../process/reasons.ts";
import { classOfHttpStatus } from "../stream/stream-events.ts";
import type { ErrorInfo, OpencodeEvent } from "./events.ts";

const NAMES: ReadonlyMap<string, FailureClass> = new Map([
  ["ProviderAuthError", "auth"],
  ["ContextOverflowError", "overflow"],
  ["MessageOutputLengthError", "timeout"],
]);

/** null: no failure found. */
export function classifyOpencodeFailure(
  events: readonly OpencodeEvent[],
  exitCode: number,
  denied: readonly string[],
): Failure | null {
  const error = events.findLast((event) => event.type === "error");
  if (error !== undefined) return failureOf(error.error, error.timestamp ?? null);
  if (exitCode !== 0) return null;
  const last = events.findLast((event) => event.type === "step_finish");
  // exits with 0 when nobody answers a request for permission
  if (last?.part.reason === "tool-calls" && denied.length > 0)
    return makeFailure(
      "denied",
      `opencode: nobody could answer its request for permission: ${denied.join(", ")}`,
    );
  if (last?.part.reason === "tool-calls")
    return makeFailure("fault", "opencode: it stopped before the turn was complete");
  if (last?.part.reason === "length")
    return makeFailure("timeout", "opencode: the answer reached its length limit");
  return null;
}

function failureOf({ name, data }: ErrorInfo, at: number | null): Failure {
  const status = data?.statusCode ?? null;
  const type = NAMES.get(name ?? "") ?? (name === "APIError" ? classOfHttpStatus(status) : "fault");
  const words = [name ?? "error", status, data?.message].filter((part) => part != null && part !== "");
  return makeFailure(
    type,
    `opencode: ${foldLine(words.join(" "))}`,
    type === "quota" ? resetOf(data, at) : null,
  );
}

/** The header counts seconds from the response. */
function resetOf(data: ErrorInfo["data"], at: number | null): number | null {
  const seconds = Number(data?.responseHeaders?.["retry-after"] ?? Number.NaN);
  return at === null || !(seconds > 0) ? null : at + Math.round(seconds * 1000);
}
