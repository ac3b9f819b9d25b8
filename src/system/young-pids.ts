/** Finds processes that may be younger than a given one. Linux gives out pids in rising order. */
import { readFileSync } from "node:fs";
import { orNull } from "./files.ts";

/** More than any machine can do. */
const FORKS_PER_MS = 500;
/** For more pids, listing all processes is as fast. */
const MOST_PIDS = 500;

/** null: uncertain. The pids may be threads. `since`: `performance.now()` before `pid` was given out. */
export function pidsAfter(pid: number, since: number): readonly number[] | null {
  const highest = readNumber("/proc/sys/kernel/pid_max");
  const mostForks = (performance.now() - since) * FORKS_PER_MS;
  // after so many forks the numbers may have started again; half, because some pids are in use
  if (highest === null || mostForks >= highest / 2) return null;
  const last = lastPid();
  if (last === null || last < pid || last - pid > MOST_PIDS) return null;
  return Array.from({ length: last - pid }, (_, index) => pid + 1 + index);
}

/** The newest pid; null: unknown. */
export function lastPid(): number | null {
  // /proc/loadavg is stale in containers
  return readNumber("/proc/sys/kernel/ns_last_pid");
}

function readNumber(path: string): number | null {
  const number = Number.parseInt(orNull(() => readFileSync(path, "latin1")) ?? "", 10);
  return number > 0 ? number : null;
}
