/** The flags that shape a task, shared by creation and `loop edit`. Each wrong value gets one sentence. */
import type { MissedPolicy, TaskPlace } from "../../core/loop.ts";
import { parseDuration } from "../../core/task/interval.ts";
import { usageError } from "../../errors.ts";
import { oneOf } from "../flags/values.ts";

export interface TaskFlags {
  readonly exact?: boolean;
  readonly cron?: string;
  readonly tz?: string;
  readonly expires?: string;
  readonly jitter?: boolean;
  readonly missed?: string;
  readonly grace?: string;
  readonly expect?: string;
  readonly alertAfter?: string;
  readonly timeout?: string;
  readonly promptFile?: string;
  readonly in?: string;
}

const POLICIES: readonly MissedPolicy[] = ["ask", "once", "skip", "all"];
const PLACES: readonly TaskPlace[] = ["session", "headless", "either"];

/** Moment of expiry, or null for never. */
export function expiryFlag(text: string, now: number): number | null {
  if (text === "never") return null;
  const ms = parseDuration(text);
  if (ms === null || ms <= 0)
    throw usageError(`--expires "${text}" is not a length of time; write 3d, 30d or never.`);
  return now + ms;
}

export function missedFlag(text: string | undefined): MissedPolicy | null {
  return text === undefined ? null : oneOf("--missed", text, POLICIES);
}

export function placeFlag(text: string): TaskPlace {
  return oneOf("--in", text, PLACES);
}

/** A command that decides whether a fire succeeded; an empty one (edit) takes it away. */
export function expectFlag(text: string): string | null {
  return text.trim() === "" ? null : text;
}
