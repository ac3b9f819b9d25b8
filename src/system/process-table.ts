/** What the system says of its processes, through /proc or `ps`. Remembers nothing, signals nobody. */
import { readFileSync } from "node:fs";

export function isPid(pid: number): boolean {
  // 0 and negative numbers would mean whole groups to kill(2)
  return Number.isSafeInteger(pid) && pid > 0;
}

/** The state of a zombie, or of one that is about to vanish. */
export function isDead(state: string | undefined): boolean {
  return state === "Z" || state === "X" || state === "x";
}

/** Is there anybody of this number? A negative one means a group. */
export function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Sends a signal. A negative pid means a group. Nothing happens when the process is gone or belongs to another user. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone, or of another user
  }
}

/** The line of /proc; null: no such process, or no /proc. */
export function readStat(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null;
  }
}

interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly start: string;
}

/** The second field is the program's name in brackets and may hold brackets and spaces itself. */
export function parseStat(stat: string): ProcessStat | null {
  const fields = stat
    .slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/);
  const [state, parent, group] = fields;
  const start = fields[19];
  if (state === undefined || group === undefined || start === undefined || !/^\d+$/.test(start)) return null;
  return { state, parent: Number(parent), group: Number(group), start };
}

/** What `ps` prints; null: it failed. */
export function ps(args: readonly string[]): string | null {
  try {
    // loaded here: most processes never need it, and it is slow to load
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    return execFileSync("ps", args, {
      encoding: "utf8",
      timeout: 2_000,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, LC_ALL: "C" },
    });
  } catch {
    return null;
  }
}
