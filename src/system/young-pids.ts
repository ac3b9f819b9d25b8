/**
 * Which processes can be younger than a given one, without a look at all of them. The system gives pids out in
 * rising order and starts again at the bottom after the highest. Linux.
 */
import { readFileSync } from "node:fs";

/** More than any machine does: a fork takes locks that all cores share. */
const FORKS_PER_MS = 500;
/** From here on a list of all processes is no more work. */
const MOST_PIDS = 500;

/**
 * The pids that were given out after `pid`, some of them to threads; null: that cannot be said for certain.
 * `since`: `performance.now()` of a moment before `pid` was given out.
 */
export function pidsAfter(pid: number, since: number): readonly number[] | null {
  const highest = readNumber("/proc/sys/kernel/pid_max");
  const mostForks = (performance.now() - since) * FORKS_PER_MS;
  // after so many the count may have gone round, and a young process may have any number; half for what is in use
  if (highest === null || mostForks >= highest / 2) return null;
  // not the one in /proc/loadavg, which containers are shown an old one of
  const last = readNumber("/proc/sys/kernel/ns_last_pid");
  if (last === null || last < pid || last - pid > MOST_PIDS) return null;
  return Array.from({ length: last - pid }, (_, index) => pid + 1 + index);
}

function readNumber(path: string): number | null {
  try {
    const number = Number.parseInt(readFileSync(path, "latin1"), 10);
    return number > 0 ? number : null;
  } catch {
    return null;
  }
}
