/** Which story comes next, and which edits of prd.json count. */
import type { Backlog } from "./backlog.ts";
import { readyStories, type Story } from "./stories.ts";

/** The next ready story that has no attempt; null: none. */
export function nextStory({ stories, attempts, terms }: Backlog): Story | null {
  const busy = new Set(attempts.map(({ story }) => story));
  const ready = readyStories(stories).filter(({ id }) => !busy.has(id));
  if (terms.only === null) return ready[0] ?? null;
  return ready.find(({ id }) => id === terms.only) ?? null;
}

/**
 * Between turns the file belongs to people: what they add, change or remove counts. While an agent works, the edits may
 * be the agent's: only new stories that have not passed are taken. A process that an agent left behind may write at any
 * time, so a run never takes from the file that a story passes, or by which checks.
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

/** While a generator works the file lacks the holdouts (C15), so a missing one was not deleted. */
export function keepHoldouts(read: readonly Story[], known: readonly Story[]): readonly Story[] {
  const byId = new Map(known.map((story) => [story.id, story]));
  return read.map((story) => {
    const { holdouts = [] } = byId.get(story.id) ?? {};
    return story.holdouts.length > 0 || holdouts.length === 0 ? story : { ...story, holdouts };
  });
}

/** The stories that a generator may read. */
export function withoutHoldouts(stories: readonly Story[]): readonly Story[] {
  return stories.map((story) => (story.holdouts.length === 0 ? story : { ...story, holdouts: [] }));
}
