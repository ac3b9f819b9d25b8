/**
 * Lets one process at a time change a file that people write too. Such a file cannot be a journal.
 *
 * 1. The lock is a file that only one process can create. It names that process, so the lock of a dead process on this
 *    machine is removed at once.
 * 2. The work under the lock is synchronous and short. An empty lock (its writer was killed) or a lock from another
 *    machine is removed when it is old.
 * 3. The lock is no guarantee: a frozen process may lose it. So a writer compares the file again right before the
 *    rename.
 */
import { lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { type LoopError, surroundingsError } from "../../errors.ts";
import { createOnce, nullOn, orNull, readIfThere, readSmall, tryToCreate } from "../../system/files.ts";
import { isAlive, procStart } from "../../system/process.ts";

const LOOK_MS = 10;
const PATIENCE_MS = 15_000;
/** For locks whose holder cannot be checked. */
const OLD_MS = 10_000;

/** Throws a sentence, without calling `act`, when another process keeps the lock too long. */
export async function whileLocked<T>(lock: string, act: () => T): Promise<T> {
  const mine = JSON.stringify({
    host: hostname(),
    pid: process.pid,
    start: procStart(process.pid),
    mark: Math.random(),
  });
  for (let waitedMs = 0; !take(lock, mine); waitedMs += LOOK_MS) {
    if (waitedMs >= PATIENCE_MS) throw heldBy(lock);
    await pause(LOOK_MS);
  }
  try {
    return act();
  } finally {
    if (readSmall(lock) === mine) rmSync(lock, { force: true });
  }
}

function take(lock: string, mine: string): boolean {
  if (create(lock, mine)) return true;
  // a link, a pipe or a file of another user would never go away
  const found = readIfThere(lock);
  if (found !== null && isAbandoned(lock, found)) takeAway(lock, found);
  return create(lock, mine);
}

function create(lock: string, text: string): boolean {
  return tryToCreate(() => writeFileSync(lock, text, { mode: 0o600, flag: "wx" }));
}

/** Two processes may remove the same lock: the slower one may take the faster one's new lock, and puts it back. */
function takeAway(lock: string, abandoned: string): void {
  const aside = `${lock}.${process.pid}.${Math.random().toString(36).slice(2, 10)}.tmp`;
  nullOn("ENOENT", () => renameSync(lock, aside));
  const taken = readSmall(aside);
  if (taken !== null && taken !== abandoned) createOnce(lock, taken);
  rmSync(aside, { force: true });
}

function isAbandoned(lock: string, text: string): boolean {
  const holder = parseHolder(text);
  if (holder?.host === hostname()) return !isAlive(holder);
  const changedAt = lstatSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - changedAt > OLD_MS;
}

interface Holder {
  readonly host: string;
  readonly pid: number;
  readonly start: string | null;
}

/** null: the text is incomplete. */
function parseHolder(text: string): Holder | null {
  const holder = orNull(() => JSON.parse(text) as { readonly [K in keyof Holder]?: unknown } | null);
  const { host, pid, start } = holder ?? {};
  if (typeof host !== "string" || typeof pid !== "number") return null;
  return { host, pid, start: typeof start === "string" ? start : null };
}

function heldBy(lock: string): LoopError {
  const pid = parseHolder(readSmall(lock) ?? "")?.pid;
  const who = pid === undefined ? "Another process" : `Process ${pid}`;
  return surroundingsError(`${who} holds the lock ${lock}.`, "Nothing was changed; try again.");
}
