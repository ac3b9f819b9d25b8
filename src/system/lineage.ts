/** Which processes started this one. */
import { parseStat, readStat } from "./process-table.ts";

const MAX_DEPTH = 64;

/** Did `pid` start this process, directly or not? false: no, or unknown. */
export function isDescendantOf(pid: number, from: number = process.ppid): boolean {
  let current: number | null = from;
  for (let depth = 0; depth < MAX_DEPTH && current !== null && current > 1; depth++) {
    if (current === pid) return true;
    current = parseStat(readStat(current) ?? "")?.parent ?? null;
  }
  return false;
}
