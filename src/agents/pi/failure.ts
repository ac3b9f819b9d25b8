/** Why a turn of pi failed (B13). pi exits with 0; its last message has `stopReason: "error"`. */
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import { foldLine } from "../display.ts";
import { makeFailure } from "../process/reasons.ts";
import { classOfHttpStatus } from "../stream/stream-events.ts";
import type { PiEvent, PiMessage } from "./events.ts";

/** null: no failure found. */
export function classifyPiFailure(events: readonly PiEvent[]): Failure | null {
  const refused = events.find(
    (event) => event.type === "response" && event.id === "prompt" && !event.success,
  );
  // no model or no key: only a person can fix it
  if (refused?.type === "response")
    return makeFailure("auth", `pi: ${foldLine(refused.error ?? "the prompt was refused")}`);
  const last = events.findLast((event) => event.type === "message_end")?.message;
  if (last?.stopReason === "length") return makeFailure("timeout", "pi: the answer reached its length limit");
  if (last?.stopReason === "aborted") return makeFailure("fault", `pi: ${wordsOf(last)}`);
  return last?.stopReason === "error" ? makeFailure(classOf(last, events), `pi: ${wordsOf(last)}`) : null;
}

/** An API error after which pi retries by itself. */
export function classifyPiRetry(errorMessage: string): Failure {
  const type = classOfHttpStatus(statusIn(errorMessage));
  return makeFailure(type, `pi retries: ${foldLine(errorMessage)}`);
}

function classOf({ errorMessage }: PiMessage, events: readonly PiEvent[]): FailureClass {
  const last = events.findLast((event) => event.type === "compaction_end");
  if (last?.reason === "overflow" && last.errorMessage) return "overflow";
  const status = statusIn(errorMessage ?? "");
  if (status !== null) return classOfHttpStatus(status);
  // pi retries only errors that may pass
  return events.some((event) => event.type === "auto_retry_end" && event.success === false)
    ? "outage"
    : "fault";
}

/** API clients start their errors with the status: `429 …`, `500: {…}`. */
function statusIn(message: string): number | null {
  const status = /^([45]\d\d)[ :]/.exec(message)?.[1];
  return status === undefined ? null : Number(status);
}

function wordsOf({ errorMessage, stopReason }: PiMessage): string {
  return foldLine(errorMessage || stopReason || "error");
}
