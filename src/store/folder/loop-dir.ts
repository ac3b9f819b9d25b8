/** Finds, checks and creates the `.loop` folder of a project. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { LoopError, reasonOf, surroundingsError } from "../../errors.ts";
import { createOnce, errorCode, fsyncDir, orNull, tryToCreate, writeAtomic } from "../../system/files.ts";
import { checkFolder, isInside } from "../../system/inside.ts";
import { claimOrigin, refuseForeign } from "../signed/origin.ts";
import type { Signer } from "../signed/signer.ts";

/**
 * The project of a folder. Inside a git work tree: the nearest folder with a `.loop` up to the root of the tree, else
 * that root. Outside git: the folder itself, because a `.loop` further up may belong to another project.
 */
export function findProject(from: string): string {
  const start = resolve(from);
  if (existsSync(join(start, ".loop"))) return start;
  let nearest: string | null = null;
  for (let dir = start; ; dir = dirname(dir)) {
    if (nearest === null && existsSync(join(dir, ".loop"))) nearest = dir;
    if (existsSync(join(dir, ".git"))) return nearest ?? dir;
    if (dir === dirname(dir)) return start;
  }
}

/** Identifies a folder; null: there is none. An inode alone is not enough: the system reuses inodes at once. */
export function folderIdentity(dir: string): string | null {
  const stat = statSync(dir, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino}:${stat.birthtimeMs}`;
}

/** Checks an existing `.loop`; false: there is none. Throws when it is not usable. */
export function checkLoopDir(project: string): boolean {
  return checkDir(join(project, ".loop"));
}

/** Like `checkLoopDir`, for the folder itself. */
export function checkDir(dir: string): boolean {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  if (stat.isSymbolicLink()) refuseOutside(dirname(dir), dir);
  checkFolder(dir, stat.isSymbolicLink() ? statSync(dir) : stat);
  return true;
}

/** Throws when a link leads the folder out of the project (H4). */
export function refuseOutside(project: string, folder: string): void {
  if (!isInside(project, folder))
    throw surroundingsError(
      `${folder} is a link that leads out of the project.`,
      "Replace it with a folder.",
    );
}

/** Creates the folder if it is missing. Throws when it is foreign or not writable. */
export function ensureLoopDir(project: string): string {
  const dir = join(project, ".loop");
  const isThere = checkLoopDir(project);
  return whileWriting(dir, () => {
    const isNew = !isThere && tryToCreate(() => mkdirSync(dir, { mode: 0o700 }));
    try {
      claimLoopDir(dir);
      if (isNew) fsyncDir(project);
      return dir;
    } catch (error) {
      if (isNew) undo(dir);
      throw error;
    }
  });
}

/** Call before any write to the folder: it makes the folder one of this user's and hides the files from git. */
export function claimLoopDir(dir: string): Signer {
  checkDir(dir);
  refuseForeign(dir);
  makePrivate(dir);
  hideFromGit(join(dir, ".gitignore"));
  return claimOrigin(dir);
}

/** A pipe of this name would block every git command, and git does not read a link. */
function hideFromGit(ignore: string): void {
  const stat = lstatSync(ignore, { throwIfNoEntry: false });
  if (stat === undefined) createOnce(ignore, GITIGNORE);
  else if (!stat.isFile() && !stat.isDirectory()) writeAtomic(ignore, GITIGNORE, false);
}

/** No other user may read or change what loops do. A drive without permissions keeps its own. */
function makePrivate(dir: string): void {
  const stat = statSync(dir);
  checkFolder(dir, stat);
  if ((stat.mode & 0o077) !== 0) orNull(() => chmodSync(dir, stat.mode & 0o700));
}

/** Lets a runner report a missing permission at its start instead of at its first fire. */
export function checkWritable(dir: string): void {
  const check = (path: string) => whileWriting(path, () => accessSync(path, constants.W_OK));
  check(dir);
  for (const name of readdirSync(dir)) if (/^journal.*\.jsonl$/.test(name)) check(join(dir, name));
}

/** Keeps the mark, because another process may use it already. */
function undo(dir: string): void {
  orNull(() => {
    rmSync(join(dir, ".gitignore"), { force: true });
    // a folder that is not empty stays
    rmdirSync(dir);
  });
}

/** Runs `act`. A failure of the system becomes a sentence about the path. */
export function whileWriting<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof LoopError ? error : cannotWrite(path, error);
  }
}

export function whileReading<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof LoopError ? error : cannotRead(path, error);
  }
}

export function cannotWrite(path: string, cause: unknown): LoopError {
  return new LoopError("surroundings", `Cannot write ${path}: ${why(cause)}.`, "Nothing was changed.", cause);
}

export function cannotRead(path: string, cause: unknown): LoopError {
  return new LoopError("surroundings", `Cannot read ${path}: ${why(cause)}.`, null, cause);
}

function why(cause: unknown): string {
  return REASONS.get(errorCode(cause)) ?? reasonOf(cause);
}

const REASONS: ReadonlyMap<string | null, string> = new Map([
  ["ENOSPC", "there is no space left"],
  ["EDQUOT", "there is no space left"],
  ["EFBIG", "there is no space left"],
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ELOOP", "it is a symbolic link, and loopwright does not follow links here"],
  ["EISDIR", "it is a folder"],
  ["ENOENT", "its folder does not exist"],
]);

/** Hides the engine's files from git, but not the files that people write. */
const GITIGNORE = `# Written by loopwright: the engine's own files. Commit the rest (config.json, loop.md) if you like.
/journal*.jsonl
/origin
/loop.lock
/lease.asked
/tasks.json
/state.json
/progress.json
/progress.md
/ledger*.json*
/capabilities.json
/debug.log
/runs/
/sessions/
*.tmp
*.corrupt-*
`;
