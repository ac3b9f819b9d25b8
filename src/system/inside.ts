/** Compares real paths, after all links (H4). */
import { realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

/** Is the path the folder itself or inside it? A broken path is not. */
export function isInside(folder: string, path: string): boolean {
  try {
    const way = relative(realpathSync(folder), realpathSync(path));
    return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  } catch {
    return false;
  }
}
