import { LoopError } from "../../errors.ts";
import { readIfThere, readThroughLinks } from "../../system/files.ts";
import { whileReading } from "../folder/loop-dir.ts";

/** The text of a file; null: there is no file. Throws a sentence for a link, a folder or an unreadable file. */
export function readText(path: string): string | null {
  return whileReading(path, () => readIfThere(path));
}

/** For files outside a project: dotfile managers keep them as links. */
export function readTextThroughLinks(path: string): string | null {
  return whileReading(path, () => readThroughLinks(path));
}

/** Throws a sentence when the file is not JSON. */
export function parseJsonFile(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `${path} is not JSON: ${(error as Error).message}.`;
    throw new LoopError("surroundings", message, "Fix or remove it.", error);
  }
}
