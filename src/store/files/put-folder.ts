/** Installs a folder as a whole, because other programs start commands from it. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../../system/files.ts";
import { whileWriting } from "../folder/loop-dir.ts";

const ATTEMPTS = 3;

/**
 * Fills a new folder and swaps it in by two renames. A program that starts meanwhile finds the old folder, the new one
 * or none, never half of one. `fill` returns false to cancel.
 */
export function putFolder(target: string, fill: (fresh: string) => boolean): boolean {
  const fresh = `${target}.${process.pid}.new`;
  const old = `${target}.${process.pid}.old`;
  const parent = dirname(target);
  whileWriting(parent, () => mkdirSync(parent, { recursive: true, mode: 0o700 }));
  try {
    return whileWriting(target, () => {
      const isWanted = fill(fresh);
      if (isWanted) swap(fresh, target, old);
      return isWanted;
    });
  } finally {
    for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Another installation may run at the same time. */
function swap(fresh: string, target: string, old: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      if (existsSync(target)) renameSync(target, old);
      renameSync(fresh, target);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !["ENOENT", "ENOTEMPTY", "EEXIST"].includes(errorCode(error) ?? ""))
        throw error;
    }
  }
}
