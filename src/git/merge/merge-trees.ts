/**
 * Creates the tree of a merge without a checkout (`git merge-tree`, git 2.38), or in a worktree with an older git. Every
 * `.loop` keeps the content of the target (C5).
 *
 * Merge drivers from the repository's configuration do not run, because an agent could have written them (`guard.ts`);
 * git's own merge is used instead. Merge drivers from the person's configuration run.
 */
import type { LoopId } from "../../core/loop.ts";
import { withPrivateIndex } from "../checkpoints/private-index.ts";
import { parseRawDiff, runOnFiles, splitNames, writeChanges } from "../checkpoints/stage.ts";
import { type Git, type GitAnswer, mustSucceed, OUR_NAME, readable } from "../git-process.ts";
import { findRepository } from "../repository.ts";
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

/** Throws an error for the middle of a sentence. */
export async function mergeTrees(
  place: WorkTree,
  ours: string,
  theirs: string,
  withWorktree: WithWorktree,
): Promise<MergedTree> {
  const { git } = place.repository;
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
  const answer = await git.run({ args: [...PLAIN, ...args] });
  const merged = isTooOld(answer)
    ? await withWorktree(ours, async (top) =>
        mergeInWorktree((await findRepository(git.in(top))).git, theirs),
      )
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

async function mergeInWorktree(git: Git, theirs: string): Promise<RawMerge> {
  const run = (...args: string[]) => git.run({ args: [...PLAIN, ...args], env: OUR_NAME });
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

/** The tree with every `.loop` from the commit. */
export async function withLoopOf({ repository }: WorkTree, tree: string, commit: string): Promise<string> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", tree, commit, "--", ...LOOP_FILES];
  const changes = parseRawDiff(mustSucceed(await repository.git.run({ args })));
  if (changes.length === 0) return tree;
  return withPrivateIndex(repository, MERGE_INDEX, async (index) => {
    mustSucceed(await runOnFiles(repository, index, { args: ["read-tree", tree] }));
    return writeChanges(repository, index, changes);
  });
}
