/**
 * Processes as the system sees them: is this still the one that we started, and how to end it together with
 * everything that it started. Nothing here remembers anything.
 *
 * A pid alone proves nothing: it is given out again, at the latest after a restart of the machine. A process
 * is known by its pid and the moment it started.
 */
import { readdirSync, readFileSync } from "node:fs";

export interface Proc {
  readonly pid: number;
  readonly start: string | null;
}

/** When the process started, in a form that no other process of this or another boot shares; null: unknown. */
export function procStart(pid: number): string | null {
  if (!isPid(pid)) return null;
  if (process.platform !== "linux") return ps(["-o", "lstart=", "-p", String(pid)])?.trim() || null;
  const stat = readStat(pid);
  return stat === null ? null : startFrom(bootId(), stat);
}

/** Is exactly this process still there? A zombie is not, nor is a later process that got the same pid. */
export function isAlive(ref: Proc): boolean {
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

/** Tells one start of the machine from another; null where the system does not say. */
export function bootId(): string | null {
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

export interface Tree {
  /** The process group. The caller vouches that it is the one it started. */
  readonly group: number | null;
  /** Environment entries (`NAME=value`), all of which a process outside the group must have to belong. Linux. */
  readonly marks: readonly string[];
}

/** The living members, zombies and this process left out. */
export function treeMembers(tree: Tree): readonly number[] {
  if (tree.marks.length === 0 && (tree.group === null || !answers(-tree.group))) return [];
  return (process.platform === "linux" ? membersFromProc(tree) : null) ?? membersFromPs(tree);
}

/** SIGTERM, then SIGKILL to what is left. True when everything is gone; false: something cannot be killed. */
export async function stopTree(tree: Tree, graceMs: number): Promise<boolean> {
  signalTree(tree, treeMembers(tree), "SIGTERM");
  if (await isGoneWithin(tree, graceMs)) return true;
  // again and again: what is being killed may fork in the meantime
  for (let attempt = 0; attempt < 20; attempt++) {
    signalTree(tree, treeMembers(tree), "SIGKILL");
    if (await isGoneWithin(tree, 250)) return true;
  }
  return false;
}

async function isGoneWithin(tree: Tree, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    if (treeMembers(tree).length === 0) return true;
    const left = until - performance.now();
    if (left <= 0) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}

function signalTree(tree: Tree, members: readonly number[], signal: NodeJS.Signals): void {
  if (members.length === 0) return;
  // the group at once, so that no member can fork its way past the list
  for (const target of tree.group === null ? members : [-tree.group, ...members]) {
    try {
      process.kill(target, signal);
    } catch {
      // gone in the meantime, or not ours to signal
    }
  }
}

/** null: there is no /proc to look at. */
function membersFromProc(tree: Tree): readonly number[] | null {
  const members: number[] = [];
  let isMounted = false;
  for (const name of listProc()) {
    const pid = Number(name);
    isMounted ||= pid === process.pid;
    if (!isPid(pid) || pid === process.pid) continue;
    const stat = readStat(pid);
    const parsed = stat === null ? null : parseStat(stat);
    if (parsed === null || isDead(parsed.state)) continue;
    if ((tree.group !== null && parsed.group === tree.group) || hasMarks(pid, tree.marks)) members.push(pid);
  }
  return isMounted ? members : null;
}

function listProc(): readonly string[] {
  try {
    return readdirSync("/proc");
  } catch {
    return [];
  }
}

function hasMarks(pid: number, marks: readonly string[]): boolean {
  if (marks.length === 0) return false;
  try {
    const entries = new Set(readFileSync(`/proc/${pid}/environ`, "utf8").split("\0"));
    return marks.every((mark) => entries.has(mark));
  } catch {
    return false;
  }
}

function membersFromPs(tree: Tree): readonly number[] {
  if (tree.group === null) return [];
  const members: number[] = [];
  for (const line of (ps(["-A", "-o", "pid=,pgid=,stat="]) ?? "").split("\n")) {
    const [pid, group, state] = line.trim().split(/\s+/);
    if (Number(group) !== tree.group || isDead(state?.[0]) || Number(pid) === process.pid) continue;
    members.push(Number(pid));
  }
  return members;
}

function isPid(pid: number): boolean {
  // 0 and negative numbers would mean whole groups to kill(2)
  return Number.isSafeInteger(pid) && pid > 0;
}

function isDead(state: string | undefined): boolean {
  return state === "Z" || state === "X" || state === "x";
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function readStat(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null;
  }
}

/** The second field is the program's name in brackets and may hold brackets and spaces itself. */
function parseStat(stat: string): { state: string; group: number; start: string } | null {
  const fields = stat
    .slice(stat.lastIndexOf(")") + 1)
    .trim()
    .split(/\s+/);
  const [state, , group] = fields;
  const start = fields[19];
  if (state === undefined || group === undefined || start === undefined || !/^\d+$/.test(start)) return null;
  return { state, group: Number(group), start };
}

function ps(args: readonly string[]): string | null {
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
