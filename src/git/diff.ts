/**
 * What was done in a work tree since a moment (C5): by commits, staged or not, tracked or not, it is all work. What
 * was there before, committed or not, is not. git itself looks at the files, through an index of our own: marks that
 * an agent set in the index to hide files hide nothing here.
 *
 * Files that are ignored, and what is inside of a repository in the repository, are not seen.
 */

import { mustSucceed } from "./checkpoints/stage.ts";
import { changedNames, type DiffOptions, diffTrees, type TreeDiff } from "./diff-files.ts";
import { readable } from "./git-process.ts";
import { openPlace, type PlaceOptions, treeOfFiles, type WorkTree } from "./worktrees/worktree-place.ts";

/** To be kept with the attempt: after a crash the diff is taken from the same place. */
export interface GitMoment {
  /** null: there was no commit yet. */
  readonly head: string | null;
  /** `refs/heads/…`; null: detached. */
  readonly branch: string | null;
  /** The files, with what was not committed; null: as `head` has them. */
  readonly tree: string | null;
}

export interface GitCommit {
  readonly commit: string;
  readonly subject: string;
}

export interface WorkDone extends TreeDiff {
  readonly now: GitMoment;
  /** Oldest first, the last 100; `commitCount` is how many there are. */
  readonly commits: readonly GitCommit[];
  readonly commitCount: number;
  readonly linesWritten: number;
  readonly linesDeleted: number;
  /** Paths of files that differ from the last commit. */
  readonly uncommitted: readonly string[];
  /** The commit from before is no ancestor of this one any more. */
  readonly isHistoryRewritten: boolean;
  readonly isBranchChanged: boolean;
  readonly isDetached: boolean;
}

export type NotedMoment =
  | { readonly kind: "noted"; readonly moment: GitMoment }
  | { readonly kind: "none"; readonly reason: string };

export type WorkResult =
  | { readonly kind: "work"; readonly work: WorkDone }
  | { readonly kind: "none"; readonly reason: string };

const SHOWN_COMMITS = 100;

export async function noteMoment(dir: string, options: PlaceOptions = {}): Promise<NotedMoment> {
  try {
    const opened = await openPlace(dir, options);
    if (opened.kind === "none") return none(opened.reason);
    return { kind: "noted", moment: await momentOf(opened.place) };
  } catch (error) {
    return none(error);
  }
}

export async function workSince(
  dir: string,
  before: GitMoment,
  options: PlaceOptions & DiffOptions = {},
): Promise<WorkResult> {
  try {
    const opened = await openPlace(dir, options);
    if (opened.kind === "none") return none(opened.reason);
    const { place } = opened;
    const now = await momentOf(place);
    const { git } = place.repository;
    const [diff, uncommitted, history] = await Promise.all([
      diffTrees(git, await startOf(place, before), now.tree, options),
      changedNames(git, now.head ?? (await emptyTree(place)), now.tree),
      historySince(place, before.head, now.head),
    ]);
    const sum = (figure: "linesWritten" | "linesDeleted") =>
      diff.files.reduce((total, file) => total + file[figure], 0);
    return {
      kind: "work",
      work: {
        ...diff,
        ...history,
        now,
        linesWritten: sum("linesWritten"),
        linesDeleted: sum("linesDeleted"),
        uncommitted: uncommitted.map(readable),
        isBranchChanged: now.branch !== before.branch,
        isDetached: now.branch === null,
      },
    };
  } catch (error) {
    return none(error);
  }
}

async function momentOf(place: WorkTree): Promise<GitMoment & { readonly tree: string }> {
  const { git, head } = place.repository;
  const [tree, symbolic] = await Promise.all([
    treeOfFiles(place),
    git.run({ args: ["symbolic-ref", "-q", "HEAD"] }),
  ]);
  return { head, branch: symbolic.code === 0 ? readable(symbolic.stdout.trim()) : null, tree };
}

/** A tree that nothing refers to may be gone, when somebody tidied up the repository: then the commit has to do. */
async function startOf(place: WorkTree, { head, tree }: GitMoment): Promise<string> {
  const { git } = place.repository;
  for (const one of [tree, head]) {
    if (one === null) continue;
    const there = await git.run({ args: ["rev-parse", "-q", "--verify", `${one}^{tree}`] });
    if (there.code === 0) return there.stdout.trim();
  }
  if (head !== null) throw new Error(`the commit ${head.slice(0, 10)} from before the work is missing`);
  return emptyTree(place);
}

async function emptyTree({ repository: { git } }: WorkTree): Promise<string> {
  return mustSucceed(await git.run({ args: ["hash-object", "-w", "-t", "tree", "--stdin"] })).trim();
}

type History = Pick<WorkDone, "commits" | "commitCount" | "isHistoryRewritten">;

async function historySince(
  { repository: { git } }: WorkTree,
  before: string | null,
  now: string | null,
): Promise<History> {
  if (now === null) return { commits: [], commitCount: 0, isHistoryRewritten: before !== null };
  const known = before !== null && (await git.run({ args: ["cat-file", "-e", `${before}^{commit}`] }));
  const range = [now, ...(known && known.code === 0 ? [`^${before}`] : []), "--"];
  const [count, log, ancestor] = await Promise.all([
    git.run({ args: ["rev-list", "--count", ...range] }),
    git.run({ args: ["rev-list", `-n${SHOWN_COMMITS}`, "--format=%H %s", ...range] }),
    before === null ? null : git.run({ args: ["merge-base", "--is-ancestor", before, now] }),
  ]);
  const lines = mustSucceed(log).split("\n");
  const commits = lines
    .filter((line) => line !== "" && !line.startsWith("commit "))
    .map((line) => ({
      commit: line.slice(0, line.indexOf(" ")),
      subject: readable(line.slice(line.indexOf(" ") + 1)),
    }))
    .reverse();
  return {
    commits,
    commitCount: Number(mustSucceed(count).trim()),
    isHistoryRewritten: ancestor !== null && ancestor.code !== 0,
  };
}

function none(reason: unknown): { readonly kind: "none"; readonly reason: string } {
  const text = reason instanceof Error ? reason.message : String(reason);
  return { kind: "none", reason: `Git cannot compare the files: ${text.replace(/\.$/, "")}.` };
}
