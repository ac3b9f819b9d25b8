/** Where a path leads to (H4). Follows links, also in the folders above a file that does not exist yet. */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import type { AskedPath } from "../../core/permissions.ts";

/** `path` is absolute. A broken link is outside the project. */
export function realPlaceOf(path: string, projectDir: string): AskedPath {
  const real = realOf(path);
  if (real === null) return { absolute: slashed(path), inProject: null };
  const way = relative(realOf(projectDir) ?? projectDir, real);
  const isOutside = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
  return { absolute: slashed(real), inProject: isOutside ? null : slashed(way) };
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    // a write would follow a broken link
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return null;
    const above = dirname(path);
    const real = above === path ? null : realOf(above);
    return real === null ? null : join(real, basename(path));
  }
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}
