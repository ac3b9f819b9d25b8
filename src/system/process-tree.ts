/**
 * A process and everything it started: finds the members and ends them. Keeps nothing.
 *
 * 1. A group is signalled because the caller vouches for it, a process outside the group only if it has every mark.
 * 2. This process is never a member.
 */
import { readdirSync, readFileSync } from "node:fs";
import { orNull } from "./files.ts";
import { answers, isDead, isPid, parseStat, ps, readStat, signalProcess } from "./process-table.ts";
import { pidsAfter } from "./young-pids.ts";

export interface Tree {
  /** The process group. The caller guarantees that it started this group. */
  readonly group: number | null;
  /** Environment entries. A process outside the group belongs to the tree if it has all of them. Linux only. */
  readonly marks: readonly string[];
  /** `performance.now()` before the leader started. No member is older, which saves a look at every process. */
  readonly since?: number;
}

/** The living members, without zombies and this process. */
export function treeMembers(tree: Tree): readonly number[] {
  if (tree.marks.length === 0 && (tree.group === null || !answers(-tree.group))) return [];
  return (process.platform === "linux" ? membersFromProc(tree) : null) ?? membersFromPs(tree);
}

/** SIGTERM, then SIGKILL. False: a process cannot be killed. */
export async function stopTree(tree: Tree, graceMs: number): Promise<boolean> {
  signalTree(tree, treeMembers(tree), "SIGTERM");
  if (await isGoneWithin(tree, graceMs)) return true;
  // repeated, because a dying process may fork
  for (let attempt = 0; attempt < 20; attempt++) {
    signalTree(tree, treeMembers(tree), "SIGKILL");
    if (await isGoneWithin(tree, 250)) return true;
  }
  return false;
}

async function isGoneWithin(tree: Tree, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  // with marks only, look twice: an environment is not always readable
  let looks = tree.group === null ? 2 : 1;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    if (treeMembers(tree).length === 0 && --looks === 0) return true;
    const left = until - performance.now();
    if (left <= 0) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}

function signalTree(tree: Tree, members: readonly number[], signal: NodeJS.Signals): void {
  if (members.length === 0) return;
  // the whole group first, so that no member escapes by a fork
  for (const target of tree.group === null ? members : [-tree.group, ...members])
    signalProcess(target, signal);
}

/** null: no /proc. */
function membersFromProc(tree: Tree): readonly number[] | null {
  const pids = youngPids(tree) ?? allPids();
  // a group that does not answer has no members
  const group = tree.group !== null && answers(-tree.group) ? tree.group : null;
  return pids?.filter((pid) => isMember({ ...tree, group }, pid)) ?? null;
}

function youngPids({ group, since }: Tree): readonly number[] | null {
  if (group === null || since === undefined) return null;
  const younger = pidsAfter(group, since);
  return younger === null ? null : [group, ...younger];
}

/** Every process; null: no /proc. */
export function allPids(): readonly number[] | null {
  const pids = orNull(() => readdirSync("/proc"))
    ?.map(Number)
    .filter(isPid);
  return pids?.includes(process.pid) ? pids : null;
}

function isMember({ group, marks }: Tree, pid: number): boolean {
  if (pid === process.pid) return false;
  // a zombie has no environment
  if (group === null) return hasMarks(pid, marks);
  const parsed = parseStat(readStat(pid) ?? "");
  if (parsed === null || isDead(parsed.state)) return false;
  return parsed.group === group || hasMarks(pid, marks);
}

function hasMarks(pid: number, marks: readonly string[]): boolean {
  if (marks.length === 0) return false;
  const environ = orNull(() => readFileSync(`/proc/${pid}/environ`));
  // first without decoding: few processes have the marks
  if (environ === null || !marks.every((mark) => environ.includes(mark))) return false;
  const entries = new Set(environ.toString("utf8").split("\0"));
  return marks.every((mark) => entries.has(mark));
}

function membersFromPs(tree: Tree): readonly number[] {
  if (tree.group === null) return [];
  return (ps(["-A", "-o", "pid=,pgid=,stat="]) ?? "").split("\n").flatMap((line) => {
    const [pid, group, state] = line.trim().split(/\s+/);
    const isLiving = Number(group) === tree.group && !isDead(state?.[0]);
    return isLiving && Number(pid) !== process.pid ? [Number(pid)] : [];
  });
}
