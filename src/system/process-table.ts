/** Reads the system's processes, through /proc or `ps`. Keeps nothing. */
import { readFileSync } from "node:fs";
import { errorCode, orNull } from "./files.ts";

export function isPid(pid: number): boolean {
  // for kill(2), 0 and negative numbers mean groups
  return Number.isSafeInteger(pid) && pid > 0;
}

/** A zombie, or a process that is about to vanish. */
export function isDead(state: string | undefined): boolean {
  return state === "Z" || state === "X" || state === "x";
}

/** Does the process exist? A negative number means a group. */
export function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** Sends a signal to a process, or to a group if `pid` is negative. Never throws. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  // 0 is our own group and -1 every process of the user: a forged file may name the pids 0 and 1
  if (pid === 0 || pid === -1) return;
  // it may be gone, or of another user
  orNull(() => process.kill(pid, signal));
}

/** The process's line in /proc; null: no such process, or no /proc. */
export function readStat(pid: number): string | null {
  return orNull(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
}

export interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly start: string;
}

/** The second field is the program's name in brackets, which may contain brackets and spaces. */
export function parseStat(stat: string): ProcessStat | null {
  const fields = stat
    .slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/);
  const [state, parent, group, session] = fields;
  const start = fields[19];
  if (state === undefined || group === undefined || start === undefined || !/^\d+$/.test(start)) return null;
  return { state, parent: Number(parent), group: Number(group), session: Number(session), start };
}

/** The output of `ps`; null: it failed. */
export function ps(args: readonly string[]): string | null {
  // loaded late: it is slow, and most processes never need it
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  // never a program of the project
  const env = { LC_ALL: "C", PATH: "/bin:/usr/bin:/run/current-system/sw/bin" };
  return orNull(() =>
    execFileSync("ps", args, { encoding: "utf8", timeout: 2_000, stdio: ["ignore", "pipe", "ignore"], env }),
  );
}
