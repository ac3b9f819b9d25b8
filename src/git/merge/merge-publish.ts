/**
 * Moves the target branch to a merge, together with the files of a checkout of that branch.
 *
 * 1. The branch moves only if it is still at the commit that the merge is based on. Git compares and sets it.
 * 2. A checkout with uncommitted changes is not touched, and then the branch does not move either: otherwise the checkout
 *    would show the story's work as removed. The merge waits on its own branch, and nothing is lost.
 * 3. The files change before the branch, as in git. After a crash, the same call continues.
 */
import { existsSync, lstatSync } from "node:fs";
import { FILES, pathOf, splitNames } from "../checkpoints/stage.ts";
import { NO_PROGRAMS } from "../diff.ts";
import { commitOf, isAncestor, mustSucceed, readable, wordsOf } from "../git-process.ts";
import { underWay } from "../worktrees/worktree-commit.ts";
import { openWorkTree, type WorkTree } from "../worktrees/worktree-place.ts";
import { shortName } from "../worktrees/worktree-state.ts";
import { checkedOut } from "../worktrees/worktrees.ts";

export interface Merge {
  readonly story: string;
  /** Branch names here have no `refs/heads/`. */
  readonly branch: string;
  readonly tip: string;
  readonly target: string;
  /** The commit of the target before the merge. */
  readonly before: string;
  readonly commit: string;
}

export type PublishResult =
  /** `checkout`: the folder whose files were updated; null: the target is not checked out. */
  | { readonly kind: "merged"; readonly commit: string; readonly checkout: string | null }
  /** The target did not move; the merge is on this branch. */
  | { readonly kind: "held"; readonly commit: string; readonly branch: string; readonly reason: string }
  /** Prepare the merge again. null: the target does not exist. */
  | { readonly kind: "target moved"; readonly to: string | null }
  | { readonly kind: "failed"; readonly reason: string };

const MAX_NUMBER = 100;

export async function publish(place: WorkTree, merge: Merge): Promise<PublishResult> {
  const { git } = place.repository;
  const { target, before, commit } = merge;
  const ref = `refs/heads/${target}`;
  const now = await commitOf(git, ref);
  if (now !== before)
    return now !== null && (await isAncestor(git, commit, now))
      ? { kind: "merged", commit, checkout: null }
      : { kind: "target moved", to: now };
  const tops = ((await checkedOut(place)).get(ref) ?? []).filter((top) => existsSync(top));
  const [top, another] = tops;
  if (top === undefined) return moveRef(place, ref, merge, null);
  if (another !== undefined)
    return hold(place, merge, `${target} is checked out in ${top} and in ${another}`);
  const checkout = await openWorkTree(git.in(top)).catch(wordsOf);
  if (typeof checkout === "string")
    return hold(place, merge, `${target} is checked out in ${top}: ${checkout}`);
  return bringAlong(place, checkout, ref, merge);
}

async function bringAlong(
  place: WorkTree,
  checkout: WorkTree,
  ref: string,
  merge: Merge,
): Promise<PublishResult> {
  const { before, commit, target } = merge;
  const { top, repository } = checkout;
  const run = (...args: string[]) => repository.git.run({ args });
  if (underWay(repository.gitDir)) return hold(place, merge, `a merge or rebase is in progress in ${top}`);
  const isThereAlready = await isClean(checkout, commit);
  if (!isThereAlready && !(await isClean(checkout, before)))
    return hold(place, merge, `${target} is checked out in ${top} with uncommitted changes`);
  if (!isThereAlready) {
    const lost = await fileInTheWay(checkout, before, commit);
    if (lost !== null)
      return hold(place, merge, `${lost} in ${top} would be overwritten, and it is not committed`);
    await run("update-index", "-q", "--refresh");
    const moved = await run("read-tree", "-m", "-u", before, commit);
    if (moved.code !== 0)
      return hold(place, merge, `the files in ${top} cannot be updated: ${moved.problem}`);
  }
  const result = await moveRef(checkout, ref, merge, top);
  // the target moved at this moment: the merge must not look like a staged change of the new commit
  if (result.kind !== "merged") await run("read-tree", "-m", "-u", commit, before);
  return result;
}

/** Index and tracked files equal the commit. `.loop` does not count, because merges do not change it. */
async function isClean({ repository: { git } }: WorkTree, commit: string): Promise<boolean> {
  const quiet = ["--quiet", ...NO_PROGRAMS, "--ignore-submodules=dirty"];
  // `diff` reads files whose times changed; `diff-files` does not
  const [staged, files] = await Promise.all([
    git.run({ args: ["diff", "--cached", ...quiet, commit, "--", ...FILES] }),
    git.run({ args: ["diff", ...quiet, "--", ...FILES] }),
  ]);
  return staged.code === 0 && files.code === 0;
}

/** Git would overwrite an ignored file, and the person may have no copy. */
async function fileInTheWay(
  { repository }: WorkTree,
  before: string,
  commit: string,
): Promise<string | null> {
  const args = ["diff-tree", "-r", "-z", "--name-status", "--no-renames", before, commit];
  const fields = splitNames(mustSucceed(await repository.git.run({ args })));
  const names = (kind: string) => fields.filter((_, at) => at % 2 === 1 && fields[at - 1] === kind);
  const removed = new Set(names("D"));
  for (const name of names("A")) {
    const parts = name.split("/");
    for (let length = 1; length <= parts.length; length++) {
      const way = parts.slice(0, length).join("/");
      const stat = lstatSync(pathOf(repository, way), { throwIfNoEntry: false });
      if (stat === undefined || removed.has(way)) break;
      if (length === parts.length || !stat.isDirectory()) return readable(way);
    }
  }
  return null;
}

async function moveRef(
  place: WorkTree,
  ref: string,
  merge: Merge,
  checkout: string | null,
): Promise<PublishResult> {
  const { branch, before, commit } = merge;
  const args = ["update-ref", "-m", `merge ${branch}: by loopwright`, ref, commit, before];
  const moved = await place.repository.git.run({ args });
  if (moved.code === 0) return { kind: "merged", commit, checkout };
  const now = await commitOf(place.repository.git, ref);
  return now === before ? { kind: "failed", reason: `${moved.problem}.` } : { kind: "target moved", to: now };
}

async function hold(place: WorkTree, merge: Merge, reason: string): Promise<PublishResult> {
  const { branch, commit, target } = merge;
  for (let number = 1; number <= MAX_NUMBER; number++) {
    const ref = `refs/heads/${branch}-merged${number === 1 ? "" : `-${number}`}`;
    const now = await commitOf(place.repository.git, ref);
    if (now !== null && now !== commit) continue;
    if (now === null) {
      const made = await place.repository.git.run({ args: ["update-ref", ref, commit, ""] });
      if (made.code !== 0) return { kind: "failed", reason: `${made.problem}.` };
    }
    const held = shortName(ref);
    const sentence = `${target} was not changed: ${reason}. To take the merge, type: git merge --ff-only ${held}`;
    return { kind: "held", commit, branch: held, reason: sentence };
  }
  return { kind: "failed", reason: `${target} was not changed: ${reason}.` };
}
