/**
 * Where stories are worked on. One story at a time: in the project's folder. Several stories: each in its own worktree
 * (`worktrees.ts`), merged through the merge queue (`merge-queue.ts`).
 */
import { whyRed } from "../core/backlog/attempts.ts";
import type { BacklogTerms, StoryPlace } from "../core/backlog/backlog.ts";
import type { MergeRecord } from "../core/backlog/event.ts";
import type { Story } from "../core/backlog/stories.ts";
import type { StoryPlaces, StoryWork, WorkPlace } from "../ports/stories.ts";
import { noteMoment, workSince } from "./diff.ts";
import { wordsOf } from "./git-process.ts";
import { discardMerge, prepareMerge, publishMerge } from "./merge/merge-queue.ts";
import { commitWork } from "./worktrees/worktree-commit.ts";
import { makeWorktree } from "./worktrees/worktree-making.ts";
import { openPlace, treeOfFiles } from "./worktrees/worktree-place.ts";
import { adoptWorktree, findWorktree, releaseWorktree, removeWorktree } from "./worktrees/worktrees.ts";

/** Including worktrees of rejected stories that wait, and of stories that were just merged. */
const MOST_WORKTREES = 50;
/** If another merge came first, the merge is prepared again. */
const MERGE_ATTEMPTS = 3;

export function createStoryPlaces(projectDir: string): StoryPlaces {
  const dirOf = async (worktree: string | null): Promise<string | null> => {
    if (worktree === null) return projectDir;
    return (await findWorktree(projectDir, worktree))?.projectDir ?? null;
  };
  return {
    async open(story, before, terms) {
      if (before !== null) {
        const dir = await dirOf(before.worktree);
        const isOurs = before.worktree === null || (await adoptWorktree(projectDir, before.worktree));
        if (dir !== null && isOurs) return { place: before, dir };
      }
      return terms.parallel > 1 ? inWorktree(projectDir, story, terms) : inProject(projectDir, story);
    },
    async find(place) {
      const dir = await dirOf(place.worktree);
      if (dir !== null && place.worktree !== null) await adoptWorktree(projectDir, place.worktree);
      return dir === null ? null : { place, dir };
    },
    tree: (place) => treeOf(place.dir),
    workSince: workOf,
    merge: (place, story, terms, verify) => merge(projectDir, place, story, terms, verify),
    async release({ worktree }) {
      if (worktree === null) return;
      await releaseWorktree(projectDir, worktree);
      // it is kept if anything could be lost
      await removeWorktree(projectDir, worktree);
    },
  };
}

async function inProject(projectDir: string, story: string): Promise<WorkPlace> {
  return { place: { story, worktree: null, base: await baseOf(projectDir) }, dir: projectDir };
}

async function inWorktree(projectDir: string, story: string, terms: BacklogTerms): Promise<WorkPlace> {
  const { branchPrefix, target } = terms;
  const made = await makeWorktree(projectDir, {
    story,
    branchPrefix,
    target,
    max: MOST_WORKTREES,
    ...(target === null ? {} : { from: target }),
  });
  if (made.kind === "none") throw new Error(`${story}: ${made.reason}`);
  const { id, projectDir: dir } = made.worktree;
  return { place: { story, worktree: id, base: await baseOf(dir) }, dir };
}

async function baseOf(dir: string): Promise<StoryPlace["base"]> {
  const noted = await noteMoment(dir);
  if (noted.kind === "none")
    throw new Error(`the state before the story cannot be recorded: ${noted.reason}`);
  return noted.moment;
}

async function treeOf(dir: string): Promise<string> {
  const place = await openPlace(dir).catch((error: unknown) => {
    throw new Error(`the files cannot be read: ${wordsOf(error)}`);
  });
  return treeOfFiles(place);
}

async function workOf({ place, dir }: WorkPlace): Promise<StoryWork> {
  if (place.base === null) throw new Error("the state before the story is unknown");
  const found = await workSince(dir, place.base);
  if (found.kind === "none") throw new Error(`the work cannot be compared: ${found.reason}`);
  const { now, files, isHistoryRewritten, isBranchChanged } = found.work;
  return {
    sha: place.base.head,
    tree: now.tree,
    files,
    isRewritten: isHistoryRewritten,
    isElsewhere: isBranchChanged,
  };
}

async function merge(
  projectDir: string,
  { place, dir }: WorkPlace,
  story: Story,
  { target }: BacklogTerms,
  verify: Parameters<StoryPlaces["merge"]>[3],
): Promise<MergeRecord> {
  const found = place.worktree === null ? null : await findWorktree(projectDir, place.worktree);
  const branch = found?.branch ?? null;
  if (target === null || branch === null)
    return { kind: "impossible", reason: `${story.id} has no branch, or the run has no target branch` };
  const message = `feat: ${story.id} - ${story.title}`;
  const committed = await commitWork(dir, { branch, message });
  if (committed.kind === "refused") return { kind: "impossible", reason: committed.reason };
  for (let attempt = 0; attempt < MERGE_ATTEMPTS; attempt++) {
    const prepared = await prepareMerge(projectDir, { story: story.id, branch, target, message });
    if (prepared.kind === "conflict") return prepared;
    if (prepared.kind === "failed") return { kind: "impossible", reason: prepared.reason };
    // it was merged before a crash, so the result is in the project's folder
    if (prepared.kind === "nothing to merge") return { kind: "merged", round: await verify(projectDir) };
    const round = await verify(prepared.merge.projectDir).catch(async (error: unknown) => {
      await discardMerge(projectDir, prepared.merge);
      throw error;
    });
    if (whyRed(round) !== null) {
      await discardMerge(projectDir, prepared.merge);
      return { kind: "red", round };
    }
    const published = await publishMerge(projectDir, prepared.merge);
    if (published.kind === "merged") return { kind: "merged", round };
    if (published.kind !== "target moved") return { kind: "impossible", reason: published.reason };
  }
  return {
    kind: "impossible",
    reason: `${target} changed ${MERGE_ATTEMPTS} times while ${story.id} was merged`,
  };
}
