/** Is a folder that was copied still what it was? */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** null: it cannot be read. */
export function hashFile(path: string): string | null {
  try {
    return hashText(readFileSync(path));
  } catch {
    return null;
  }
}

export function hashText(text: string | Buffer): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Of every file in it and below, by its path with slashes, in order. */
export function hashFolder(folder: string): readonly (readonly [file: string, hash: string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [relative(folder, path).split(sep).join("/"), hashFile(path) ?? ""]);
}
