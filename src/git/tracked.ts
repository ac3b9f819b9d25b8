/** The engine's files that git tracks. They come with a pull or a checkout, so nobody can tell who wrote them (H2). */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { repositoryAbove } from "../system/find-program.ts";
import { createGit, type Git, readable } from "./git-process.ts";

const NAMES = ["journal*.jsonl", "tasks.json", "state.json", "origin", "loop.lock", "runs"];

/** How long to wait for another git to finish. */
const AT_WORK_MS = 2_000;
const LOOK_MS = 50;

export interface Tracked {
  /** Relative to the project. */
  readonly files: readonly string[];
  /** Why git does not tell, for the end of a sentence; null: it told. */
  readonly problem: string | null;
}

/** Outside a repository nothing is tracked. */
export async function trackedEngineFiles(root: string): Promise<Tracked> {
  const dir = join(root, ".loop");
  if (!existsSync(dir)) return { files: [], problem: null };
  const [listed, inside] = await Promise.all([
    listTracked(createGit(root), ".loop/"),
    // `.loop` may be a submodule, or a link to another folder of the project
    listTracked(createGit(dir), ""),
  ]);
  // some disks ignore upper and lower case: then `.LOOP` is the same folder
  const isOurs = (path: string) => isSame(dir, join(root, path.split("/", 1)[0] ?? ""));
  const files = [...listed.files.filter(isOurs), ...inside.files.map((name) => `.loop/${name}`)];
  return { files: [...new Set(files)], problem: listed.problem ?? inside.problem };
}

/**
 * Is another git at work here for longer than a moment? It writes its index last, so until then nobody can tell which
 * files it brought. Ask this before `trackedEngineFiles`.
 */
export async function isGitAtWork(root: string): Promise<boolean> {
  const folders = [root, join(root, ".loop")].filter((folder) => existsSync(folder));
  const locks = await Promise.all(folders.map((folder) => lockOf(createGit(folder))));
  const isLocked = () => locks.some((lock) => lock !== null && existsSync(lock));
  for (let waited = 0; waited < AT_WORK_MS && isLocked(); waited += LOOK_MS) await pause(LOOK_MS);
  return isLocked();
}

async function listTracked(git: Git, prefix: string): Promise<Tracked> {
  const paths = NAMES.map((name) => `:(icase,glob)${prefix}${name}`);
  const { code, stdout, problem } = await git.run({ args: ["ls-files", "-z", "--", ...paths] });
  if (code === 0) return { files: stdout.split("\0").filter((path) => path !== ""), problem: null };
  return { files: [], problem: repositoryAbove(git.cwd) === null ? null : problem };
}

async function lockOf(git: Git): Promise<string | null> {
  const { code, stdout } = await git.run({ args: ["rev-parse", "--git-path", "index.lock"] });
  return code === 0 ? resolve(git.cwd, readable(stdout.replace(/\n$/, ""))) : null;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
