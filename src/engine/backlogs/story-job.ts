/** One job of an attempt at a story, with what it is carried out with. */
import type { Attempt, AttemptJob, Backlog, StoryPlace } from "../../core/backlog/backlog.ts";
import { withoutHoldouts } from "../../core/backlog/pick.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { hideHoldouts } from "../../core/backlog/verdict.ts";
import type { BacklogParts, EngineParts } from "../parts.ts";

export interface StoryJob {
  readonly parts: EngineParts;
  readonly backlogParts: BacklogParts;
  /** As it was when the job began. */
  readonly backlog: Backlog;
  readonly attempt: Attempt;
  readonly job: AttemptJob;
  readonly signal: AbortSignal;
}

/** What a person took out of the file in the middle of an attempt still has to be told to its end. */
export function storyOf({ stories }: Backlog, { story }: Attempt): Story {
  const found = stories.find(({ id }) => id === story);
  if (found === undefined) throw new Error(`the story ${story} is not in the backlog any more`);
  return { ...found, notes: hideHoldouts(found.notes, found.holdouts) };
}

/** The backlog now: others may have been settled since this job began. */
export function backlogNow({ parts, backlog }: StoryJob): Backlog {
  const loaded = parts.store.load(backlog.id);
  return loaded?.kind === "backlog" ? loaded : backlog;
}

/** The stories as the file may show them: a generator must not read what only the evaluator may know. */
export function shownStories(backlog: Backlog, over: AttemptJob | null = null): readonly Story[] {
  return isGenerating(backlog, over) ? withoutHoldouts(backlog.stories) : backlog.stories;
}

/** `over`: but for this job, which has just ended. */
export function isGenerating({ attempts }: Backlog, over: AttemptJob | null = null): boolean {
  return attempts.some(({ job }) => job?.phase === "generate" && job.id !== over?.id);
}

export function isSamePlace(a: StoryPlace, b: StoryPlace): boolean {
  return a.story === b.story && a.worktree === b.worktree;
}
