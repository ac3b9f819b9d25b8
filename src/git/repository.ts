/** Finds the repository of a project, and the git that starts none of its programs (`guard.ts`). */
import { existsSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Git, readable, refuse } from "./git-process.ts";
import { askSettings, filesOf, guardedGit, parseSettings, type Setting } from "./guard.ts";

export interface Repository {
  /** Does not read the repository's configuration. */
  readonly git: Git;
  /** A linked work tree has its own git folder. */
  readonly gitDir: string;
  /** The git folder that all work trees share. */
  readonly commonDir: string;
  /** The path of the project in the work tree: empty, or with a final `/`. */
  readonly prefix: string;
  /** null: no commit yet. */
  readonly head: string | null;
  readonly isSparse: boolean;
  /** Git may store other content than the disk has: line endings, attributes. */
  readonly hasConversions: boolean;
  /** The files with settings, also those that are included. */
  readonly settingsFiles: readonly string[];
}

/** Throws a LoopError for the middle of a sentence. */
export async function findRepository(git: Git): Promise<Repository> {
  if (!isFolder(git.cwd)) refuse("the project's folder is missing");
  const what = ["--is-inside-work-tree", "--show-prefix", "--absolute-git-dir", "--git-common-dir"];
  const [answer, config] = await Promise.all([
    git.run({ args: ["rev-parse", ...what, "-q", "--verify", "HEAD^{commit}"] }),
    askSettings(git),
  ]);
  // 1: there is no commit yet
  if (answer.code !== 0 && answer.code !== 1) refuse(whyNot(answer.problem));
  const [isInside, prefix = "", gitDir = "", commonDir = "", head, more] = answer.stdout.split("\n");
  if (isInside !== "true") refuse("this repository has no work tree here");
  if (answer.code === 0 && more !== "") refuse("the name of its folder contains a line break");
  const settings = parseSettings(config, git.cwd);
  const place = {
    gitDir: readable(gitDir),
    commonDir: resolve(git.cwd, readable(commonDir)),
    top: resolve(git.cwd, relative(readable(prefix), "")),
  };
  if (!existsSync(join(place.top, ".git")))
    refuse("the repository's configuration moves its work tree to another folder");
  return {
    git: guardedGit(git, place, settings),
    gitDir: place.gitDir,
    commonDir: place.commonDir,
    prefix,
    head: head || null,
    isSparse: isTrue(lastOf(settings, "core.sparsecheckout") ?? "false"),
    hasConversions: isConverting(settings) || existsSync(join(place.commonDir, "info", "attributes")),
    settingsFiles: filesOf(settings, git.env),
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function whyNot(problem: string): string {
  return problem.startsWith("not a git repository") ? "this folder is not in a git repository" : problem;
}

function lastOf(settings: readonly Setting[], key: string): string | undefined {
  const found = settings.findLast((setting) => setting.key === key);
  return found === undefined ? undefined : (found.value ?? "true");
}

function isConverting(settings: readonly Setting[]): boolean {
  const isOn = (key: string) => !/^(?:false|no|off|0)$/i.test(lastOf(settings, key) ?? "false");
  const isOff = (key: string) => !isTrue(lastOf(settings, key) ?? "true");
  return (
    ["core.autocrlf", "core.eol", "core.attributesfile"].some(isOn) ||
    ["core.symlinks", "core.filemode"].some(isOff)
  );
}

function isTrue(value: string): boolean {
  return /^(?:true|yes|on|1)$/i.test(value);
}
