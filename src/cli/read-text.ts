import { LoopError } from "../errors.ts";
import { cannotRead } from "../store/loop-dir.ts";
import { readIfThere } from "../system/files.ts";

/** The text of a file that may be missing; a link, a folder or a file that is closed to us is one clear sentence. */
export function readText(path: string): string | null {
  try {
    return readIfThere(path);
  } catch (error) {
    throw error instanceof LoopError ? error : cannotRead(path, error);
  }
}
