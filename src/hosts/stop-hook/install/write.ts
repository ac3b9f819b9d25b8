/** Writes a planned change. Keeps changes of other programs, and keeps the permissions of existing files. */
import { chmodSync, existsSync, mkdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { LoopError } from "../../../errors.ts";
import { cannotWrite } from "../../../store/folder/loop-dir.ts";
import { orNull, readIfThere, replaceIf } from "../../../system/files.ts";
import { makeInside } from "../../../system/inside.ts";
import { forget, recall, remember } from "./originals.ts";
import type { PlannedChange } from "./plan.ts";

/** `within`: writes only inside this folder; null: a person's own files. */
export function writeChange(
  { file, before, after, original }: PlannedChange & { readonly after: string },
  within: string | null,
  env: NodeJS.ProcessEnv,
): void {
  const folder = dirname(file);
  const made = missingAbove(folder);
  try {
    if (within !== null) makeInside(within, folder, 0o777);
    else mkdirSync(folder, { recursive: true });
    const folders = [...made, ...(recall(env, file)?.folders ?? [])];
    // first: after a crash between the two, the text does not match, and our part is removed by editing
    remember(env, { file, folders, ...(original === undefined ? {} : { before: original }) }, after);
    replace(file, before, after);
  } catch (error) {
    throw error instanceof LoopError ? error : cannotWrite(file, error);
  }
}

/** Writes the changes of an uninstallation, then removes the folders that the installation created. */
export function undoChanges(
  changes: readonly PlannedChange[],
  within: string | null,
  env: NodeJS.ProcessEnv,
): void {
  // an earlier version did not record folders; a skill has its own
  const folders = changes.flatMap(({ file }) => recall(env, file)?.folders ?? [dirname(file)]);
  for (const { file, before, after } of changes)
    try {
      if (within !== null) makeInside(within, dirname(file), 0o777);
      if (after === null) remove(file, before);
      else replace(file, before, after);
      forget(env, file);
    } catch (error) {
      throw error instanceof LoopError ? error : cannotWrite(file, error);
    }
  // deepest first; a folder that is not empty stays
  for (const folder of folders.sort((a, b) => b.length - a.length)) orNull(() => rmdirSync(folder));
}

/** The folders that do not exist yet, deepest first. */
function missingAbove(folder: string): string[] {
  return existsSync(folder) ? [] : [folder, ...missingAbove(dirname(folder))];
}

function remove(file: string, before: string | null): void {
  if (readIfThere(file) !== before) throw changed(file);
  rmSync(file);
}

function replace(file: string, before: string | null, after: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (!replaceIf(file, after, () => readIfThere(file) === before)) throw changed(file);
  chmodSync(file, mode === undefined ? 0o644 : mode & 0o777);
}

function changed(file: string): LoopError {
  return new LoopError("surroundings", `${file} was changed at the same time.`, "Try again.");
}
