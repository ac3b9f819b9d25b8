/**
 * Finds the file of a program as the shell and package managers do. A program in the project counts by its content. A
 * large program outside counts by size and time, because an agent cannot usually write there.
 */
import { realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { isBuiltIn } from "../../core/shell/programs.ts";
import { type FileHashes, readPlain, sha256 } from "../files/file-hash.ts";
import type { Listings } from "../files/listings.ts";
import { readManifest } from "../protection/manifest.ts";
import { linkText, realPlace, targetOf } from "./found.ts";

export interface Programs {
  /** Folders of the PATH outside the project. */
  readonly outside: readonly string[];
  /** The first program of that name on the PATH, absolute. */
  find(name: string): string | null;
  /** Names in `binFolder` that replace another program, or that are wanted. */
  planted(binFolder: string, wanted: ReadonlySet<string>): string[];
}

export function createPrograms(root: string, listings: Listings, path = process.env.PATH ?? ""): Programs {
  const folders = [...new Set(path.split(delimiter))].map((folder) => resolve(root, folder));
  const isOwn = (folder: string): boolean => folder === root || folder.startsWith(`${root}/`);
  const outside = folders.filter((folder) => !isOwn(folder));
  const real = [...new Set(outside.map((folder) => targetOf(folder) ?? folder))];
  return {
    outside,
    find: (name) => folders.map((folder) => join(folder, name)).find(isProgram) ?? null,
    planted(binFolder, wanted) {
      const { files } = listings.list(join(root, binFolder));
      if (files.length === 0) return [];
      const others = namesIn(real, listings);
      return files.filter((name) => wanted.has(name) || others.has(name) || isBuiltIn(name));
    },
  };
}

function namesIn(folders: readonly string[], listings: Listings): { has(name: string): boolean } {
  const sets = folders.map((folder) => nameSet(listings.list(folder).files));
  return { has: (name) => sets.some((set) => set.has(name)) };
}

const SETS = new WeakMap<readonly string[], ReadonlySet<string>>();

function nameSet(files: readonly string[]): ReadonlySet<string> {
  const set = SETS.get(files) ?? new Set(files);
  SETS.set(files, set);
  return set;
}

function isProgram(path: string): boolean {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return (stat?.isFile() ?? false) && ((stat?.mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}

const SMALL_PROGRAM = 256 * 1024;

/** The hash of a program outside the project; null: it is missing. */
export function hashOutside(path: string): string | null {
  try {
    const stat = statSync(path, { bigint: true });
    const content = stat.size <= SMALL_PROGRAM ? readPlain(realpathSync(path), SMALL_PROGRAM) : null;
    return content === null ? sha256(`${path}\n${stat.size} ${stat.mtimeNs} ${stat.ino}`) : sha256(content);
  } catch {
    return null;
  }
}

/** The file that an entry of `node_modules/.bin` starts, absolute. The entry is a link or a small script by pnpm. */
export function startedBy(entry: string): string | null {
  const target = targetOf(entry);
  if (target !== null) return target;
  const text = readPlain(entry, 16 * 1024)?.toString("utf8") ?? "";
  const [, place] =
    /"\$basedir\/([^"]+\.[cm]?js)"/.exec(text) ?? /"\$basedir\/([^"$]+)"\s+"\$@"/.exec(text) ?? [];
  return place === undefined ? null : realPlace(join(dirname(entry), place));
}

/** The folder of the installed package that contains the file, absolute. */
export function packageOf(file: string): string | null {
  for (let folder = dirname(file); folder.includes("node_modules"); folder = dirname(folder)) {
    if (readManifest(folder, "package.json")?.name !== undefined) return folder;
  }
  return null;
}

/** The hash of the entry, the file that it starts and the manifest of its package. */
export async function hashEntry(entry: string, hashes: FileHashes): Promise<string | null> {
  const own = await hashes.hash(entry);
  if (own === null) return null;
  const target = startedBy(entry);
  const home = target === null ? null : packageOf(target);
  const parts = [
    own,
    linkText(entry) ?? "",
    target === null ? "" : await hashes.hash(target),
    home === null ? "" : await hashes.hash(join(home, "package.json")),
  ];
  return sha256(parts.join("\n"));
}

const MAX_PACKAGE_FILES = 1_000;

/** The hash of all files of an installed package, without nested packages. */
export async function hashPackage(
  folder: string,
  hashes: FileHashes,
  listings: Listings,
): Promise<string | null> {
  const lines: string[] = [];
  const open = [""];
  for (let at = open.pop(); at !== undefined && lines.length < MAX_PACKAGE_FILES; at = open.pop()) {
    const { files, folders } = listings.list(folder + at);
    for (const name of files) {
      const found = hashes.hash(`${folder}${at}/${name}`);
      lines.push(`${at}/${name} ${found instanceof Promise ? await found : found}`);
    }
    for (const name of folders) if (name !== "node_modules") open.push(`${at}/${name}`);
  }
  return lines.length === 0 ? null : sha256(lines.sort().join("\n"));
}
