import { readFileSync } from "node:fs";
import { cannotRead } from "../store/loop-dir.ts";
import { errorCode, readIfThere } from "../system/files.ts";

/** The text of a file that may be missing; a link, a folder or a file that is closed to us is one clear sentence. */
export function readText(path: string): string | null {
  return orSentence(path, readIfThere);
}

/** For files outside of a project: dotfile managers keep them as links. */
export function readTextThroughLinks(path: string): string | null {
  return orSentence(path, (at) => readFileSync(at, "utf8"));
}

function orSentence(path: string, read: (path: string) => string | null): string | null {
  try {
    return read(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw cannotRead(path, error);
  }
}
