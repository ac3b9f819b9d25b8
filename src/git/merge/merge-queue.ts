/**
 * Merges a story's branch into the target of the run, in two steps (C13). `prepareMerge` creates the merged commit and a
 * worktree of it. The caller runs the checks there. `publishMerge` moves the target. Before that, no branch, index or
 * file of a person changes.
 *
 * 1. Commits that the target already has are never merged again.
 * 2. Branches of stories do not move, so no commit is lost before the target has it.
 */
import { commitOf, type GitOptions, isAncestor, mustSucceed, wordsOf } from "../git-process.ts";
import { makeCommit } from "../worktrees/worktree-commit.ts";
import { makeMergeWorktree } from "../worktrees/worktree-making.ts";
import { openPlace, type WorkTree } from "../worktrees/worktree-place.ts";
import { discardMergeWorktree, type WorktreeOptions } from "../worktrees/worktrees.ts";
import { type Merge, type PublishResult, publish } from "./merge-publish.ts";
import { mergeTrees, type WithWorktree, withLoopOf } from "./merge-trees.ts";

export interface MergeRequest {
  readonly story: string;
  /** Branch names have no `refs/heads/`. */
  readonly branch: string;
  readonly target: string;
  /** The message of the merge commit. */
  readonly message: string;
}

export interface PreparedMerge extends Merge {
  readonly worktree: string;
  /** The project's folder with the merged files. */
  readonly projectDir: string;
}

export type PrepareResult =
  | { readonly kind: "prepared"; readonly merge: PreparedMerge }
  /** The target already has all commits. */
  | { readonly kind: "nothing to merge" }
  | { readonly kind: "conflict"; readonly files: readonly string[] }
  | { readonly kind: "failed"; readonly reason: string };

export async function prepareMerge(
  dir: string,
  request: MergeRequest,
  options: WorktreeOptions = {},
): Promise<PrepareResult> {
  try {
    const place = await openPlace(dir, options);
    const { git } = place.repository;
    const { story, branch, target, message } = request;
    const [before, tip] = await Promise.all(
      [target, branch].map((name) => commitOf(git, `refs/heads/${name}`)),
    );
    if (!before || !tip) return failed(`there is no branch ${before ? branch : target}`);
    if (await isAncestor(git, tip, before)) return { kind: "nothing to merge" };
    const merged = await mergedCommit(place, { story, before, tip, message }, options);
    if (typeof merged !== "string") return { kind: "conflict", files: merged.files };
    const { id, projectDir } = await makeMergeWorktree(place, story, merged, options);
    return {
      kind: "prepared",
      merge: { story, branch, tip, target, before, commit: merged, worktree: id, projectDir },
    };
  } catch (error) {
    return failed(error);
  }
}

/** Call it when the checks pass. Afterwards the merge is over in any case; if the target moved, prepare it again. */
export async function publishMerge(
  dir: string,
  merge: PreparedMerge,
  options?: GitOptions,
): Promise<PublishResult> {
  const place = await openPlace(dir, options).catch(failed);
  if ("kind" in place) return place;
  try {
    const result = await publish(place, merge);
    await discardMergeWorktree(place, merge.worktree);
    return result;
  } catch (error) {
    return { kind: "failed", reason: `The merge was not finished: ${wordsOf(error)}.` };
  }
}

/** Call it when the checks fail. Returns a sentence why its worktree could not be removed, or null. */
export async function discardMerge(
  dir: string,
  { worktree }: PreparedMerge,
  options?: GitOptions,
): Promise<string | null> {
  try {
    await discardMergeWorktree(await openPlace(dir, options), worktree);
    return null;
  } catch (error) {
    return `${worktree} stays: ${wordsOf(error)}.`;
  }
}

/** A fast-forward if the target has no other commits. */
async function mergedCommit(
  place: WorkTree,
  { story, before, tip, message }: Pick<Merge & MergeRequest, "story" | "before" | "tip" | "message">,
  options: WorktreeOptions,
): Promise<string | { readonly files: readonly string[] }> {
  const { git } = place.repository;
  if (await isAncestor(git, before, tip)) {
    const tree = mustSucceed(await git.run({ args: ["rev-parse", `${tip}^{tree}`] })).trim();
    const wanted = await withLoopOf(place, tree, before);
    return wanted === tree ? tip : makeCommit(git, wanted, [before, tip], message);
  }
  const withWorktree: WithWorktree = async (commit, work) => {
    const { id, path } = await makeMergeWorktree(place, story, commit, options);
    try {
      return await work(path);
    } finally {
      await discardMergeWorktree(place, id);
    }
  };
  const merged = await mergeTrees(place, before, tip, withWorktree);
  return merged.kind === "conflict" ? merged : makeCommit(git, merged.tree, [before, tip], message);
}

function failed(reason: unknown): Extract<PrepareResult, { kind: "failed" }> {
  return { kind: "failed", reason: `Nothing was merged: ${wordsOf(reason)}.` };
}
