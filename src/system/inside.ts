/** Keeps what we write inside a folder, after all links (H4, J4). */
import { lstatSync, mkdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { surroundingsError } from "../errors.ts";
import { isOwn, orNull, takeOver, tryToCreate } from "./files.ts";

/** Is the path the folder itself or inside it? A broken path is not. */
export function isInside(folder: string, path: string): boolean {
  const way = orNull(() => relative(realpathSync(folder), realpathSync(path)));
  return way !== null && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Creates a folder of ours below `root`, level by level, so that nothing is created behind a link. Throws a sentence if a
 * level leads out of the root, is no folder, or belongs to another user. Returns the path.
 */
export function makeInside(root: string, path: string, mode = 0o700): string {
  let folder = root;
  for (const name of relative(root, path)
    .split(sep)
    .filter((part) => part !== "")) {
    folder = join(folder, name);
    const stat = lstatSync(folder, { throwIfNoEntry: false }) ?? create(folder, mode);
    if (stat.isSymbolicLink() && !isInside(root, folder))
      throw surroundingsError(
        `${folder} is a link that leads out of the project.`,
        "Replace it with a folder.",
      );
    checkFolder(folder, stat.isSymbolicLink() ? statSync(folder) : stat);
  }
  return path;
}

function create(folder: string, mode: number): Stats {
  tryToCreate(() => mkdirSync(folder, { mode }));
  return lstatSync(folder);
}

/** Throws a sentence if it is not a folder of this user. Another user could put anything there. */
export function checkFolder(folder: string, stat: Stats): void {
  if (!stat.isDirectory())
    throw surroundingsError(
      `${folder} is a file; loopwright needs a folder of that name.`,
      "Rename or remove it.",
    );
  if (!isOwn(stat)) throw surroundingsError(`${folder} belongs to another user.`, takeOver(folder));
}
