/** Where a project keeps its `.loop` folder, and the first thing written into it. */
import {
  accessSync,
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
import { LoopError } from "../../errors.ts";
import { createOnce, errorCode, fsyncDir } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { createOrigin, refuseForeign } from "./origin.ts";

/**
 * The project of a folder: inside a git work tree the nearest folder with a `.loop` up to the tree's root, else
 * that root; outside of git the folder itself (a `.loop` further up belongs to somebody else).
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

/** The same for as long as it is the same folder; null: there is none. The system gives an inode out again at once. */
export function folderIdentity(dir: string): string | null {
  const stat = statSync(dir, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino}:${stat.birthtimeMs}`;
}

/** Checks an existing `.loop`; false when there is none. Throws when it cannot be what we need. */
export function checkLoopDir(project: string): boolean {
  const dir = join(project, ".loop");
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  if (stat.isSymbolicLink() && !isInside(project, dir)) {
    throw new LoopError(
      "surroundings",
      `${dir} is a link that leads out of the project.`,
      "Replace it with a folder.",
    );
  }
  if (!statSync(dir).isDirectory()) {
    throw new LoopError(
      "surroundings",
      `${dir} is a file; loopwright needs a folder of that name.`,
      "Rename or remove it.",
    );
  }
  return true;
}

/** The folder is there afterwards and may be written to. Throws when it is foreign. */
export function ensureLoopDir(project: string): string {
  const dir = join(project, ".loop");
  const isNew = !checkLoopDir(project) && makeDir(dir);
  try {
    claimLoopDir(dir);
    if (isNew) fsyncDir(project);
  } catch (error) {
    if (isNew) undo(dir);
    throw error instanceof LoopError ? error : cannotWrite(dir, error);
  }
  return dir;
}

/** To be called before the engine writes anything: its files are then known as ours, and git does not see them. */
export function claimLoopDir(dir: string): void {
  refuseForeign(dir);
  const ignore = join(dir, ".gitignore");
  if (!existsSync(ignore)) createOnce(ignore, GITIGNORE);
  createOrigin(dir);
}

/** For a runner: what it would only find out at its first fire is said before it starts. */
export function checkWritable(dir: string): void {
  check(dir);
  for (const name of readdirSync(dir)) {
    if (/^journal.*\.jsonl$/.test(name)) check(join(dir, name));
  }

  function check(path: string): void {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }
}

/** false: another process was faster. */
function makeDir(dir: string): boolean {
  try {
    mkdirSync(dir, { mode: 0o700 });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw cannotWrite(dir, error);
  }
}

/** Not the mark: another process may have begun to work with it. */
function undo(dir: string): void {
  try {
    rmSync(join(dir, ".gitignore"), { force: true });
    rmdirSync(dir);
  } catch {
    // somebody put something into it: then it stays
  }
}

export function cannotWrite(path: string, cause: unknown): LoopError {
  return new LoopError("surroundings", `Cannot write ${path}: ${why(cause)}.`, "Nothing was changed.", cause);
}

export function cannotRead(path: string, cause: unknown): LoopError {
  return new LoopError("surroundings", `Cannot read ${path}: ${why(cause)}.`, null, cause);
}

function why(cause: unknown): string {
  switch (errorCode(cause)) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return "there is no space left";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EROFS":
      return "the file system is read-only";
    case "ELOOP":
      return "there is a symbolic link, which loopwright does not follow";
    case "EISDIR":
      return "it is a folder";
    case "ENOENT":
      return "its folder does not exist";
    default:
      return cause instanceof Error ? cause.message : String(cause);
  }
}

/** What people write stays visible to git; what the engine writes does not. */
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
