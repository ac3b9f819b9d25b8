/**
 * Moves the target branch to a merge, and the files of whoever has it checked out along with it.
 *
 * 1. The branch moves only from the very commit that the merge was made on: compared and set by git.
 * 2. Files and index of a checkout are only touched when nothing in it is uncommitted. Otherwise the branch is left
 *    alone too: a branch that moved under a checkout would show the story's work as taken back, ready to be
 *    committed so. The merge waits on a branch of its own, and nothing is lost.
 * 3. The files go first, as git does it. Cut short between, the same call goes on where it was.
 */
import { existsSync, lstatSync } from "node:fs";
import { FILES, mustSucceed, pathOf, splitNames } from "../checkpoints/stage.ts";
import { readable } from "../git-process.ts";
import { underWay } from "../worktrees/worktree-commit.ts";
import { openPlace, type PlaceOptions, type WorkTree } from "../worktrees/worktree-place.ts";
import { shortName } from "../worktrees/worktree-state.ts";
import { checkedOut, commitOf } from "../worktrees/worktrees.ts";

export interface Merge {
  readonly story: string;
  /** Without `refs/heads/`, as all names of branches here. */
  readonly branch: string;
  readonly tip: string;
  readonly target: string;
  /** Where the target stood. */
  readonly before: string;
  readonly commit: string;
}

export type PublishResult =
  /** `checkout`: the folder whose files were brought along; null: nobody has the target checked out. */
  | { readonly kind: "merged"; readonly commit: string; readonly checkout: string | null }
  /** The target stayed; the merge is on this branch. */
  | { readonly kind: "held"; readonly commit: string; readonly branch: string; readonly reason: string }
  /** To be prepared anew; null: the target is gone. */
  | { readonly kind: "target moved"; readonly to: string | null }
  | { readonly kind: "failed"; readonly reason: string };

const MAX_NUMBER = 100;

export async function publish(place: WorkTree, merge: Merge, options: PlaceOptions): Promise<PublishResult> {
  const { target, before, commit } = merge;
  const ref = `refs/heads/${target}`;
  const now = await commitOf(place, ref);
  if (now !== before)
    return (await isIn(place, commit, now)) ? merged(merge, null) : { kind: "target moved", to: now };
  const tops = ((await checkedOut(place)).get(ref) ?? []).filter((top) => existsSync(top));
  const [top, another] = tops;
  if (top === undefined) return moveRef(place, ref, merge, null);
  if (another !== undefined)
    return hold(place, merge, `${target} is checked out in ${top} and in ${another}`);
  const opened = await openPlace(top, options);
  if (opened.kind === "none")
    return hold(place, merge, `${target} is checked out in ${top}: ${opened.reason}`);
  return bringAlong(place, opened.place, ref, merge);
}

async function bringAlong(
  place: WorkTree,
  checkout: WorkTree,
  ref: string,
  merge: Merge,
): Promise<PublishResult> {
  const { before, commit, target } = merge;
  const { top, repository } = checkout;
  const run = (...args: string[]) => repository.git.run({ args: [...repository.filterSettings, ...args] });
  if (underWay(repository.gitDir)) return hold(place, merge, `a merge or rebase is in progress in ${top}`);
  const isThereAlready = await isClean(checkout, commit);
  if (!isThereAlready && !(await isClean(checkout, before)))
    return hold(place, merge, `${target} is checked out in ${top} with uncommitted changes`);
  if (!isThereAlready) {
    const lost = await fileInTheWay(checkout, before, commit);
    if (lost !== null) return hold(place, merge, `${lost} in ${top} would be overwritten, and it is not committed`);
    await run("update-index", "-q", "--refresh");
    const moved = await run("read-tree", "-m", "-u", before, commit);
    if (moved.code !== 0) return hold(place, merge, `the files in ${top} cannot be updated: ${moved.problem}`);
  }
  const result = await moveRef(checkout, ref, merge, top);
  // the target moved at this moment: its new commit must not look as if the merge had been staged on it
  if (result.kind !== "merged") await run("read-tree", "-m", "-u", commit, before);
  return result;
}

/** Index and tracked files are as the commit has them. No `.loop` counts: no merge changes anything there. */
async function isClean({ repository }: WorkTree, commit: string): Promise<boolean> {
  const { git, filterSettings } = repository;
  const quiet = ["--quiet", "--no-ext-diff", "--ignore-submodules=dirty"];
  // `diff` looks into files whose times changed, as `diff-files` does not
  const [staged, files] = await Promise.all([
    git.run({ args: [...filterSettings, "diff", "--cached", ...quiet, commit, "--", ...FILES] }),
    git.run({ args: [...filterSettings, "diff", ...quiet, "--", ...FILES] }),
  ]);
  return staged.code === 0 && files.code === 0;
}

/** git overwrites what is ignored; a person may have nothing else of it. */
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
  if (moved.code === 0) return merged(merge, checkout);
  const now = await commitOf(place, ref);
  return now === before ? { kind: "failed", reason: `${moved.problem}.` } : { kind: "target moved", to: now };
}

async function hold(place: WorkTree, merge: Merge, reason: string): Promise<PublishResult> {
  const { branch, commit, target } = merge;
  for (let number = 1; number <= MAX_NUMBER; number++) {
    const ref = `refs/heads/${branch}-merged${number === 1 ? "" : `-${number}`}`;
    const now = await commitOf(place, ref);
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

async function isIn({ repository }: WorkTree, commit: string, tip: string | null): Promise<boolean> {
  if (tip === null) return false;
  return (await repository.git.run({ args: ["merge-base", "--is-ancestor", commit, tip] })).code === 0;
}

function merged({ commit }: Merge, checkout: string | null): PublishResult {
  return { kind: "merged", commit, checkout };
}
