/**
 * A story's branch into the run's target, in two steps (C13): `prepareMerge` makes the merged commit and a worktree
 * of it, the caller runs the checks there, `publishMerge` moves the target. Between the two nothing has happened to
 * anybody's branch, index or files, and a merge that is never published is only left over.
 *
 * 1. What the target has already is never merged again.
 * 2. A commit of a story is reachable from its branch until the target has it: branches of stories are not moved.
 */

import { mustSucceed } from "../checkpoints/stage.ts";
import type { GitOptions } from "../git-process.ts";
import { makeCommit } from "../worktrees/worktree-commit.ts";
import { makeMergeWorktree, type SetUp } from "../worktrees/worktree-making.ts";
import { openPlace, TIMEOUT_MS, type WorkTree } from "../worktrees/worktree-place.ts";
import { commitOf, discardMergeWorktree, type WorktreeOptions, wordsOf } from "../worktrees/worktrees.ts";
import { type Merge, type PublishResult, publish } from "./merge-publish.ts";
import { mergeTrees, type WithWorktree, withLoopOf } from "./merge-trees.ts";

export interface MergeRequest {
  readonly story: string;
  /** Names of branches are without `refs/heads/`. */
  readonly branch: string;
  readonly target: string;
  /** Of the merge commit. */
  readonly message: string;
  /** As for the worktree of a story. */
  readonly setUp?: SetUp;
}

export interface PreparedMerge extends Merge {
  readonly worktree: string;
  /** The project with all that is merged. */
  readonly projectDir: string;
}

export type PrepareResult =
  | { readonly kind: "prepared"; readonly merge: PreparedMerge }
  /** The target has all of it. */
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
      [target, branch].map((name) => commitOf(place, `refs/heads/${name}`)),
    );
    if (!before || !tip) return failed(`there is no branch ${before ? branch : target}`);
    if (await isAncestor(place, tip, before)) return { kind: "nothing to merge" };
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

/** Once the checks are green. The merge is over after it, however it went: what was moved is prepared anew. */
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

/** When the checks are not green. The sentence why its worktree is still there, or null. */
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

interface Sides {
  readonly story: string;
  readonly before: string;
  readonly tip: string;
  readonly message: string;
}

/** The branch's own commit when the target has nothing else, as git does it. */
async function mergedCommit(
  place: WorkTree,
  { story, before, tip, message }: Sides,
  options: WorktreeOptions,
): Promise<string | { readonly files: readonly string[] }> {
  const { git } = place.repository;
  if (await isAncestor(place, before, tip)) {
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
  const merged = await mergeTrees(place, before, tip, withWorktree, gitOptions(options));
  return merged.kind === "conflict" ? merged : makeCommit(git, merged.tree, [before, tip], message);
}

function gitOptions({ env = process.env, timeoutMs = TIMEOUT_MS }: WorktreeOptions): GitOptions {
  return { env, timeoutMs };
}

async function isAncestor({ repository }: WorkTree, one: string, other: string): Promise<boolean> {
  return (await repository.git.run({ args: ["merge-base", "--is-ancestor", one, other] })).code === 0;
}

function failed(reason: unknown): PrepareResult {
  return { kind: "failed", reason: `Nothing was merged: ${wordsOf(reason)}.` };
}
