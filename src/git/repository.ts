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
import { join } from "node:path";
import { type Git, readable } from "./git-process.ts";

export interface Repository {
  readonly git: Git;
  /** A linked work tree has its own git folder. */
  readonly gitDir: string;
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
  // 1: there is no commit yet
  if (place.code !== 0 && place.code !== 1) return { kind: "none", reason: whyNot(place.problem) };
  const [isInside, prefix = "", gitDir = "", head, more] = place.stdout.split("\n");
  if (isInside !== "true") return { kind: "none", reason: "this repository has no work tree here" };
  if (place.code === 0 && more !== "")
    return { kind: "none", reason: "the name of its folder contains a line break" };
  // 1: none of these settings exists
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

/** Filters that known tools write into the repository's configuration. They run from the person's PATH. */
const KNOWN_FILTER =
  /^(?:git-lfs (?:clean|smudge)(?: --skip)? -- %f|git-lfs filter-process(?: --skip)?|"?git-crypt"? (?:clean|smudge)(?: --key-name=\w+)?)$/;

interface Settings {
  /** null: the name of a filter cannot be overridden on a command line. */
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
  // an empty `process` overrides `clean` and `smudge` and starts nothing
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
