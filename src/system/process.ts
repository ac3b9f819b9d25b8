/**
 * Is this still the process that we started? Nothing here remembers anything.
 *
 * A pid alone proves nothing: it is given out again, at the latest after a restart of the machine. A process
 * is known by its pid and the moment it started.
 */
import { readFileSync } from "node:fs";
import type { ProcessRef } from "../core/loop.ts";
import { answers, isDead, isPid, parseStat, ps, readStat } from "./process-table.ts";

/** When the process started, in a form that no other process of this or another boot shares; null: unknown. */
export function procStart(pid: number): string | null {
  if (!isPid(pid)) return null;
  if (process.platform !== "linux") return ps(["-o", "lstart=", "-p", String(pid)])?.trim() || null;
  const stat = readStat(pid);
  return stat === null ? null : startFrom(bootId(), stat);
}

/** Is exactly this process still there? A zombie is not, nor is a later process that got the same pid. */
export function isAlive(ref: ProcessRef): boolean {
  if (!isPid(ref.pid)) return false;
  if (process.platform === "linux") {
    const stat = readStat(ref.pid);
    // no entry although the pid answers: /proc hides other users' processes, or is not mounted
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

/** Stopped by a signal (SIGSTOP, a debugger): it does nothing until it is told to go on. */
export function isStopped(pid: number): boolean {
  const stat = process.platform === "linux" && isPid(pid) ? readStat(pid) : null;
  return stat !== null && /^[Tt]$/.test(parseStat(stat)?.state ?? "");
}

/** Tells one start of the machine from another; null where the system does not say. */
export function bootId(): string | null {
  boot ??= { id: readBootId() };
  return boot.id;
}

/** It cannot change while we run. */
let boot: { readonly id: string | null } | null = null;

function readBootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim() || null;
  } catch {
    return null;
  }
}

/** `procStart` of a process that noted its own boot id and /proc stat line. */
export function startFrom(boot: string | null, stat: string): string | null {
  const parsed = parseStat(stat);
  return parsed === null ? null : `${(boot ?? "").slice(0, 8)}-${parsed.start}`;
}

/**
 * For a process that could not note its own start (no /proc) but is known to have been there at a moment:
 * the start of whoever has its pid now, or one that fits nobody if that began later.
 */
export function startIfBy(pid: number, at: number): string | null {
  const begun = Date.parse(isPid(pid) ? (ps(["-o", "lstart=", "-p", String(pid)])?.trim() ?? "") : "");
  // ps counts in seconds
  return begun > at + 2_000 ? "later" : procStart(pid);
}
