/** Which story an attempt is made for next, and what a person's edits of the file change. */
import type { Backlog } from "./backlog.ts";
import { readyStories, type Story } from "./stories.ts";

/** The next that nobody works on; null: none can be begun now. */
export function nextStory({ stories, attempts, terms }: Backlog): Story | null {
  const busy = new Set(attempts.map(({ story }) => story));
  const ready = readyStories(stories).filter(({ id }) => !busy.has(id));
  if (terms.only === null) return ready[0] ?? null;
  return ready.find(({ id }) => id === terms.only) ?? null;
}

/**
 * The file is people's, between turns: what they added, changed or took away counts. While an agent is at work it may
 * be the agent's doing, and then only what is new and not claimed to have passed is taken. What it left running may
 * write at any time: that a story passes, and by which checks, is never taken from the file in a run.
 */
export function adoptStories({ stories, attempts }: Backlog, given: readonly Story[]): readonly Story[] {
  const read = keepHoldouts(given, stories);
  if (attempts.length === 0) {
    const byId = new Map(stories.map((story) => [story.id, story]));
    return read.map((story) => {
      const { passes, checks } = byId.get(story.id) ?? { passes: false, checks: story.checks };
      return { ...story, passes: story.passes && passes, checks };
    });
  }
  const known = new Set(stories.map(({ id }) => id));
  const added = read.filter(({ id, passes }) => !known.has(id) && !passes);
  return [...stories, ...added];
}

/** While a generator works the file does not have them (C15): that they are not there says nothing. */
export function keepHoldouts(read: readonly Story[], known: readonly Story[]): readonly Story[] {
  const byId = new Map(known.map((story) => [story.id, story]));
  return read.map((story) => {
    const { holdouts = [] } = byId.get(story.id) ?? {};
    return story.holdouts.length > 0 || holdouts.length === 0 ? story : { ...story, holdouts };
  });
}

/** What a generator may find in the file. */
export function withoutHoldouts(stories: readonly Story[]): readonly Story[] {
  return stories.map((story) => (story.holdouts.length === 0 ? story : { ...story, holdouts: [] }));
}
