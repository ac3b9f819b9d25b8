/**
 * Owns a private git index for each loop, in the git folder. It keeps what git knows about the files, so that the next
 * checkpoint reads only changed files.
 *
 * The work uses a copy, which replaces the index on success. A killed process leaves no lock and no broken index, and a
 * git process that outlives it does no harm.
 */
import { copyFileSync, lstatSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { LoopId } from "../../core/loop.ts";
import { errorCode, isOwn } from "../../system/files.ts";
import { makeInside } from "../../system/inside.ts";
import { namesIn } from "../git-process.ts";
import type { Repository } from "../repository.ts";

/** Longer than any git command may take. */
const ABANDONED_MS = 6 * 3_600_000;

export async function withPrivateIndex<T>(
  { gitDir }: Repository,
  loopId: LoopId,
  work: (index: string) => Promise<T>,
): Promise<T> {
  const dir = makeInside(gitDir, join(gitDir, "loopwright"));
  const kept = join(dir, `${loopId}.index`);
  const copy = join(dir, `${loopId}.${process.pid}-${Math.random().toString(36).slice(2, 10)}.index`);
  try {
    copyIfThere(kept, copy);
    const result = await work(copy);
    renameSync(copy, kept);
    removeAbandoned(dir, loopId, kept);
    return result;
  } finally {
    rmSync(copy, { force: true });
    rmSync(`${copy}.lock`, { force: true });
  }
}

export function removePrivateIndex({ gitDir }: Repository, loopId: LoopId): void {
  const dir = join(gitDir, "loopwright");
  for (const name of namesOf(dir, loopId)) rmSync(join(dir, name), { force: true });
}

/**
 * The copy gets the time of the original, rounded down. Git compares this time with the times of files to find files
 * that may have changed after they were read.
 */
function copyIfThere(from: string, to: string): void {
  try {
    const stat = lstatSync(from);
    // git makes a new index when there is none
    if (!stat.isFile() || !isOwn(stat)) return;
    const seconds = Math.floor(stat.mtimeMs / 1000);
    copyFileSync(from, to);
    utimesSync(to, seconds, seconds);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/** Removes files of killed processes. Uses the clock of the file system. */
function removeAbandoned(dir: string, loopId: LoopId, kept: string): void {
  const now = statSync(kept).mtimeMs;
  for (const name of namesOf(dir, loopId)) {
    const path = join(dir, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (path !== kept && stat !== undefined && now - stat.mtimeMs > ABANDONED_MS)
      rmSync(path, { force: true });
  }
}

function namesOf(dir: string, loopId: LoopId): string[] {
  return namesIn(dir).filter((name) => name.startsWith(`${loopId}.`));
}
