/** Why a turn of pi failed (B13): it ends with 0 all the same, and its last message says `stopReason: "error"`. */
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import { foldLine } from "../display.ts";
import { makeFailure } from "../process/reasons.ts";
import { classOfHttpStatus } from "../stream/stream-events.ts";
import type { PiEvent, PiMessage } from "./events.ts";

/** null: nothing in these events tells of one. */
export function classifyPiFailure(events: readonly PiEvent[]): Failure | null {
  const refused = events.find(
    (event) => event.type === "response" && event.id === "prompt" && !event.success,
  );
  // no model, no key: what it refuses before it asks anybody only a person can put right
  if (refused?.type === "response")
    return makeFailure("auth", `pi: ${foldLine(refused.error ?? "the prompt was refused")}`);
  const last = events.findLast((event) => event.type === "message_end")?.message;
  if (last?.stopReason === "length") return makeFailure("timeout", "pi: its answer grew too long");
  if (last?.stopReason === "aborted") return makeFailure("fault", `pi: ${wordsOf(last)}`);
  return last?.stopReason === "error" ? makeFailure(classOf(last, events), `pi: ${wordsOf(last)}`) : null;
}

/** An API error after which pi tries again by itself. */
export function classifyPiRetry(errorMessage: string): Failure {
  const type = classOfHttpStatus(statusIn(errorMessage));
  return makeFailure(type, `pi tries again: ${foldLine(errorMessage)}`);
}

function classOf({ errorMessage }: PiMessage, events: readonly PiEvent[]): FailureClass {
  const last = events.findLast((event) => event.type === "compaction_end");
  if (last?.reason === "overflow" && last.errorMessage) return "overflow";
  const status = statusIn(errorMessage ?? "");
  if (status !== null) return classOfHttpStatus(status);
  // it tries again only what can be better the next time
  return events.some((event) => event.type === "auto_retry_end" && event.success === false)
    ? "outage"
    : "fault";
}

/** As the clients of the APIs begin their errors: `429 …`, `500: {…}`. */
function statusIn(message: string): number | null {
  const status = /^([45]\d\d)[ :]/.exec(message)?.[1];
  return status === undefined ? null : Number(status);
}

function wordsOf({ errorMessage, stopReason }: PiMessage): string {
  return foldLine(errorMessage || stopReason || "error");
}
