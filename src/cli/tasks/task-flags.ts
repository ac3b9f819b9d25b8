/** The flags that create and `loop edit` share. Each wrong value throws one sentence. */
import type { MissedPolicy, TaskPlace } from "../../core/loop.ts";
import { parseDuration } from "../../core/task/interval.ts";
import { usageError } from "../../errors.ts";
import { countFlag, durationFlag, given, oneOf } from "../flags/values.ts";

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

/** The time of expiry, or null for never. */
function expiryFlag(text: string, now: number): number | null {
  if (text === "never") return null;
  const ms = parseDuration(text);
  if (ms === null || ms <= 0)
    throw usageError(`--expires "${text}" is not a length of time; write it like 3d or 30d, or write never.`);
  return now + ms;
}

/** The settings that were given. An empty `--expect` removes the command. */
export function settingsFrom(flags: TaskFlags, now: number) {
  const { expires, missed, grace, expect, alertAfter, timeout } = flags;
  return given({
    expiresAt: expires === undefined ? undefined : expiryFlag(expires, now),
    missed: oneOf("--missed", missed, POLICIES),
    graceMs: durationFlag("--grace", grace),
    expect: expect?.trim() === "" ? null : expect,
    alertAfter: countFlag("--alert-after", alertAfter),
    timeoutMs: durationFlag("--timeout", timeout),
    where: oneOf("--in", flags.in, PLACES),
  });
}
