/** Writes a planned change. Keeps changes of other programs, and keeps the permissions of existing files. */
import { chmodSync, mkdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { LoopError } from "../../../errors.ts";
import { cannotWrite } from "../../../store/folder/loop-dir.ts";
import { readIfThere, replaceIf } from "../../../system/files.ts";
import { makeInside } from "../../../system/inside.ts";
import type { PlannedChange } from "./plan.ts";

/** `within`: writes only inside this folder; null: a person's own files. */
export function writeChange({ file, before, after }: PlannedChange, within: string | null): void {
  const folder = dirname(file);
  try {
    if (within !== null) makeInside(within, folder, 0o777);
    else if (after !== null) mkdirSync(folder, { recursive: true });
    if (after === null) remove(file, before);
    else replace(file, before, after);
  } catch (error) {
    throw error instanceof LoopError ? error : cannotWrite(file, error);
  }
}

function remove(file: string, before: string | null): void {
  if (readIfThere(file) !== before) throw changed(file);
  rmSync(file);
  try {
    // a skill has its own folder
    rmdirSync(dirname(file));
  } catch {
    // the folder is not empty
  }
}

function replace(file: string, before: string | null, after: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (!replaceIf(file, after, () => readIfThere(file) === before)) throw changed(file);
  chmodSync(file, mode === undefined ? 0o644 : mode & 0o777);
}

function changed(file: string): LoopError {
  return new LoopError("surroundings", `${file} was changed at the same time.`, "Try again.");
}
