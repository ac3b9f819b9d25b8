/** Hashes that show whether a copied folder was changed. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** null: the file cannot be read. */
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

/** The hash of every file in the folder, sorted by path. Paths use slashes. */
export function hashFolder(folder: string): readonly (readonly [file: string, hash: string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [relative(folder, path).split(sep).join("/"), hashFile(path) ?? ""]);
}
