import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** What an empty Node takes where nothing else runs, with room to spare. */
const IDLE_START_MS = 60;

/** How many times slower than an idle machine this one is just now; at least 1. */
export function slowdown(): number {
  const begin = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return Math.max(1, (performance.now() - begin) / IDLE_START_MS);
}

/** With spaces between its words; empty: it has just ended. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}
