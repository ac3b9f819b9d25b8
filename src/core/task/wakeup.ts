/** The wake-up that a self-paced agent asks for at the end of its turn (A17). */
import { isRecord, parseJson } from "../json.ts";
import type { Wakeup } from "../loop.ts";

/** Reads the last line of an answer. It counts only if the whole line is the JSON object. */
export function parseWakeupLine(answer: string): Wakeup | null {
  const line = answer.trimEnd().split("\n").at(-1)?.trim() ?? "";
  const value = parseJson(line);
  return isRecord(value) ? parseWakeup(value.wakeup) : null;
}

/** `{delaySeconds, reason}` or `{stop: true, reason?}`. */
export function parseWakeup(value: unknown): Wakeup | null {
  if (!isRecord(value)) return null;
  const reason = typeof value.reason === "string" && value.reason.trim() !== "" ? value.reason.trim() : null;
  if (value.stop === true) return { kind: "stop", reason: reason ?? "no reason given" };
  const { delaySeconds } = value;
  if (typeof delaySeconds !== "number" || !Number.isFinite(delaySeconds)) return null;
  return { kind: "sleep", delayMs: Math.round(delaySeconds * 1000), reason: reason ?? "no reason given" };
}
