/** The flags that shape a task, shared by creation and `loop edit`. Each wrong value gets one sentence. */
import type { MissedPolicy, Place } from "../../core/loop.ts";
import { parseDuration } from "../../core/task/interval.ts";
import { usageError } from "../../errors.ts";

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

export function durationFlag(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0)
    throw usageError(`${name} "${text}" is not a length of time; write 45s, 10m, 2h or 7d.`);
  return ms;
}

/** Moment of expiry, or null for never. */
export function expiryFlag(text: string, now: number): number | null {
  if (text === "never") return null;
  const ms = parseDuration(text);
  if (ms === null || ms <= 0)
    throw usageError(`--expires "${text}" is not a length of time; write 3d, 30d or never.`);
  return now + ms;
}

export function missedFlag(text: string | undefined): MissedPolicy | null {
  if (text === undefined) return null;
  const policy = POLICIES.find((known) => known === text);
  if (policy === undefined) throw usageError(`--missed "${text}" is none of ${POLICIES.join(", ")}.`);
  return policy;
}

const PLACES: readonly Place[] = ["session", "headless", "either"];

export function placeFlag(text: string): Place {
  const place = PLACES.find((known) => known === text);
  if (place === undefined) throw usageError(`--in "${text}" is none of ${PLACES.join(", ")}.`);
  return place;
}

export function countFlag(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw usageError(`${name} "${text}" is not a whole number from 1 up.`);
  return count;
}

/** A command that decides whether a fire succeeded; an empty one (edit) takes it away. */
export function expectFlag(text: string): string | null {
  return text.trim() === "" ? null : text;
}
