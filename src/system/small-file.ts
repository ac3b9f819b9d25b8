/** For files of ours that lie where anybody can put something else. */
import { lstatSync } from "node:fs";
import { readSmall } from "./files.ts";

/** null for whatever is no plain file of at most this size: a pipe would be waited on for ever, a link leads away. */
export function readSmallFile(path: string, maxBytes: number): string | null {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= maxBytes ? readSmall(path) : null;
  } catch {
    return null;
  }
}
