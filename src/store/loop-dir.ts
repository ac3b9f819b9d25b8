/** Where a project keeps its `.loop` folder, and the first thing written into it. */
import { existsSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { LoopError } from "../errors.ts";
import { errorCode } from "./files.ts";

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
  if (!stat.isSymbolicLink() && !stat.isDirectory()) {
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
    return relative(realpathSync(project), realpathSync(dir)).startsWith("..");
  } catch {
    return true;
  }
}

export function ensureLoopDir(project: string): string {
  const dir = join(project, ".loop");
  if (checkLoopDir(project)) return dir;
  try {
    mkdirSync(dir, { mode: 0o700 });
    writeFileSync(join(dir, ".gitignore"), GITIGNORE, { mode: 0o600 });
  } catch (error) {
    if (errorCode(error) === "EEXIST") return dir;
    throw cannotWrite(dir, error);
  }
  return dir;
}

export function cannotWrite(path: string, cause: unknown): LoopError {
  const code = errorCode(cause);
  const why =
    code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG"
      ? "there is no space left"
      : code === "EACCES" || code === "EPERM" || code === "EROFS"
        ? "permission denied"
        : code === "ENOENT"
          ? "its folder does not exist"
          : cause instanceof Error
            ? cause.message
            : String(cause);
  return new LoopError("surroundings", `Cannot write ${path}: ${why}.`, "Nothing was changed.", cause);
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
