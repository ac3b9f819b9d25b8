/** Is a process still the one that we started? Pids are reused, so the start time identifies it too. */
import { readFileSync } from "node:fs";
import type { ProcessRef } from "../core/loop.ts";
import { orNull } from "./files.ts";
import { answers, isDead, isPid, parseStat, ps, readStat } from "./process-table.ts";

/** The start time, unique across boots; null: unknown. */
export function procStart(pid: number): string | null {
  if (!isPid(pid)) return null;
  if (process.platform !== "linux") return ps(["-o", "lstart=", "-p", String(pid)])?.trim() || null;
  const stat = readStat(pid);
  return stat === null ? null : startFrom(bootId(), stat);
}

/** Does exactly this process still run? A zombie, or a later process with the same pid, does not count. */
export function isAlive(ref: ProcessRef): boolean {
  if (!isPid(ref.pid)) return false;
  if (process.platform === "linux") {
    const stat = readStat(ref.pid);
    // the pid answers but has no entry: /proc hides other users' processes, or is not mounted
    if (stat === null) return answers(ref.pid);
    if (isDead(parseStat(stat)?.state)) return false;
    const start = startFrom(bootId(), stat);
    return ref.start === null || start === null || start === ref.start;
  }
  if (!answers(ref.pid)) return false;
  const [state = "", ...rest] =
    ps(["-o", "stat=,lstart=", "-p", String(ref.pid)])
      ?.trim()
      .split(/\s+/) ?? [];
  if (isDead(state[0])) return false;
  const start = rest.join(" ");
  return ref.start === null || start === "" || start === ref.start.split(/\s+/).join(" ");
}

/** Is the process stopped by a signal (SIGSTOP, a debugger)? */
export function isStopped(pid: number): boolean {
  const stat = process.platform === "linux" && isPid(pid) ? readStat(pid) : null;
  return stat !== null && /^[Tt]$/.test(parseStat(stat)?.state ?? "");
}

/** Identifies one boot of the machine; null: unknown. */
export function bootId(): string | null {
  boot ??= orNull(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()) ?? "";
  return boot || null;
}

/** Read once; empty: unknown. */
let boot: string | null = null;

/** `procStart` of a process that recorded its boot id and its line in /proc. */
export function startFrom(boot: string | null, stat: string): string | null {
  const parsed = parseStat(stat);
  return parsed === null ? null : `${(boot ?? "").slice(0, 8)}-${parsed.start}`;
}

/** For a process without /proc that ran at the time `at`. Matches no process if the pid is younger. */
export function startIfBy(pid: number, at: number): string | null {
  const begun = Date.parse(isPid(pid) ? (ps(["-o", "lstart=", "-p", String(pid)])?.trim() ?? "") : "");
  // ps counts in seconds
  return begun > at + 2_000 ? "later" : procStart(pid);
}
