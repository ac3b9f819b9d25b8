/**
 * The list of files that git gave, for as long as nothing changed that it depends on: no name came or went in any
 * folder that git looks into, and no rule of what is ignored, no index and no configuration is other than it was.
 * Then git would give the same again, and need not be started.
 *
 * Folders that are ignored as a whole are not looked into: git takes nothing of them in, whatever comes there, except
 * what is in the index. Follows no link and must not throw.
 */
import { lstatSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { isSettled, signOf } from "./file-hash.ts";
import type { FileListing, Listings } from "./listings.ts";

export interface SteadyList {
  /** null: git has to be asked. */
  current(): readonly string[] | null;
  /** What git just gave; `ignored` are the folders that it leaves out, from the project's folder, without `/`. */
  keep(paths: readonly string[], ignored: ReadonlySet<string>, asOf: Signs | null): void;
  /** To be taken before git is asked, so that what changes meanwhile is noticed. null: too fresh to be told apart. */
  look(ignored: ReadonlySet<string>): Signs | null;
}

/** All that the list depends on. */
export interface Signs {
  readonly folders: readonly FileListing[];
  readonly files: readonly string[];
}

interface Kept {
  readonly paths: readonly string[];
  readonly ignored: ReadonlySet<string>;
  readonly signs: Signs;
}

/** More folders than this are no less work than git. */
const MOST_FOLDERS = 5_000;

export function createSteadyList(root: string, repository: string, listings: Listings): SteadyList {
  let kept: Kept | null = null;

  function look(ignored: ReadonlySet<string>): Signs | null {
    const folders: FileListing[] = [];
    const rules: string[] = [];
    const open = [""];
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      const path = folder === "" ? root : `${root}/${folder}`;
      const listing = listings.list(path);
      const prefix = folder === "" ? "" : `${folder}/`;
      folders.push(listing);
      if (folders.length > MOST_FOLDERS) return null;
      if (listing.files.includes(".gitignore")) rules.push(`${path}/.gitignore`);
      for (const name of listing.folders) {
        const inner = prefix + name;
        const isLeftOut = name === ".git" || inner === ".loop" || ignored.has(inner);
        if (!isLeftOut && !isRepository(`${root}/${inner}`)) open.push(inner);
      }
    }
    const files: string[] = [];
    for (const path of [...rules, ...rulesAround(root, repository)]) {
      const sign = signOfFile(path);
      if (sign === null) return null;
      files.push(sign);
    }
    return { folders, files };
  }

  return {
    look,
    current() {
      if (kept === null) return null;
      const now = look(kept.ignored);
      if (now !== null && isSame(now, kept.signs)) return kept.paths;
      kept = null;
      return null;
    },
    keep(paths, ignored, asOf) {
      const signs = look(ignored);
      // what was seen before git looked and after it has to be the same
      kept = asOf !== null && signs !== null && isSame(signs, asOf) ? { paths, ignored, signs } : null;
    },
  };
}

/** Everywhere else that rules come from: the index, the repository's and the person's own. */
function rulesAround(root: string, repository: string): string[] {
  const gitDir = gitDirOf(repository);
  const common = readText(join(gitDir, "commondir"))?.trim() ?? "";
  const shared = common === "" ? gitDir : isAbsolute(common) ? common : join(gitDir, common);
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  const above: string[] = [];
  for (let folder = root; folder !== repository && folder !== dirname(folder); ) {
    folder = dirname(folder);
    above.push(join(folder, ".gitignore"));
  }
  return [
    join(gitDir, "index"),
    join(gitDir, "config.worktree"),
    join(shared, "config"),
    join(shared, "info", "exclude"),
    join(config, "git", "ignore"),
    join(config, "git", "config"),
    join(homedir(), ".gitconfig"),
    ...above,
  ];
}

function gitDirOf(repository: string): string {
  const path = join(repository, ".git");
  const [, link] = /^gitdir: (.+)$/m.exec(readText(path) ?? "") ?? [];
  return link === undefined ? path : isAbsolute(link) ? link : join(repository, link);
}

function isRepository(folder: string): boolean {
  return lstatSync(`${folder}/.git`, { throwIfNoEntry: false }) !== undefined;
}

/** null: so fresh that it could change again without a sign. */
function signOfFile(path: string): string | null {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return "";
    return isSettled(stat, Date.now()) ? signOf(stat) : null;
  } catch {
    return "";
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function isSame(a: Signs, b: Signs): boolean {
  return isEqual(a.folders, b.folders) && isEqual(a.files, b.files);
}

function isEqual<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}
