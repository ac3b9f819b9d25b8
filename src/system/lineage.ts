/** Who started this process. */
import { readStat } from "./process-table.ts";

const MAX_DEPTH = 64;

/** Is `pid` among the processes that started this one? false where the system does not tell. */
export function isDescendantOf(pid: number, from: number = process.ppid): boolean {
  let current: number | null = from;
  for (let depth = 0; depth < MAX_DEPTH && current !== null && current > 1; depth++) {
    if (current === pid) return true;
    current = parentOf(current);
  }
  return false;
}

function parentOf(pid: number): number | null {
  const stat = readStat(pid);
  const parent = stat
    ?.slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/)[1];
  return parent === undefined || !/^\d+$/.test(parent) ? null : Number(parent);
}
