/** Reads our files in places where others may put something else. */
import { lstatSync } from "node:fs";
import { readSmall } from "./files.ts";

/** null: not a regular file, or too large. A pipe would block, and a link leads elsewhere. */
export function readSmallFile(path: string, maxBytes: number): string | null {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= maxBytes ? readSmall(path) : null;
  } catch {
    return null;
  }
}
