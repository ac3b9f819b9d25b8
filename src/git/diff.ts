/**
 * Finds the work that was done in a work tree since a moment (C5): commits, staged and unstaged changes, new files.
 * Changes from before that moment do not count. Git reads the files through a private index, so an agent cannot hide
 * files with flags in its index.
 *
 * Ignored files, every `.loop` and the content of nested repositories are not seen.
 */
import type { Base } from "../core/backlog/backlog.ts";
import { FILES, splitNames } from "./checkpoints/stage.ts";
import { type Git, type GitOptions, isAncestor, mustSucceed, readable, wordsOf } from "./git-process.ts";
import { openPlace, treeOfFiles, type WorkTree } from "./worktrees/worktree-place.ts";

/** Stored with the attempt, so that the diff has the same start after a crash. */
export interface GitMoment extends Base {
  /** `refs/heads/…`; null: detached. */
  readonly branch: string | null;
  /** All files, with uncommitted changes. */
  readonly tree: string;
}

export interface ChangedFile {
  /** Relative to the top of the work tree. */
  readonly path: string;
  /** 0 for binary files and repositories. */
  readonly linesWritten: number;
}

export interface WorkDone {
  readonly now: GitMoment;
  /** A renamed file has its new name. */
  readonly files: readonly ChangedFile[];
  /** The old commit is not an ancestor of the new one. */
  readonly isHistoryRewritten: boolean;
  readonly isBranchChanged: boolean;
}

type None = { readonly kind: "none"; readonly reason: string };

export async function noteMoment(
  dir: string,
  options?: GitOptions,
): Promise<{ readonly kind: "noted"; readonly moment: GitMoment } | None> {
  try {
    return { kind: "noted", moment: await momentOf(await openPlace(dir, options)) };
  } catch (error) {
    return none(error);
  }
}

export async function workSince(
  dir: string,
  before: Base,
  options?: GitOptions,
): Promise<{ readonly kind: "work"; readonly work: WorkDone } | None> {
  try {
    const place = await openPlace(dir, options);
    const { git } = place.repository;
    const now = await momentOf(place);
    const [files, isFollowed] = await Promise.all([
      changedFiles(git, await startOf(git, before), now.tree),
      before.head === null || (now.head !== null && isAncestor(git, before.head, now.head)),
    ]);
    const isBranchChanged = now.branch !== before.branch;
    return { kind: "work", work: { now, files, isHistoryRewritten: !isFollowed, isBranchChanged } };
  } catch (error) {
    return none(error);
  }
}

async function momentOf(place: WorkTree): Promise<GitMoment> {
  const { git, head } = place.repository;
  const [tree, symbolic] = await Promise.all([
    treeOfFiles(place),
    git.run({ args: ["symbolic-ref", "-q", "HEAD"] }),
  ]);
  return { head, branch: symbolic.code === 0 ? readable(symbolic.stdout.trim()) : null, tree };
}

/** `git gc` may have removed the tree. Then the commit is used. */
async function startOf(git: Git, { head, tree }: Base): Promise<string> {
  for (const one of [tree, head]) {
    if (one === null) continue;
    const there = await git.run({ args: ["rev-parse", "-q", "--verify", `${one}^{tree}`] });
    if (there.code === 0) return there.stdout.trim();
  }
  if (head !== null) throw new Error(`the commit ${head.slice(0, 10)} from before the work is missing`);
  return mustSucceed(await git.run({ args: ["hash-object", "-w", "-t", "tree", "--stdin"] })).trim();
}

/** The person's configuration could start programs for both. */
export const NO_PROGRAMS = ["--no-ext-diff", "--no-textconv"];

async function changedFiles(git: Git, before: string, after: string): Promise<readonly ChangedFile[]> {
  const args = ["diff-tree", "-r", "-M", "-l1000", "-z", "--raw", "--numstat", ...NO_PROGRAMS];
  return parseFiles(mustSucceed(await git.run({ args: [...args, before, after, "--", ...FILES] })));
}

/** First `:modes objects status` and one or two names for each file, then the line counts for each file. */
function parseFiles(output: string): readonly ChangedFile[] {
  const fields = output.split("\0");
  const isRepository: boolean[] = [];
  const files: ChangedFile[] = [];
  for (let at = 0; at + 1 < fields.length; ) {
    const field = fields[at] ?? "";
    if (field.startsWith(":")) {
      isRepository.push(/\b160000\b/.test(field.slice(0, ":000000 000000".length)));
      at += /[RC]\d*$/.test(field) ? 3 : 2;
    } else {
      const [, written = "", name = ""] = /^([\d-]+)\t[\d-]+\t([\s\S]*)$/.exec(field) ?? [];
      const linesWritten = isRepository[files.length] ? 0 : Number(written) || 0;
      // a renamed file has an empty name before its two names
      files.push({ path: readable(name || (fields[at + 2] ?? "")), linesWritten });
      at += name === "" ? 3 : 1;
    }
  }
  return files;
}

/** Names of the files that differ. */
export async function changedNames(git: Git, before: string, after: string): Promise<readonly string[]> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after, "--", ...FILES];
  return splitNames(mustSucceed(await git.run({ args })));
}

function none(reason: unknown): None {
  return { kind: "none", reason: `Git cannot compare the files: ${wordsOf(reason)}.` };
}
