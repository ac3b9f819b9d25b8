/**
 * Owns the git worktrees of stories (C13), each on its own branch, beside the checkout: `<checkout>.worktrees/<id>`. Not
 * inside the checkout: test runners would find the tests of both, and tools that search upward would find files of the
 * checkout.
 *
 * 1. An existing branch is never moved. The new worktree gets a number instead.
 * 2. A worktree is never removed while work can be lost (`worktree-state.ts`).
 * 3. The record is written first and removed last, so `cleanWorktrees` finds everything after a crash.
 * 4. Worktrees of other people are neither listed nor touched, not even by `git worktree prune`.
 * 5. Errors of git or of an agent are returned, not thrown.
 *
 * A new worktree has no ignored files (such as node_modules).
 */
import { rmSync } from "node:fs";
import { commitOf, type GitOptions, isAncestor, readable, wordsOf } from "../git-process.ts";
import { openPlace, projectIn, type WorkTree } from "./worktree-place.ts";
import {
  adminDirOf,
  readRecords,
  readWorktreeRecord,
  removeRecord,
  thisProcess,
  type WorktreeRecord,
  writeWorktreeRecord,
} from "./worktree-record.ts";
import { MERGE_MARK, shortName, stateOf, type Worktree } from "./worktree-state.ts";

export interface WorktreeOptions extends GitOptions {
  readonly now?: () => number;
  /** The folder for worktrees (default: beside the checkout). */
  readonly folder?: string;
}

export interface Cleaned {
  readonly removed: readonly Worktree[];
  readonly kept: readonly Worktree[];
  /** Sentences about worktrees that could not be removed. */
  readonly problems: readonly string[];
}

/** All worktrees that we created, oldest first. Empty without git. */
export async function listWorktrees(dir: string, options?: GitOptions): Promise<readonly Worktree[]> {
  const place = await openPlace(dir, options).catch(() => null);
  const found: Worktree[] = [];
  if (place !== null)
    for (const record of readRecords(place.repository.commonDir)) found.push(await stateOf(place, record));
  return found;
}

/** The project's folder in each worktree of a story, newest first. Turns leave their output there. Never rejects. */
export async function storyFolders(dir: string): Promise<readonly string[]> {
  try {
    const place = await openPlace(dir);
    const stories = readRecords(place.repository.commonDir).filter(({ kind }) => kind === "story");
    return stories.map(({ path }) => projectIn(place, path)).reverse();
  } catch {
    return [];
  }
}

/** Removes worktrees in which nothing can be lost. */
export async function cleanWorktrees(
  dir: string,
  { isDryRun }: { readonly isDryRun: boolean },
  options?: GitOptions,
): Promise<Cleaned> {
  const all = await listWorktrees(dir, options);
  const removed: Worktree[] = [];
  const problems: string[] = [];
  for (const worktree of all.filter(({ isRemovable }) => isRemovable)) {
    const problem = isDryRun ? null : await removeWorktree(dir, worktree.id, options);
    if (problem === null) removed.push(worktree);
    else problems.push(problem);
  }
  return { removed, kept: all.filter((one) => !removed.includes(one)), problems };
}

/** Checks the worktree again, then removes it. Returns a sentence why not, or null. */
export async function removeWorktree(dir: string, id: string, options?: GitOptions): Promise<string | null> {
  try {
    const place = await openPlace(dir, options);
    const record = readWorktreeRecord(place.repository.commonDir, id);
    if (record === null) return null;
    // read before the check: a later commit keeps the branch
    const tip = record.branch === null ? null : await commitOf(place.repository.git, record.branch);
    const { isRemovable, why } = await stateOf(place, record);
    if (!isRemovable) return `${id} stays. ${why}`;
    await takeAway(place, record, tip);
    if (record.branch !== null) await dropHeld(place, `${record.branch}-merged`);
    return null;
  } catch (error) {
    return `${id} stays: ${wordsOf(error)}.`;
  }
}

/** Takes over the worktree of a dead process. false: it is missing, or another process uses it. */
export async function adoptWorktree(dir: string, id: string, options?: GitOptions): Promise<boolean> {
  const found = await findRecord(dir, id, options);
  if (found?.record.stage !== "ready") return false;
  const { place, record } = found;
  const { state } = await stateOf(place, record);
  if (state === "orphaned" || (state === "active" && record.owner?.pid !== process.pid)) return false;
  writeWorktreeRecord(place.repository.commonDir, { ...record, owner: thisProcess() });
  return true;
}

/** Gives up the ownership. From now on the worktree can be removed when it is merged. */
export async function releaseWorktree(dir: string, id: string, options?: GitOptions): Promise<void> {
  const found = await findRecord(dir, id, options);
  if (found !== null) writeWorktreeRecord(found.place.repository.commonDir, { ...found.record, owner: null });
}

/** Does not look at the files, so it is quick. null: there is no such worktree. */
export async function findWorktree(
  dir: string,
  id: string,
): Promise<Pick<Worktree, "branch" | "projectDir"> | null> {
  const found = await findRecord(dir, id);
  if (found === null) return null;
  const { branch, path } = found.record;
  return { branch: branch && shortName(branch), projectDir: projectIn(found.place, path) };
}

async function findRecord(
  dir: string,
  id: string,
  options?: GitOptions,
): Promise<{ readonly place: WorkTree; readonly record: WorktreeRecord } | null> {
  const place = await openPlace(dir, options).catch(() => null);
  const record = place && readWorktreeRecord(place.repository.commonDir, id);
  return place && record && { place, record };
}

/** Only for worktrees of merges, in which no agent works. */
export async function discardMergeWorktree(place: WorkTree, id: string): Promise<void> {
  const record = id.startsWith(MERGE_MARK) ? readWorktreeRecord(place.repository.commonDir, id) : null;
  if (record !== null) await takeAway(place, record, null);
}

/** For each branch, the work trees that have it checked out. */
export async function checkedOut({ repository }: WorkTree): Promise<ReadonlyMap<string, readonly string[]>> {
  // a command that starts no program; it has to see the real folders
  const plain = repository.git.in(repository.git.cwd);
  const listed = await plain.run({ args: ["worktree", "list", "--porcelain"] });
  const found = new Map<string, string[]>();
  for (const block of readable(listed.stdout).split("\n\n")) {
    const [, top] = /^worktree (.+)$/m.exec(block) ?? [];
    const [, branch] = /^branch (.+)$/m.exec(block) ?? [];
    if (top !== undefined && branch !== undefined) found.set(branch, [...(found.get(branch) ?? []), top]);
  }
  return found;
}

/**
 * Call it only when nothing can be lost. It removes the branch too, if the branch is still at `tip`. Like git, it removes
 * the files first. Git itself is not used, because it does not know incomplete worktrees.
 */
export async function takeAway(place: WorkTree, record: WorktreeRecord, tip: string | null): Promise<void> {
  const { commonDir, git } = place.repository;
  const { id, path, branch } = record;
  writeWorktreeRecord(commonDir, { ...record, stage: "removing" });
  const admin = adminDirOf(commonDir, record);
  rmSync(path, { recursive: true, force: true });
  if (admin !== null) rmSync(admin, { recursive: true, force: true });
  if (branch !== null && tip !== null && !(await checkedOut(place)).has(branch))
    await git.run({ args: ["update-ref", "-d", branch, tip] });
  removeRecord(commonDir, id);
}

/** Removes a branch with a waiting merge (`merge-publish.ts`) that was taken. */
async function dropHeld(place: WorkTree, ref: string): Promise<void> {
  const { git } = place.repository;
  const commit = await commitOf(git, ref);
  if (commit === null || (await checkedOut(place)).has(ref)) return;
  if (await isAncestor(git, commit, "HEAD")) await git.run({ args: ["update-ref", "-d", ref, commit] });
}
