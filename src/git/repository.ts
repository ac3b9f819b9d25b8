/**
 * The repository that a project is in, and what of its configuration is obeyed.
 *
 * Filters (`filter.<name>.clean` and the like) are programs that git starts for the files that `.gitattributes`
 * names. Those of the person's own configuration run: without Git LFS every large file would go into the object
 * store. Those of the repository's configuration could have been planted by an agent, to be run by us outside of
 * its sandbox: they do not run, unless they are word for word what `git lfs install --local` or `git-crypt init`
 * write. The files of a filter that does not run are kept byte for byte, and come back byte for byte.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Git, readable } from "./git-process.ts";

export interface Repository {
  readonly git: Git;
  /** Of this work tree: a linked one has its own. */
  readonly gitDir: string;
  /** The project in the work tree, as a name of git's: empty or with `/` at its end. */
  readonly prefix: string;
  /** null: there is no commit yet. */
  readonly head: string | null;
  /** In front of every command that may look at files of the work tree. */
  readonly filterSettings: readonly string[];
  readonly isSparse: boolean;
  /** Content may be kept otherwise than it is on disk: line endings, attributes of the person's own. */
  readonly hasConversions: boolean;
}

export type Located =
  | { readonly kind: "found"; readonly repository: Repository }
  | { readonly kind: "none"; readonly reason: string };

export async function findRepository(git: Git): Promise<Located> {
  if (!isFolder(git.cwd)) return { kind: "none", reason: "the project's folder is missing" };
  const what = ["--is-inside-work-tree", "--show-prefix", "--absolute-git-dir"];
  const [place, config] = await Promise.all([
    git.run({ args: ["rev-parse", ...what, "-q", "--verify", "HEAD^{commit}"] }),
    git.run({
      args: [
        "config",
        "--null",
        "--show-scope",
        "--get-regexp",
        "^(filter\\..*|core\\.(sparsecheckout|autocrlf|eol|attributesfile|symlinks|filemode))$",
      ],
    }),
  ]);
  // 1: all is well, but there is no commit
  if (place.code !== 0 && place.code !== 1) return { kind: "none", reason: whyNot(place.problem) };
  const [isInside, prefix = "", gitDir = "", head, more] = place.stdout.split("\n");
  if (isInside !== "true") return { kind: "none", reason: "this repository has no work tree here" };
  if (place.code === 0 && more !== "")
    return { kind: "none", reason: "the name of its folder contains a line break" };
  // 1 again: none of these is set
  if (config.code !== 0 && config.code !== 1) return { kind: "none", reason: config.problem };
  const { filterSettings, isSparse, isConverting } = parseSettings(config.stdout);
  if (filterSettings === null)
    return { kind: "none", reason: "the repository's configuration has a filter with an unsupported name" };
  const paths = { gitDir: readable(gitDir), prefix };
  const hasConversions = isConverting || existsSync(join(paths.gitDir, "info", "attributes"));
  const repository = { git, ...paths, head: head || null, filterSettings, isSparse, hasConversions };
  return { kind: "found", repository };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function whyNot(problem: string): string {
  return problem.startsWith("not a git repository") ? "this folder is not in a git repository" : problem;
}

/** What well-known tools write into a repository's own configuration. They are found by the person's PATH. */
const KNOWN_FILTER =
  /^(?:git-lfs (?:clean|smudge)(?: --skip)? -- %f|git-lfs filter-process(?: --skip)?|"?git-crypt"? (?:clean|smudge)(?: --key-name=\w+)?)$/;

interface Settings {
  /** null: a name that cannot be overruled on a command line. */
  readonly filterSettings: string[] | null;
  readonly isSparse: boolean;
  readonly isConverting: boolean;
}

function parseSettings(output: string): Settings {
  const fields = output.split("\0");
  const distrusted = new Set<string>();
  let isSparse = false;
  let isConverting = false;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const scope = fields[at] ?? "";
    const [, key = "", value = ""] = /^([^\n]*)\n?([\s\S]*)$/.exec(fields[at + 1] ?? "") ?? [];
    const [, name, variable = ""] = /^filter\.(.+)\.([^.]+)$/.exec(key) ?? [];
    if (key === "core.sparsecheckout") isSparse = isTrue(value);
    else if (key === "core.symlinks" || key === "core.filemode") isConverting ||= !isTrue(value);
    else if (name === undefined) isConverting ||= !/^(?:false|no|off|0)$/i.test(value);
    else if (scope !== "system" && scope !== "global" && variable !== "required" && !KNOWN_FILTER.test(value))
      distrusted.add(name);
  }
  // an empty `process` wins over `clean` and `smudge`, and starts nothing
  const filterSettings = [...distrusted].flatMap((name) => [
    "-c",
    `filter.${name}.process=`,
    "-c",
    `filter.${name}.required=false`,
  ]);
  const isOdd = [...distrusted].some((name) => !/^[ -<>-~]+$/.test(name));
  return { filterSettings: isOdd ? null : filterSettings, isSparse, isConverting };
}

function isTrue(value: string): boolean {
  return /^(?:true|yes|on|1|)$/i.test(value);
}
