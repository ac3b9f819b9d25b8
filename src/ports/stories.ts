/** The ports that only backlog loops need. */
import type { BacklogTerms, StoryPlace, StoryReceipt } from "../core/backlog/backlog.ts";
import type { MergeRecord, StoryRound } from "../core/backlog/event.ts";
import type { Story } from "../core/backlog/stories.ts";
import type { Criterion } from "../core/goal/goal.ts";

/** The folder for an attempt at a story: the project's own folder or a worktree. */
export interface WorkPlace {
  readonly place: StoryPlace;
  readonly dir: string;
}

/** What a generator changed since the story began. */
export interface StoryWork {
  readonly sha: string | null;
  readonly tree: string;
  readonly files: readonly { readonly path: string; readonly linesWritten: number }[];
  readonly isRewritten: boolean;
  /** Another branch is checked out, or no branch. */
  readonly isElsewhere: boolean;
}

/** The work folders of stories (C5, C13). Throws half a sentence when the environment is broken. */
export interface StoryPlaces {
  /** Returns the folder of `before`, or a new one. It records `base` before any work. */
  open(story: string, before: StoryPlace | null, terms: BacklogTerms): Promise<WorkPlace>;
  /** Finds the folder after a crash; null: it no longer exists. */
  find(place: StoryPlace): Promise<WorkPlace | null>;
  /** A fingerprint of all files in the folder. */
  tree(place: WorkPlace): Promise<string>;
  workSince(place: WorkPlace): Promise<StoryWork>;
  /** Merges into the target branch when `verify` passes in a folder that contains the merged files. */
  merge(
    place: WorkPlace,
    story: Story,
    terms: BacklogTerms,
    verify: (dir: string) => Promise<StoryRound>,
  ): Promise<MergeRecord>;
  /** Called when no attempt works in the folder any more. */
  release(place: StoryPlace): Promise<void>;
}

/** The files about stories that people and agents read. */
export interface StoryFiles {
  /** The stories of the file, or `known` when only the engine wrote the file. `problem` is a sentence. */
  read(known: readonly Story[]): { readonly stories: readonly Story[] } | { readonly problem: string };
  /** Writes the engine's state of the stories into the file. */
  publish(stories: readonly Story[]): Promise<void>;
  /** Undoes changes that others made to the file; true: there were changes. */
  putBack(stories: readonly Story[]): Promise<boolean>;
  /** Throws a sentence when a prompt of the project is not usable. */
  prompt(role: "generator" | "evaluator", facts: StoryPromptFacts): string;
  /** The result of `explore` for a story; null: there is none. */
  analysis(story: string): { readonly path: string; readonly text: string | null };
  /** Adds an entry to progress.md, once per attempt. */
  note(story: Story, receipt: StoryReceipt, skipEval: boolean): void;
}

export interface StoryPromptFacts {
  readonly story: Story;
  readonly terms: BacklogTerms;
  readonly iteration: number;
  readonly nonce: string;
  readonly dir: string;
  readonly sha: string | null;
  readonly checks: readonly Criterion[];
  readonly rejected: StoryReceipt | null;
  readonly changedFiles: readonly string[];
}
