/**
 * Why a turn of Gemini CLI failed (B13). Its events have words only; the code is in how it ends: one of its own, or
 * the HTTP status of the model's answer, of which an exit code holds the last eight bits.
 */
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import { foldLine } from "../display.ts";
import { describeExit, type Finished, makeFailure } from "../process/reasons.ts";
import { classOfHttpStatus } from "../stream/stream-events.ts";
import type { GeminiEvent, GeminiResult } from "./events.ts";

const EXITS: ReadonlyMap<number, FailureClass> = new Map([
  [41, "auth"],
  // turns used up
  [53, "timeout"],
  // the person did not say that it may trust this folder
  [55, "denied"],
]);

/** null: nothing tells of one. `isResumed`: it went on with a conversation. */
export function classifyGeminiFailure(
  finished: Finished,
  events: readonly GeminiEvent[],
  isResumed: boolean,
): Failure | null {
  const result = events.findLast((event) => event.type === "result");
  if (finished.exitCode === 0 && result?.status === "success") return hiddenFailure(result, events);
  const own = EXITS.get(finished.exitCode);
  if (own !== undefined) return makeFailure(own, `gemini: ${reasonOf(result, finished)}`);
  if (result === undefined || result.status === "success") return null;
  const status = statusOf(finished.exitCode);
  const reason = `gemini: ${status === null ? "" : `${status} `}${reasonOf(result, finished)}`;
  // a request that is refused as it is can only be wrong by what came before: a fresh conversation is the cure
  if (status === 400 && isResumed) return makeFailure("overflow", reason);
  return makeFailure(status === null ? "fault" : classOfHttpStatus(status), reason);
}

/** It ends well, and says nothing, when it asks nothing because the context would not hold it. */
function hiddenFailure(result: GeminiResult, events: readonly GeminiEvent[]): Failure | null {
  const hasSpoken = events.some((event) => event.type === "message" && event.role === "assistant");
  if (hasSpoken) return null;
  const error = events.findLast((event) => event.type === "error" && event.severity === "error");
  if (error?.type === "error") return makeFailure("fault", `gemini: ${foldLine(error.message ?? "error")}`);
  if (result.stats?.total_tokens !== 0) return null;
  return makeFailure("overflow", "gemini: it asked its model nothing");
}

/** 500 ends as 244. Below 400 nothing is an error, and what is left of 512 and more is too small to tell. */
function statusOf(exitCode: number): number | null {
  const status = exitCode + 256;
  return status >= 400 && status < 512 ? status : null;
}

function reasonOf(result: GeminiResult | undefined, finished: Finished): string {
  const message = result?.error?.message ?? "";
  return foldLine(message) || describeExit({ ...finished, answer: "" });
}
