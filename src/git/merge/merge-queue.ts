/**
 * Merges a story's branch into the target of the run, in two steps (C13). `prepareMerge` creates the merged commit and a
 * worktree of it. The caller runs the checks there. `publishMerge` moves the target. Before that, no branch, index or
 * file of a person changes.
 *
 * 1. Commits that the target already has are never merged again.
 * 2. Branches of stories do not move, so no commit is lost before the target has it.
 */
import { mustSucceed } from "../checkpoints/stage.ts";
import { commitOf, isAncestor, wordsOf } from "../git-process.ts";
import { makeCommit } from "../worktrees/worktree-commit.ts";
import { makeMergeWorktree, type SetUp } from "../worktrees/worktree-making.ts";
import { openPlace, TIMEOUT_MS, type WorkTree } from "../worktrees/worktree-place.ts";
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
  /** The same as for the worktree of a story. */
  readonly setUp?: SetUp;
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
    const opened = await openPlace(dir, options);
    if (opened.kind === "none") return failed(opened.reason);
    const { place } = opened;
    const { story, branch, target, message, setUp } = request;
    const [before, tip] = await Promise.all(
      [target, branch].map((name) => commitOf(place.repository.git, `refs/heads/${name}`)),
    );
    if (!before || !tip) return failed(`there is no branch ${before ? branch : target}`);
    if (await isAncestor(place.repository.git, tip, before)) return { kind: "nothing to merge" };
    const merged = await mergedCommit(place, { story, before, tip, message }, options);
    if (typeof merged !== "string") return { kind: "conflict", files: merged.files };
    const { id, projectDir } = await makeMergeWorktree(place, story, merged, setUp, options);
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
  options: WorktreeOptions = {},
): Promise<PublishResult> {
  try {
    const opened = await openPlace(dir, options);
    if (opened.kind === "none") return { kind: "failed", reason: `Nothing was merged: ${opened.reason}.` };
    const result = await publish(opened.place, merge, options);
    await discardMergeWorktree(opened.place, merge.worktree);
    return result;
  } catch (error) {
    return { kind: "failed", reason: `The merge was not finished: ${wordsOf(error)}.` };
  }
}

/** Call it when the checks fail. Returns a sentence why its worktree could not be removed, or null. */
export async function discardMerge(
  dir: string,
  { worktree }: PreparedMerge,
  options: WorktreeOptions = {},
): Promise<string | null> {
  try {
    const opened = await openPlace(dir, options);
    if (opened.kind === "none") return `${worktree} stays: ${opened.reason}.`;
    await discardMergeWorktree(opened.place, worktree);
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
    const { id, path } = await makeMergeWorktree(place, story, commit, undefined, options);
    try {
      return await work(path);
    } finally {
      await discardMergeWorktree(place, id);
    }
  };
  const { env = process.env, timeoutMs = TIMEOUT_MS } = options;
  const merged = await mergeTrees(place, before, tip, withWorktree, { env, timeoutMs });
  return merged.kind === "conflict" ? merged : makeCommit(git, merged.tree, [before, tip], message);
}

function failed(reason: unknown): PrepareResult {
  return { kind: "failed", reason: `Nothing was merged: ${wordsOf(reason)}.` };
}
