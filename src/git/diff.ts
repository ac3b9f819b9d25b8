/**
 * Finds the work that was done in a work tree since a moment (C5): commits, staged and unstaged changes, new files.
 * Changes from before that moment do not count. Git reads the files through a private index, so an agent cannot hide
 * files with flags in its index.
 *
 * Ignored files and the content of nested repositories are not seen.
 */
import { mustSucceed } from "./checkpoints/stage.ts";
import { changedNames, diffTrees, type TreeDiff } from "./diff-files.ts";
import { readable, wordsOf } from "./git-process.ts";
import { openPlace, type PlaceOptions, treeOfFiles, type WorkTree } from "./worktrees/worktree-place.ts";

/** Stored with the attempt, so that the diff has the same start after a crash. */
export interface GitMoment {
  /** null: no commit yet. */
  readonly head: string | null;
  /** `refs/heads/…`; null: detached. */
  readonly branch: string | null;
  /** The files with uncommitted changes; null: the same as `head`. */
  readonly tree: string | null;
}

export interface GitCommit {
  readonly commit: string;
  readonly subject: string;
}

export interface WorkDone extends TreeDiff {
  readonly now: GitMoment;
  /** The last 100, oldest first. `commitCount` counts all. */
  readonly commits: readonly GitCommit[];
  readonly commitCount: number;
  readonly linesWritten: number;
  readonly linesDeleted: number;
  /** Paths of files that differ from the last commit. */
  readonly uncommitted: readonly string[];
  /** The old commit is not an ancestor of the new one. */
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
  options: PlaceOptions & { readonly maxText?: number } = {},
): Promise<WorkResult> {
  try {
    const opened = await openPlace(dir, options);
    if (opened.kind === "none") return none(opened.reason);
    const { place } = opened;
    const now = await momentOf(place);
    const { git } = place.repository;
    const [diff, uncommitted, history] = await Promise.all([
      diffTrees(git, await startOf(place, before), now.tree, options.maxText),
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

/** `git gc` may have removed the tree. Then the commit is used. */
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
  return { kind: "none", reason: `Git cannot compare the files: ${wordsOf(reason)}.` };
}
