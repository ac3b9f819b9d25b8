/**
 * A process and everything it started: finds the members and ends them. Keeps nothing.
 *
 * 1. A group is signalled because the caller vouches for it, a process outside the group only if it has the seal or
 *    every mark.
 * 2. A process that changed its seal belongs to every tree: nobody can tell any more who started it.
 * 3. This process is never a member.
 */
import { readdirSync, readFileSync } from "node:fs";
import { orNull } from "./files.ts";
import {
  answers,
  isDead,
  isPid,
  type ProcessStat,
  parseStat,
  ps,
  readStat,
  signalProcess,
} from "./process-table.ts";
import { isOwn, isSealed, readSeal, type Seal } from "./seal.ts";
import { lastPid, pidsAfter } from "./young-pids.ts";

export interface Tree {
  /** The process group. The caller guarantees that it started this group. */
  readonly group: number | null;
  /** Environment entries. A process outside the group belongs to the tree if it has all of them. Linux only. */
  readonly marks: readonly string[];
  /** See seal.ts. Linux only. */
  readonly seal?: number;
  /** `performance.now()` before the leader started. No member is older, which saves a look at every process. */
  readonly since?: number;
}

/** More rounds than a process survives that forks and exits all the time. */
const MOST_ROUNDS = 1_000;
const MOST_NEW_PIDS = 5_000;

/** The living members, without zombies and this process. `onFound` hears of each at once. */
export function treeMembers(tree: Tree, onFound: (pid: number) => void = () => {}): readonly number[] {
  const isPlain = tree.marks.length === 0 && tree.seal === undefined;
  if (isPlain && (tree.group === null || !answers(-tree.group))) return [];
  const found = process.platform === "linux" ? membersFromProc(tree, onFound) : null;
  if (found !== null) return found;
  const others = membersFromPs(tree);
  for (const pid of others) onFound(pid);
  return others;
}

/** SIGTERM, then SIGKILL. False: a process cannot be killed. */
export async function stopTree(tree: Tree, graceMs: number): Promise<boolean> {
  signalTree(tree, "SIGTERM");
  if (await isGoneWithin(tree, graceMs)) return true;
  // repeated, because a dying process may fork
  for (let attempt = 0; attempt < 20; attempt++) {
    signalTree(tree, "SIGKILL");
    if (await isGoneWithin(tree, 250)) return true;
  }
  return false;
}

async function isGoneWithin(tree: Tree, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  // with marks only, look twice: an environment is not always readable
  let looks = tree.group === null && tree.seal === undefined ? 2 : 1;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    if (treeMembers(tree).length === 0 && --looks === 0) return true;
    const left = until - performance.now();
    if (left <= 0) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}

/** Sends the signal to every member. */
export function signalTree(tree: Tree, signal: NodeJS.Signals): void {
  // the whole group first, so that no member escapes by a fork
  if (tree.group !== null) signalProcess(-tree.group, signal);
  treeMembers(tree, (pid) => signalProcess(pid, signal));
}

/** null: no /proc. */
function membersFromProc(tree: Tree, onFound: (pid: number) => void): readonly number[] | null {
  let last = lastPid();
  const pids = youngPids(tree) ?? allPids();
  if (pids === null) return null;
  // a group that does not answer has no members
  const group = tree.group !== null && answers(-tree.group) ? tree.group : null;
  const look = createLook({ ...tree, group }, onFound);
  for (const pid of pids) look.at(pid);
  // A process may fork and exit faster than this looks: follow the new pids until there are none.
  for (let round = 0; round < MOST_ROUNDS && last !== null; round++) {
    const next = lastPid() ?? last;
    if (next <= last || next - last > MOST_NEW_PIDS) break;
    for (let pid = last + 1; pid <= next; pid++) look.at(pid);
    last = next;
  }
  look.atChanged();
  return [...look.members];
}

function createLook(tree: Tree, onFound: (pid: number) => void) {
  const members = new Set<number>();
  const changed = new Map<number, Seal>();

  function add(pid: number): void {
    members.add(pid);
    onFound(pid);
  }

  return {
    members,
    at(pid: number): void {
      if (pid === process.pid || members.has(pid)) return;
      const seal = tree.seal === undefined ? null : readSeal(pid);
      if (isMember(tree, pid, seal)) add(pid);
      else if (seal?.isIntact === false) changed.set(pid, seal);
    },
    /** A process that lowered only its resident set still has the seal of a living process. */
    atChanged(): void {
      if (changed.size === 0 || isSealed()) return;
      const seals = (allPids() ?? []).flatMap((pid) => readSeal(pid) ?? []);
      const intact = new Set(seals.filter(({ isIntact }) => isIntact).map(({ value }) => value));
      for (const [pid, { value }] of changed)
        if (!intact.has(value) && isOwn(pid) && livingStat(pid) !== null) add(pid);
    },
  };
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

function isMember({ group, marks, seal }: Tree, pid: number, found: Seal | null): boolean {
  const isSealed = found !== null && found.value === seal;
  // a zombie has no environment
  if (group === null && !isSealed) return hasMarks(pid, marks);
  const stat = livingStat(pid);
  return stat !== null && (isSealed || stat.group === group || hasMarks(pid, marks));
}

function livingStat(pid: number): ProcessStat | null {
  const stat = parseStat(readStat(pid) ?? "");
  return stat === null || isDead(stat.state) ? null : stat;
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
