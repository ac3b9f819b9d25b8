/**
 * The one finder of programs that the engine starts itself: agents, git and tools. Starts nothing.
 *
 * A program in the project does not count, nor a link into the project: `npx` and `npm run` put `node_modules/.bin` first
 * on the PATH, and an agent can write there. Empty and relative entries of the PATH mean the current folder, so they do
 * not count either. Commands of checks are a person's own words: the shell finds their programs, and `checks/trace/`
 * notices when those change.
 */
import { accessSync, closeSync, constants, existsSync, readSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { openPlain, orNull, readSmallFile } from "./files.ts";

export interface Looked {
  /** Absolute; null: not found. */
  readonly path: string | null;
  /** For the middle of a sentence, after the program's name; empty if found. */
  readonly reason: string;
}

export const NOT_THERE = "is not on the PATH";

/** The program that a shell would start for `name`, outside the project of `folder`. */
export function lookForProgram(name: string, env: NodeJS.ProcessEnv, folder: string): Looked {
  if (name === "" || name.includes("\0")) return { path: null, reason: NOT_THERE };
  if (name.includes("/")) {
    const path = resolve(name);
    return isProgram(path) ? { path, reason: "" } : { path: null, reason: "is not a program" };
  }
  const isOwn = ownPlaces(env, folder);
  let reason = NOT_THERE;
  for (const entry of (env.PATH ?? env.Path ?? "").split(delimiter)) {
    const path = resolve(folder, entry, name);
    if (!isProgram(path)) continue;
    if (isAbsolute(entry) && !isOwn(path)) return { path, reason: "" };
    const why = isAbsolute(entry)
      ? "programs from the project's folders are not started"
      : "relative entries of the PATH do not count";
    if (reason === NOT_THERE) reason = `is only in ${dirname(path)}, and ${why}`;
  }
  return { path: null, reason };
}

/** As `lookForProgram`, without the reason. */
export function findProgram(
  name: string,
  env: NodeJS.ProcessEnv,
  folder: string = process.cwd(),
): string | null {
  return lookForProgram(name, env, folder).path;
}

/** The PATH without the project's folders and without relative entries. */
export function pathOutside(env: NodeJS.ProcessEnv, folder: string): string {
  const isOwn = ownPlaces(env, folder);
  const entries = (env.PATH ?? env.Path ?? "").split(delimiter);
  return entries.filter((entry) => isAbsolute(entry) && !isOwn(entry)).join(delimiter);
}

type Argv = readonly [string, ...string[]];

/** A script that starts with `#!/usr/bin/env node` gets its `node` from outside the project too. */
export function withInterpreter(argv: Argv, env: NodeJS.ProcessEnv, folder: string): Argv {
  const line = /^#! *\/usr\/bin\/env (?:-S )?([\w.+-]+)((?: -[\w=.,:-]+)*) *\n/;
  const [, name, flags = ""] = line.exec(firstBytes(argv[0])) ?? [];
  if (name === undefined) return argv;
  const { path, reason } = lookForProgram(name, env, folder);
  if (path === null && reason !== NOT_THERE) throw new Error(`${argv[0]} needs ${name}, which ${reason}.`);
  return path === null ? argv : [path, ...flags.split(" ").filter(Boolean), ...argv];
}

function firstBytes(path: string): string {
  const bytes = Buffer.alloc(200);
  const fd = isAbsolute(path) ? orNull(() => openPlain(path, constants.O_RDONLY)) : null;
  if (fd === null) return "";
  orNull(() => readSync(fd, bytes));
  closeSync(fd);
  return bytes.toString("latin1");
}

/** The folder of the repository: `.loop` may be in a subfolder, and programs in another one. null: outside git. */
export function repositoryAbove(folder: string): string | null {
  for (let dir = folder; ; dir = dirname(dir)) {
    if (existsSync(join(dir, ".git"))) return dir;
    if (dir === dirname(dir)) return null;
  }
}

/**
 * Does a path belong to the project, by its name or behind its links? A person whose home folder is a repository, or who
 * works in it, keeps their programs there: then only `node_modules/.bin` counts.
 */
function ownPlaces(env: NodeJS.ProcessEnv, folder: string): (path: string) => boolean {
  const home = realOf(env.HOME || homedir());
  const project = realOf(folder);
  const top = repositoryAbove(project) ?? project;
  const places = [project, top, checkoutOf(top), `${checkoutOf(top)}.worktrees`, folder];
  const own = places.filter((place) => !isBelow(place, home));
  if (isBelow(project, home)) return (path) => path.includes("/node_modules/.bin");
  return (path) =>
    isPackagesAbove(project, path) ||
    own.some((place) => isBelow(place, path) || isBelow(place, realOf(path)));
}

/** `npm run` puts the packages of every folder above on the PATH, also of an unpacked archive without git. */
function isPackagesAbove(project: string, path: string): boolean {
  const at = path.lastIndexOf("/node_modules/.bin");
  return at !== -1 && isBelow(realOf(path.slice(0, at) || "/"), project);
}

/** The checkout that a linked work tree belongs to. */
function checkoutOf(top: string): string {
  const [, checkout] =
    /^gitdir: (.+)\/\.git\/worktrees\/[^/]+$/m.exec(readSmallFile(join(top, ".git"), 4_096) ?? "") ?? [];
  return checkout === undefined ? top : realOf(checkout);
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function realOf(path: string): string {
  return orNull(() => realpathSync(path)) ?? resolve(path);
}

function isProgram(path: string): boolean {
  const look = () => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  };
  return orNull(look) ?? false;
}
