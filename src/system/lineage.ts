/** Which processes started this one. */
import { parseStat, ps, readStat } from "./process-table.ts";

const MAX_DEPTH = 64;

/** Did `pid` start this process, directly or not? false: no, or unknown. */
export function isDescendantOf(pid: number, from: number = process.ppid): boolean {
  let current: number | null = from;
  for (let depth = 0; depth < MAX_DEPTH && current !== null && current > 1; depth++) {
    if (current === pid) return true;
    current = parentOf(current);
  }
  return false;
}

function parentOf(pid: number): number | null {
  if (process.platform === "linux") return parseStat(readStat(pid) ?? "")?.parent ?? null;
  return Number(ps(["-o", "ppid=", "-p", String(pid)])) || null;
}
