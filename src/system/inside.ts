/** H4: where a path leads to, once all links are followed. */
import { realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

/** Is it the folder itself or something in it? What leads nowhere is not. */
export function isInside(folder: string, path: string): boolean {
  try {
    const way = relative(realpathSync(folder), realpathSync(path));
    return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  } catch {
    return false;
  }
}
