/** What backlog loops need from the outside, beside `ports.ts`. */
import type { BacklogTerms, StoryPlace, StoryReceipt } from "../core/backlog/backlog.ts";
import type { MergeRecord, StoryRound } from "../core/backlog/event.ts";
import type { Story } from "../core/backlog/stories.ts";
import type { Criterion } from "../core/goal/goal.ts";

/** Where an attempt at a story works: the project's own folder, or a worktree. */
export interface WorkPlace {
  readonly place: StoryPlace;
  readonly dir: string;
}

/** What a generator did since its story was begun. */
export interface StoryWork {
  readonly sha: string | null;
  readonly tree: string;
  readonly files: readonly { readonly path: string; readonly linesWritten: number }[];
  readonly isRewritten: boolean;
  /** Another branch is checked out, or none. */
  readonly isElsewhere: boolean;
}

/** The folders that stories are worked on in (C5, C13). Throws half a sentence where the surroundings are broken. */
export interface StoryPlaces {
  /** The same as before, or a new one; `base` is noted before anything is done. */
  open(story: string, before: StoryPlace | null, terms: BacklogTerms): Promise<WorkPlace>;
  /** After a crash; null: it is gone. */
  find(place: StoryPlace): Promise<WorkPlace | null>;
  /** Fingerprint of all files there. */
  tree(place: WorkPlace): Promise<string>;
  workSince(place: WorkPlace): Promise<StoryWork>;
  /** Into the target, when `verify` finds it green in a folder that has all of it. */
  merge(
    place: WorkPlace,
    story: Story,
    terms: BacklogTerms,
    verify: (dir: string) => Promise<StoryRound>,
  ): Promise<MergeRecord>;
  /** Nobody works there any more. */
  release(place: StoryPlace): Promise<void>;
}

/** What is written down about stories, for people and agents to read. */
export interface StoryFiles {
  /** As the file has them, or as they are `known` when only the engine wrote there; the sentence when it cannot be read. */
  read(known: readonly Story[]): { readonly stories: readonly Story[] } | { readonly problem: string };
  /** Writes the engine's word into the file. */
  publish(stories: readonly Story[]): Promise<void>;
  /** Puts back what somebody wrote there since; true: there was something. */
  putBack(stories: readonly Story[]): Promise<boolean>;
  /** Throws the sentence when a prompt of the project cannot be used. */
  prompt(role: "generator" | "evaluator", facts: StoryPromptFacts): string;
  /** What `explore` found out about a story; null: nothing was written. */
  analysis(story: string): { readonly path: string; readonly text: string | null };
  /** An entry of progress.md, once per attempt. */
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
