/**
 * Keeps git's list of files while nothing changed that the list depends on: names in folders, ignore rules, index and
 * configuration. Then git would return the same list, so it does not start.
 *
 * Ignored folders are not read, because git lists nothing in them except files of the index. Follows no link and must
 * not throw.
 */
import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { orNull, readThroughLinks } from "../../system/files.ts";
import { isSettled, signOf } from "./file-hash.ts";
import { type FileListing, type Listings, walkFolders } from "./listings.ts";

export interface SteadyList {
  /** null: ask git. */
  current(): readonly string[] | null;
  /** Stores git's answer. `ignored`: folders that git leaves out, relative to the project, without a final `/`. */
  keep(paths: readonly string[], ignored: ReadonlySet<string>, asOf: Signs | null): void;
  /** Call it before git starts, so that changes during git's run are noticed. null: a file changed too recently. */
  look(ignored: ReadonlySet<string>): Signs | null;
}

/** Everything that the list depends on. */
export interface Signs {
  readonly folders: readonly FileListing[];
  readonly files: readonly string[];
}

/** With more folders, git is faster. */
const MOST_FOLDERS = 5_000;

export function createSteadyList(root: string, repository: string, listings: Listings): SteadyList {
  let kept: { paths: readonly string[]; ignored: ReadonlySet<string>; signs: Signs } | null = null;

  function look(ignored: ReadonlySet<string>): Signs | null {
    const folders: FileListing[] = [];
    const rules: string[] = [];
    const isEntered = (path: string, name: string) =>
      name !== ".git" && path !== ".loop" && !ignored.has(path) && !isRepository(`${root}/${path}`);
    for (const { prefix, listing } of walkFolders(listings, root, isEntered)) {
      folders.push(listing);
      if (folders.length > MOST_FOLDERS) return null;
      if (listing.files.includes(".gitignore")) rules.push(`${root}/${prefix}.gitignore`);
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
      // the state before and after git's run has to be the same
      kept = asOf !== null && signs !== null && isSame(signs, asOf) ? { paths, ignored, signs } : null;
    },
  };
}

/** Other files that the list depends on: index, configuration and ignore rules of the repository and the person. */
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

/** null: the file changed so recently that it could change again with the same times. */
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
  return orNull(() => readThroughLinks(path));
}

function isSame(a: Signs, b: Signs): boolean {
  return isEqual(a.folders, b.folders) && isEqual(a.files, b.files);
}

function isEqual<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}
