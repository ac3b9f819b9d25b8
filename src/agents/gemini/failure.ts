/** Why a turn of Gemini CLI failed (B13). Its exit code is its own, or the last eight bits of the HTTP status. */
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import { foldLine } from "../display.ts";
import { describeExit, type Finished, makeFailure } from "../process/reasons.ts";
import { classOfHttpStatus } from "../stream/stream-events.ts";
import type { GeminiEvent, GeminiResult } from "./events.ts";

const EXITS: ReadonlyMap<number, FailureClass> = new Map([
  [41, "auth"],
  // limit of turns reached
  [53, "timeout"],
  // the person did not trust this folder
  [55, "denied"],
]);

/** null: no failure found. `isResumed`: the turn resumed a conversation. */
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
  // an invalid request in a resumed conversation: a fresh conversation helps
  if (status === 400 && isResumed) return makeFailure("overflow", reason);
  return makeFailure(status === null ? "fault" : classOfHttpStatus(status), reason);
}

/** The client exits with 0 and no text when the prompt does not fit into the context. */
function hiddenFailure(result: GeminiResult, events: readonly GeminiEvent[]): Failure | null {
  const hasSpoken = events.some((event) => event.type === "message" && event.role === "assistant");
  if (hasSpoken) return null;
  const error = events.findLast((event) => event.type === "error" && event.severity === "error");
  if (error?.type === "error") return makeFailure("fault", `gemini: ${foldLine(error.message ?? "error")}`);
  if (result.stats?.total_tokens !== 0) return null;
  return makeFailure("overflow", "gemini: the prompt does not fit into the context");
}

/** 500 becomes 244. Statuses from 512 on are too small to recognise. */
function statusOf(exitCode: number): number | null {
  const status = exitCode + 256;
  return status >= 400 && status < 512 ? status : null;
}

function reasonOf(result: GeminiResult | undefined, finished: Finished): string {
  const message = result?.error?.message ?? "";
  return foldLine(message) || describeExit({ ...finished, answer: "" });
}
