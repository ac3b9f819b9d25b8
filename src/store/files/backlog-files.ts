/**
 * Files of a backlog that people write too: templates, prompts, progress.md, a triage brief. An existing file stays
 * unless the caller replaces it. No link leads a write out of the project (H4).
 */
import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createOnce, writeAtomic } from "../../system/files.ts";
import { makeInside } from "../../system/inside.ts";
import { whileWriting } from "../folder/loop-dir.ts";

/** `path` is relative to `.loop`, with `/`. false: the name exists already, and nothing was written. */
export function createFile(root: string, path: string, text: string): boolean {
  const target = join(ensureFolder(root, dirname(path)), basename(path));
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false;
  whileWriting(target, () => createOnce(target, text));
  return true;
}

/** Replaces a link instead of following it. Returns the path of the file. */
export function replaceFile(root: string, path: string, text: string): string {
  const target = join(ensureFolder(root, dirname(path)), basename(path));
  whileWriting(target, () => writeAtomic(target, text));
  return target;
}

/** Creates a folder in `.loop`. */
export function ensureFolder(root: string, path: string): string {
  const folder = join(root, ".loop", path);
  return whileWriting(folder, () => makeInside(root, folder));
}
