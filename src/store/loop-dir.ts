/** Where a project keeps its `.loop` folder, and the first thing written into it. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { LoopError } from "../errors.ts";
import { errorCode, fsyncDir } from "../system/files.ts";

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

/** Checks an existing `.loop`; false when there is none. Throws when it cannot be what we need. */
export function checkLoopDir(project: string): boolean {
  const dir = join(project, ".loop");
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  if (stat.isSymbolicLink() && isOutside(project, dir)) {
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

function isOutside(project: string, dir: string): boolean {
  try {
    const way = relative(realpathSync(project), realpathSync(dir));
    return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
  } catch {
    return true;
  }
}

export function ensureLoopDir(project: string): string {
  const dir = join(project, ".loop");
  if (checkLoopDir(project)) return dir;
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) === "EEXIST") return dir;
    throw cannotWrite(dir, error);
  }
  try {
    writeFileSync(join(dir, ".gitignore"), GITIGNORE, { mode: 0o600 });
    fsyncDir(project);
  } catch (error) {
    undo(dir);
    throw cannotWrite(dir, error);
  }
  return dir;
}

/** A folder without its .gitignore would be taken for a finished one. */
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
    case "ENOENT":
      return "its folder does not exist";
    default:
      return cause instanceof Error ? cause.message : String(cause);
  }
}

/** What people write stays visible to git; what the engine writes does not. */
const GITIGNORE = `# Written by loopwright: the engine's own files. Commit the rest (config.json, loop.md) if you like.
/journal*.jsonl
/loop.lock
/tasks.json
/state.json
/progress.json
/progress.md
/ledger.json
/capabilities.json
/debug.log
/runs/
/sessions/
*.tmp
*.corrupt-*
`;
