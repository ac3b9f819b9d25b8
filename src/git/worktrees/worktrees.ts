/**
 * One git worktree per attempt at a story (C13), on a branch of its own, beside the person's checkout:
 * `<checkout>.worktrees/<id>`. Not inside of it: there, the tests of one would be run with those of the other, and a
 * check could be green by files of the checkout that tools find further up.
 *
 * 1. No branch is ever moved here: one that is there already keeps its work, and the worktree takes a number.
 * 2. What may be lost is never removed: `worktree-state.ts` says what that is.
 * 3. The record comes first and goes last, so that a crash leaves nothing that `cleanWorktrees` does not find.
 * 4. Worktrees that somebody else made are neither listed nor touched, not even by `git worktree prune`.
 * 5. Nothing here throws for what git or an agent does.
 *
 * What is ignored (node_modules and the like) is not in a new worktree; `setUp` is there to make it.
 */
import { rmSync } from "node:fs";
import { readable } from "../git-process.ts";
import { openPlace, type PlaceOptions, type WorkTree } from "./worktree-place.ts";
import {
  adminDirOf,
  readRecords,
  readWorktreeRecord,
  removeRecord,
  thisProcess,
  type WorktreeRecord,
  writeWorktreeRecord,
} from "./worktree-record.ts";
import { MERGE_MARK, stateOf, type Worktree } from "./worktree-state.ts";

export interface WorktreeOptions extends PlaceOptions {
  readonly now?: () => number;
  /** Where worktrees are made; beside the checkout when it is not given. */
  readonly folder?: string;
}

export interface Cleaned {
  readonly removed: readonly Worktree[];
  readonly kept: readonly Worktree[];
  /** Sentences about what could not be removed. */
  readonly problems: readonly string[];
}

/** All of ours, oldest first. Where there is no git, there are none. */
export async function listWorktrees(
  dir: string,
  options: WorktreeOptions = {},
): Promise<readonly Worktree[]> {
  const opened = await openPlace(dir, options);
  if (opened.kind === "none") return [];
  const { place } = opened;
  const found: Worktree[] = [];
  for (const record of readRecords(place.commonDir)) found.push(await stateOf(place, record, options));
  return found;
}

/** Removes what holds nothing that could be lost, but the newest `keepMerged` that are merged. */
export async function cleanWorktrees(
  dir: string,
  wish: { readonly isDryRun: boolean; readonly keepMerged: number },
  options: WorktreeOptions = {},
): Promise<Cleaned> {
  const all = await listWorktrees(dir, options);
  const merged = all.filter(({ state, kind }) => state === "merged" && kind === "story");
  const retained = new Set(merged.slice(Math.max(0, merged.length - wish.keepMerged)));
  const removed: Worktree[] = [];
  const problems: string[] = [];
  for (const worktree of all.filter((one) => one.isRemovable && !retained.has(one))) {
    const problem = wish.isDryRun ? null : await removeWorktree(dir, worktree.id, options);
    if (problem === null) removed.push(worktree);
    else problems.push(problem);
  }
  return { removed, kept: all.filter((one) => !removed.includes(one)), problems };
}

/** The sentence why not, or null when it is gone. What is in it is looked at again, right before. */
export async function removeWorktree(
  dir: string,
  id: string,
  options: WorktreeOptions = {},
): Promise<string | null> {
  try {
    const opened = await openPlace(dir, options);
    if (opened.kind === "none") return `${id} stays: ${opened.reason}.`;
    const { place } = opened;
    const record = readWorktreeRecord(place.commonDir, id);
    if (record === null) return null;
    // before the look: a commit that is made after it keeps the branch
    const tip = record.branch === null ? null : await commitOf(place, record.branch);
    const { isRemovable, why } = await stateOf(place, record, options);
    if (!isRemovable) return `${id} stays. ${why}`;
    await takeAway(place, record, tip);
    if (record.branch !== null) await dropHeld(place, `${record.branch}-merged`);
    return null;
  } catch (error) {
    return `${id} stays: ${wordsOf(error)}.`;
  }
}

/** After a crash of its owner: this process works with it now. False: it is gone, or another process has it. */
export async function adoptWorktree(
  dir: string,
  id: string,
  options: WorktreeOptions = {},
): Promise<boolean> {
  const opened = await openPlace(dir, options);
  const record = opened.kind === "found" ? readWorktreeRecord(opened.place.commonDir, id) : null;
  if (opened.kind === "none" || record?.stage !== "ready") return false;
  const { state } = await stateOf(opened.place, record, options);
  if (state === "orphaned" || (state === "active" && record.owner?.pid !== process.pid)) return false;
  writeWorktreeRecord(opened.place.commonDir, { ...record, owner: thisProcess() });
  return true;
}

/** This process is done with it: from here on it may be removed once all of it is merged. */
export async function releaseWorktree(dir: string, id: string, options: WorktreeOptions = {}): Promise<void> {
  const opened = await openPlace(dir, options);
  const record = opened.kind === "found" ? readWorktreeRecord(opened.place.commonDir, id) : null;
  if (opened.kind === "found" && record !== null)
    writeWorktreeRecord(opened.place.commonDir, { ...record, owner: null });
}

/** For worktrees that nobody else ever works in. */
export async function discardMergeWorktree(place: WorkTree, id: string): Promise<void> {
  const record = id.startsWith(MERGE_MARK) ? readWorktreeRecord(place.commonDir, id) : null;
  if (record !== null) await takeAway(place, record, null);
}

/** Branch → the tops of the work trees that have it checked out. */
export async function checkedOut({ repository }: WorkTree): Promise<ReadonlyMap<string, readonly string[]>> {
  const listed = await repository.git.run({ args: ["worktree", "list", "--porcelain"] });
  const found = new Map<string, string[]>();
  for (const block of readable(listed.stdout).split("\n\n")) {
    const [, top] = /^worktree (.+)$/m.exec(block) ?? [];
    const [, branch] = /^branch (.+)$/m.exec(block) ?? [];
    if (top !== undefined && branch !== undefined) found.set(branch, [...(found.get(branch) ?? []), top]);
  }
  return found;
}

/**
 * Once it is known that nothing can be lost. Its branch goes too, if it still stands at `tip`: then all of it is in
 * other places. As git does it, the files first; not by git, which knows nothing of worktrees that are half there.
 */
export async function takeAway(place: WorkTree, record: WorktreeRecord, tip: string | null): Promise<void> {
  const { commonDir, repository } = place;
  const { id, path, branch } = record;
  writeWorktreeRecord(commonDir, { ...record, stage: "removing" });
  const admin = adminDirOf(commonDir, record);
  rmSync(path, { recursive: true, force: true });
  if (admin !== null) rmSync(admin, { recursive: true, force: true });
  if (branch !== null && tip !== null && !(await checkedOut(place)).has(branch))
    await repository.git.run({ args: ["update-ref", "-d", branch, tip] });
  removeRecord(commonDir, id);
}

/** A merge that waited there (`merge-publish.ts`), and was taken over by now. */
async function dropHeld(place: WorkTree, ref: string): Promise<void> {
  const { git } = place.repository;
  const commit = await commitOf(place, ref);
  if (commit === null || (await checkedOut(place)).has(ref)) return;
  const isTaken = await git.run({ args: ["merge-base", "--is-ancestor", commit, "HEAD"] });
  if (isTaken.code === 0) await git.run({ args: ["update-ref", "-d", ref, commit] });
}

export async function commitOf({ repository }: WorkTree, name: string): Promise<string | null> {
  const found = await repository.git.run({ args: ["rev-parse", "-q", "--verify", `${name}^{commit}`] });
  return found.code === 0 ? found.stdout.trim() : null;
}

/** For the middle of a sentence. */
export function wordsOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
