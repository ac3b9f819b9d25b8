/**
 * Finds the repository of a project and decides which of its settings count.
 *
 * Filters (`filter.<name>.clean` and similar) are programs that git starts for files that `.gitattributes` names. Filters
 * from the person's configuration run: without Git LFS, every large file would go into the object store. Filters from
 * the repository's configuration do not run, because an agent could have written them to escape its sandbox. Exception:
 * exactly the lines that `git lfs install --local` and `git-crypt init` write. Files of a filter that does not run are
 * saved and restored byte by byte.
 */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Git, type GitAnswer, mustSucceed, readable, refuse } from "./git-process.ts";

export interface Repository {
  readonly git: Git;
  /** A linked work tree has its own git folder. */
  readonly gitDir: string;
  /** The git folder that all work trees share. */
  readonly commonDir: string;
  /** The path of the project in the work tree: empty, or with a final `/`. */
  readonly prefix: string;
  /** null: no commit yet. */
  readonly head: string | null;
  /** Goes before every command that may read files of the work tree. */
  readonly filterSettings: readonly string[];
  readonly isSparse: boolean;
  /** Git may store other content than the disk has: line endings, attributes. */
  readonly hasConversions: boolean;
}

/** Throws a LoopError for the middle of a sentence. */
export async function findRepository(git: Git): Promise<Repository> {
  if (!isFolder(git.cwd)) refuse("the project's folder is missing");
  const what = ["--is-inside-work-tree", "--show-prefix", "--absolute-git-dir", "--git-common-dir"];
  const [place, config] = await Promise.all([
    git.run({ args: ["rev-parse", ...what, "-q", "--verify", "HEAD^{commit}"] }),
    askConfig(git, "^(filter\\..*|core\\.(sparsecheckout|autocrlf|eol|attributesfile|symlinks|filemode))$"),
  ]);
  // 1: there is no commit yet
  if (place.code !== 0 && place.code !== 1) refuse(whyNot(place.problem));
  const [isInside, prefix = "", gitDir = "", commonDir = "", head, more] = place.stdout.split("\n");
  if (isInside !== "true") refuse("this repository has no work tree here");
  if (place.code === 0 && more !== "") refuse("the name of its folder contains a line break");
  const { isConverting, ...settings } = settingsOf(parseConfig(config));
  const paths = {
    gitDir: readable(gitDir),
    commonDir: resolve(git.cwd, readable(commonDir)),
    prefix,
  };
  const hasConversions = isConverting || existsSync(join(paths.gitDir, "info", "attributes"));
  return { git, ...paths, head: head || null, ...settings, hasConversions };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function whyNot(problem: string): string {
  return problem.startsWith("not a git repository") ? "this folder is not in a git repository" : problem;
}

/** Filters that known tools write into the repository's configuration. They run from the person's PATH. */
const KNOWN_FILTER =
  /^(?:git-lfs (?:clean|smudge)(?: --skip)? -- %f|git-lfs filter-process(?: --skip)?|"?git-crypt"? (?:clean|smudge)(?: --key-name=\w+)?)$/;

interface Setting {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

/** Asks for the settings whose key matches. */
export function askConfig(git: Git, pattern: string): Promise<GitAnswer> {
  return git.run({ args: ["config", "--null", "--show-scope", "--get-regexp", pattern] });
}

export function parseConfig(answer: GitAnswer): readonly Setting[] {
  // 1: none of these settings exists
  const fields = answer.code === 1 ? [] : mustSucceed(answer).split("\0");
  return fields.flatMap((field, at) => {
    const [, key = "", value = ""] = /^([^\n]*)\n?([\s\S]*)$/.exec(field) ?? [];
    return at % 2 === 0 ? [] : [{ scope: fields[at - 1] ?? "", key, value }];
  });
}

/** An agent may have written it. */
export function isDistrusted({ scope }: Setting): boolean {
  return scope !== "system" && scope !== "global";
}

/** Can the setting be overridden on a command line? */
export function isPlainName(name: string): boolean {
  return /^[ -<>-~]+$/.test(name);
}

function settingsOf(
  settings: readonly Setting[],
): Pick<Repository, "filterSettings" | "isSparse"> & { readonly isConverting: boolean } {
  const distrusted = new Set<string>();
  let isSparse = false;
  let isConverting = false;
  for (const setting of settings) {
    const { key, value } = setting;
    const [, name, variable = ""] = /^filter\.(.+)\.([^.]+)$/.exec(key) ?? [];
    if (key === "core.sparsecheckout") isSparse = isTrue(value);
    else if (key === "core.symlinks" || key === "core.filemode") isConverting ||= !isTrue(value);
    else if (name === undefined) isConverting ||= !/^(?:false|no|off|0)$/i.test(value);
    else if (isDistrusted(setting) && variable !== "required" && !KNOWN_FILTER.test(value))
      distrusted.add(name);
  }
  if (![...distrusted].every(isPlainName))
    refuse("the repository's configuration has a filter with an unsupported name");
  // an empty `process` overrides `clean` and `smudge` and starts nothing
  const filterSettings = [...distrusted].flatMap((name) => [
    "-c",
    `filter.${name}.process=`,
    "-c",
    `filter.${name}.required=false`,
  ]);
  return { filterSettings, isSparse, isConverting };
}

function isTrue(value: string): boolean {
  return /^(?:true|yes|on|1|)$/i.test(value);
}
