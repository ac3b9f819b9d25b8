/**
 * Files of a backlog that people write too: templates, prompts, progress.md, a triage brief. An existing file stays
 * unless the caller replaces it. No link leads a write out of the project (H4).
 */
import { lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { LoopError } from "../../errors.ts";
import { createOnce, errorCode, writeAtomic } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { cannotWrite } from "../folder/loop-dir.ts";

/** `path` is relative to `.loop`, with `/`. false: the name exists already, and nothing was written. */
export function createFile(root: string, path: string, text: string): boolean {
  const target = join(ensureFolder(root, dirname(path)), path.split("/").at(-1) ?? path);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false;
  return orSentence(target, () => {
    createOnce(target, text);
    return true;
  });
}

/** Replaces a link instead of following it. Returns the path of the file. */
export function replaceFile(root: string, path: string, text: string): string {
  const target = join(ensureFolder(root, dirname(path)), path.split("/").at(-1) ?? path);
  orSentence(target, () => writeAtomic(target, text));
  return target;
}

/** Creates a folder in `.loop`, which must exist. It goes level by level, so that it creates nothing behind a link. */
export function ensureFolder(root: string, path: string): string {
  let folder = join(root, ".loop");
  for (const name of path.split("/").filter((part) => part !== "" && part !== ".")) {
    folder = join(folder, name);
    makeFolder(folder);
    if (!isInside(root, folder))
      throw new LoopError(
        "surroundings",
        `${folder} is a link that leads out of the project.`,
        "Replace it with a folder.",
      );
  }
  return folder;
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw cannotWrite(folder, error);
  }
}

function orSentence<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw error instanceof LoopError ? error : cannotWrite(path, error);
  }
}
