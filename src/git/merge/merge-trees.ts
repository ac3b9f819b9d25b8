/**
 * Creates the tree of a merge without a checkout (`git merge-tree`, git 2.38), or in a worktree with an older git. Every
 * `.loop` keeps the content of the target (C5).
 *
 * Merge drivers from the repository's configuration do not run, because an agent could have written them; git's own merge
 * is used instead. Merge drivers from the person's configuration run.
 */
import type { LoopId } from "../../core/loop.ts";
import { withPrivateIndex } from "../checkpoints/private-index.ts";
import { mustSucceed, runOnFiles, splitNames, writeTree } from "../checkpoints/stage.ts";
import { createGit, type GitAnswer, type GitOptions, readable } from "../git-process.ts";
import { OUR_NAME } from "../worktrees/worktree-commit.ts";
import type { WorkTree } from "../worktrees/worktree-place.ts";

export type MergedTree =
  | { readonly kind: "tree"; readonly tree: string }
  | { readonly kind: "conflict"; readonly files: readonly string[] };

/** Creates a worktree of a commit, runs the work in it, and removes it. */
export type WithWorktree = <T>(commit: string, work: (top: string) => Promise<T>) => Promise<T>;

const LOOP_FILES = [":(glob)**/.loop", ":(glob)**/.loop/**"];
const MERGE_INDEX = "backlog-merge" as LoopId;
/** Git's exit code for unknown options. */
const WRONG_USE = 129;
/** These settings of the person would change the result. */
const PLAIN = ["-c", "rerere.enabled=false", "-c", "merge.renormalize=false"];
const BUILT_IN = "git merge-file -q %A %O %B || exit 1";

/** Throws an error for the middle of a sentence. */
export async function mergeTrees(
  place: WorkTree,
  ours: string,
  theirs: string,
  withWorktree: WithWorktree,
  gitOptions: GitOptions,
): Promise<MergedTree> {
  const { repository } = place;
  const settings = [...repository.filterSettings, ...PLAIN, ...(await driverSettings(place))];
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
  const answer = await repository.git.run({ args: [...settings, ...args] });
  const merged = isTooOld(answer)
    ? await withWorktree(ours, (top) => mergeInWorktree(top, theirs, settings, gitOptions))
    : readMerge(answer);
  const files = merged.files.filter((name) => !name.split("/").includes(".loop"));
  if (files.length > 0) return { kind: "conflict", files: files.map(readable) };
  return { kind: "tree", tree: await withLoopOf(place, merged.tree, ours) };
}

/** `files`: names with a conflict. */
interface RawMerge {
  readonly tree: string;
  readonly files: readonly string[];
}

function isTooOld({ code, problem }: GitAnswer): boolean {
  return code === WRONG_USE || /usage: git merge-tree/.test(problem);
}

function readMerge(answer: GitAnswer): RawMerge {
  if (answer.code !== 0 && answer.code !== 1) mustSucceed(answer);
  const [tree = "", ...files] = splitNames(answer.stdout);
  return { tree, files: [...new Set(files)] };
}

async function mergeInWorktree(
  top: string,
  theirs: string,
  settings: readonly string[],
  gitOptions: GitOptions,
): Promise<RawMerge> {
  const git = createGit(top, gitOptions);
  const run = (...args: string[]) => git.run({ args: [...settings, ...args], env: OUR_NAME });
  const flags = ["-q", "--no-commit", "--no-ff", "--no-stat", "--no-verify-signatures"];
  const merged = await run("merge", ...flags, theirs);
  if (merged.code !== 0 && merged.code !== 1) mustSucceed(merged);
  const files = splitNames(
    mustSucceed(await run("diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff")),
  );
  if (merged.code === 1 && files.length === 0) mustSucceed(merged);
  if (files.some((name) => !name.split("/").includes(".loop"))) return { tree: "", files };
  const input = `${files.join("\0")}${files.length === 0 ? "" : "\0"}`;
  mustSucceed(await git.run({ args: ["update-index", "--force-remove", "-z", "--stdin"], input }));
  return { tree: mustSucceed(await run("write-tree")).trim(), files };
}

async function driverSettings({ repository: { git } }: WorkTree): Promise<readonly string[]> {
  const args = ["config", "--null", "--show-scope", "--get-regexp", "^merge\\..*\\.driver$"];
  const { stdout } = await git.run({ args });
  const fields = stdout.split("\0");
  const settings: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [key = ""] = (fields[at + 1] ?? "").split("\n");
    if (fields[at] === "system" || fields[at] === "global") continue;
    if (!/^[ -<>-~]+$/.test(key))
      throw new Error("the git configuration has a merge driver with an unsupported name");
    settings.push("-c", `${key}=${BUILT_IN}`);
  }
  return settings;
}

/** The tree with every `.loop` from the commit. */
export async function withLoopOf({ repository }: WorkTree, tree: string, commit: string): Promise<string> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", tree, commit, "--", ...LOOP_FILES];
  const fields = splitNames(mustSucceed(await repository.git.run({ args })));
  if (fields.length === 0) return tree;
  const lines: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = "", , object = ""] = (fields[at] ?? "").slice(1).split(" ");
    lines.push(`${mode} ${object}\t${fields[at + 1] ?? ""}\0`);
  }
  return withPrivateIndex(repository, MERGE_INDEX, async (index) => {
    mustSucceed(await runOnFiles(repository, index, { args: ["read-tree", tree] }));
    const input = lines.join("");
    mustSucceed(await runOnFiles(repository, index, { args: ["update-index", "-z", "--index-info"], input }));
    return writeTree(repository, index);
  });
}
