/**
 * Decides whether a worktree can be removed. All of these must be true:
 *
 * 1. No process uses it: its owner is gone, and no process runs in its folder.
 * 2. All its files are committed. If it was interrupted while it was created or removed, files may be missing. The files
 *    of a merge do not count, because no agent works there.
 * 3. Every commit is reachable from its target branch or from the checked-out branch.
 * 4. The folder is a worktree of this repository by its own word too, not only by the record.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { readAnyones } from "../../system/files.ts";
import { isAlive } from "../../system/process.ts";
import { FILES } from "../checkpoints/stage.ts";
import { changedNames } from "../diff.ts";
import { commitOf, type Git, mustSucceed, readable, realFolder, wordsOf } from "../git-process.ts";
import { openWorkTree, projectIn, treeOfFiles, type WorkTree } from "./worktree-place.ts";
import { adminDirOf, type WorktreeRecord } from "./worktree-record.ts";

/**
 * `unfinished`: interrupted while it was created or removed. `orphaned`: its folder is missing. `open`: it has commits
 * that are not merged.
 */
export type WorktreeState = "active" | "dirty" | "open" | "merged" | "orphaned" | "unfinished";

export interface Worktree
  extends Pick<WorktreeRecord, "id" | "kind" | "story" | "base" | "path" | "createdAt"> {
  /** Without `refs/heads/`; null for a merge. */
  readonly branch: string | null;
  /** The project's folder in it. */
  readonly projectDir: string;
  readonly state: WorktreeState;
  /** A sentence about the state, with figures. */
  readonly why: string;
  /** Nothing can be lost. */
  readonly isRemovable: boolean;
  /** The number of commits that are in no other branch. */
  readonly unmerged: number;
}

export async function stateOf(place: WorkTree, record: WorktreeRecord): Promise<Worktree> {
  // if the count fails, assume that a commit could be lost
  const unmerged = record.kind === "merge" ? 0 : await countUnmerged(place, record).catch(() => 1);
  const { state, why } = await look(place, record, unmerged);
  const { id, kind, story, branch, base, path, createdAt } = record;
  return {
    id,
    kind,
    story,
    base,
    path,
    createdAt,
    state,
    why,
    unmerged,
    branch: branch === null ? null : shortName(branch),
    projectDir: projectIn(place, path),
    isRemovable: state !== "active" && state !== "dirty" && unmerged === 0,
  };
}

export function shortName(ref: string): string {
  return ref.replace(/^refs\/heads\//, "");
}

async function look(
  place: WorkTree,
  record: WorktreeRecord,
  unmerged: number,
): Promise<Pick<Worktree, "state" | "why">> {
  const user = userOf(record);
  if (user !== null) return { state: "active", why: user };
  if (lstatSync(record.path, { throwIfNoEntry: false }) === undefined)
    return {
      state: "orphaned",
      why: `Its folder is missing${unmerged === 0 ? "" : `; ${sayOpen(record, unmerged)}`}.`,
    };
  const isCutShort = record.stage !== "ready";
  const dirt = await dirtOf(place, record, isCutShort).catch(cannotLook);
  if (dirt !== null) return { state: "dirty", why: dirt };
  if (unmerged > 0) return { state: "open", why: `It has ${sayOpen(record, unmerged)}.` };
  if (isCutShort)
    return { state: "unfinished", why: `It was interrupted while it was ${CUT_SHORT[record.stage]}.` };
  return record.kind === "merge"
    ? { state: "merged", why: "It is left over from a merge." }
    : { state: "merged", why: `All its commits are in ${targetName(record)}.` };
}

const CUT_SHORT = { making: "created", ready: "used", removing: "removed" } as const;

function sayOpen(record: WorktreeRecord, unmerged: number): string {
  const where = record.branch === null ? "" : ` of ${shortName(record.branch)}`;
  return `${unmerged} ${unmerged === 1 ? "commit" : "commits"}${where} not in ${targetName(record)}`;
}

function targetName({ target }: WorktreeRecord): string {
  return target === null ? "the checked-out branch" : shortName(target);
}

/** A sentence about the process that uses it; null: none. */
function userOf({ owner, path }: WorktreeRecord): string | null {
  // another host cannot be checked from here
  if (owner !== null && owner.host !== hostname()) return `A process on ${owner.host} uses it.`;
  if (owner !== null && isAlive(owner)) return `Process ${owner.pid} uses it.`;
  const pid = processIn(path);
  return pid === null ? null : `Process ${pid} runs in its folder.`;
}

/** An agent that outlived its runner, or a person's shell. Works only on Linux. */
function processIn(folder: string): string | null {
  if (!existsSync("/proc/self/cwd")) return null;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      if (cwd === folder || cwd.startsWith(folder + sep)) return pid;
    } catch {
      // it ended, or belongs to another user
    }
  }
  return null;
}

/** A sentence about what could be lost; null: nothing. */
async function dirtOf(place: WorkTree, record: WorktreeRecord, mayMiss: boolean): Promise<string | null> {
  const { repository } = place;
  const admin = adminDirOf(repository.commonDir, record);
  const isLinked = admin !== null && isLinkedTo(admin, record.path);
  if (isLinked || isPlacedByUs(place, record.path)) {
    if (record.kind === "merge" && isMergesOwn(admin, record)) return null;
    if (isHardlyThere(record.path)) return null;
  }
  if (admin === null) return "Git does not list its folder as a worktree of this repository.";
  // the commits of submodules exist only in this folder
  if (existsSync(join(admin, "modules"))) return "It has submodules.";
  if (["rebase-merge", "rebase-apply", "MERGE_HEAD"].some((name) => existsSync(join(admin, name))))
    return "A merge or rebase is in progress in it.";
  const own = await openWorkTree(repository.git.in(record.path));
  if (own.top !== record.path) return "Its folder is not a separate worktree.";
  if (!isLinked) return "Its folder belongs to another repository.";
  return changesIn(own, mayMiss);
}

/** An agent or an archive can write records and git's list, which may name any folder. The folder itself must agree. */
function isLinkedTo(admin: string, path: string): boolean {
  const [, link] = /^gitdir: (.+)$/m.exec(readAnyones(join(path, ".git")) ?? "") ?? [];
  return link !== undefined && realFolder(resolve(path, link)) === realFolder(admin);
}

/** For a worktree that was interrupted before git linked it. */
function isPlacedByUs({ repository, top }: WorkTree, path: string): boolean {
  const checkouts = [top, dirname(repository.commonDir)];
  return checkouts.some((checkout) => realFolder(`${checkout}.worktrees`) === dirname(path));
}

function cannotLook(reason: unknown): string {
  return `It cannot be checked: ${wordsOf(reason)}.`;
}

/** Detached, with a name that no story can have: no person created it. */
function isMergesOwn(admin: string | null, { id }: WorktreeRecord): boolean {
  const head = admin === null ? null : readAnyones(join(admin, "HEAD"));
  return id.startsWith(MERGE_MARK) && head !== null && !head.startsWith("ref:");
}

/** No story id contains `+`. */
export const MERGE_MARK = "merge+";

/** Git creates the file `.git` first. */
function isHardlyThere(path: string): boolean {
  const git = lstatSync(join(path, ".git"), { throwIfNoEntry: false });
  return readdirSync(path).every((name) => name === ".git") && !git?.isDirectory();
}

async function changesIn(place: WorkTree, mayMiss: boolean): Promise<string | null> {
  const { git, head } = place.repository;
  if (head === null) return "It has no commit.";
  const tree = await treeOfFiles(place);
  const changed = await changedNames(git, head, tree);
  const counted = mayMiss ? await thereIn(git, tree, changed) : changed;
  if (counted.length > 0) return sayChanged(counted.map(readable));
  if (mayMiss) return null;
  // staged content that differs from the files
  const staged = ["diff-index", "--cached", "--quiet", head, "--", ...FILES];
  const answer = await git.run({ args: staged });
  return answer.code === 0 ? null : "It has staged changes that are not committed.";
}

async function thereIn(git: Git, tree: string, names: readonly string[]): Promise<readonly string[]> {
  const args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree];
  const there = new Set(mustSucceed(await git.run({ args })).split("\0"));
  return names.filter((name) => there.has(name));
}

function sayChanged(names: readonly string[]): string {
  const [first = ""] = names;
  return names.length === 1
    ? `${first} is not committed.`
    : `${names.length} files are not committed: ${first}, …`;
}

async function countUnmerged({ repository }: WorkTree, record: WorktreeRecord): Promise<number> {
  const { git, commonDir } = repository;
  const admin = adminDirOf(commonDir, record);
  const head = admin === null ? "" : (readAnyones(join(admin, "HEAD")) ?? "").trim();
  // a detached HEAD, or a HEAD on another branch, may have commits that the story's branch does not have
  const commitsOf = async (names: readonly (string | null)[]): Promise<string[]> => {
    const commits = await Promise.all(names.map((name) => (name ? commitOf(git, name) : null)));
    return commits.filter((commit) => commit !== null);
  };
  const [wanted, reached] = await Promise.all([
    commitsOf([record.branch, head.replace(/^ref: /, "")]),
    commitsOf([record.target, "HEAD"]),
  ]);
  if (wanted.length === 0) return 0;
  const args = ["rev-list", "--count", ...wanted, ...reached.map((commit) => `^${commit}`), "--"];
  return Number(mustSucceed(await git.run({ args })).trim());
}
