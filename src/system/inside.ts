/** Compares real paths, after all links (H4). */
import { realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { orNull } from "./files.ts";

/** Is the path the folder itself or inside it? A broken path is not. */
export function isInside(folder: string, path: string): boolean {
  const way = orNull(() => relative(realpathSync(folder), realpathSync(path)));
  return way !== null && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
