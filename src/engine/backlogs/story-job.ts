/** One job of an attempt at a story, with the parts that carry it out. */
import type { Attempt, AttemptJob, Backlog, StoryPlace } from "../../core/backlog/backlog.ts";
import { withoutHoldouts } from "../../core/backlog/pick.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { hideHoldouts } from "../../core/backlog/verdict.ts";
import type { BacklogParts, EngineParts } from "../parts.ts";

export interface StoryJob {
  readonly parts: EngineParts;
  readonly backlogParts: BacklogParts;
  /** The backlog at the start of the job. */
  readonly backlog: Backlog;
  readonly attempt: Attempt;
  readonly job: AttemptJob;
  readonly signal: AbortSignal;
}

/** The story of an attempt. The notes do not show its holdouts. */
export function storyOf({ stories }: Backlog, { story }: Attempt): Story {
  const found = stories.find(({ id }) => id === story);
  if (found === undefined) throw new Error(`the story ${story} is no longer in the backlog`);
  return { ...found, notes: hideHoldouts(found.notes, found.holdouts) };
}

/** The current backlog: other jobs may have ended since this job began. */
export function backlogNow({ parts, backlog }: StoryJob): Backlog {
  const loaded = parts.store.load(backlog.id);
  return loaded?.kind === "backlog" ? loaded : backlog;
}

/** The stories for the file. While a generator runs, the file does not show the holdouts. */
export function shownStories(backlog: Backlog, over: AttemptJob | null = null): readonly Story[] {
  return isGenerating(backlog, over) ? withoutHoldouts(backlog.stories) : backlog.stories;
}

/** `over`: ignore this job, which has just ended. */
export function isGenerating({ attempts }: Backlog, over: AttemptJob | null = null): boolean {
  return attempts.some(({ job }) => job?.phase === "generate" && job.id !== over?.id);
}

export function isSamePlace(a: StoryPlace, b: StoryPlace): boolean {
  return a.story === b.story && a.worktree === b.worktree;
}
