/** The stories of a backlog (C2, D8): which one is next (C3), or why none can be picked. */

export interface Story {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly acceptanceCriteria: readonly string[];
  /** In the form of `--check`. */
  readonly checks: readonly string[];
  /** 1 comes first, null last. */
  readonly priority: number | null;
  readonly dependsOn: readonly string[];
  readonly passes: boolean;
  readonly notes: string;
  readonly rejections: number;
  readonly blocked: boolean;
  readonly depth: Depth | null;
  readonly tier: number | null;
  /** Criteria that only the evaluator may see (C15). */
  readonly holdouts: readonly string[];
}

/** What the engine records, before the first attempt. */
export const UNTRIED = { passes: false, notes: "", rejections: 0, blocked: false } as const;

export const DEPTHS = ["quick", "standard", "thorough"] as const;

export type Depth = (typeof DEPTHS)[number];

/** A story that passed is not blocked, whatever the file says. */
export type StoryStatus = "open" | "passed" | "blocked";

export function statusOf({ passes, blocked }: Pick<Story, "passes" | "blocked">): StoryStatus {
  return passes ? "passed" : blocked ? "blocked" : "open";
}

export function withStatus(stories: readonly Story[], wanted: StoryStatus): readonly Story[] {
  return stories.filter((story) => statusOf(story) === wanted);
}

/** C3: open stories whose dependencies have passed, by priority, then in the order of the file. */
export function readyStories(stories: readonly Story[]): readonly Story[] {
  const isMet = passedIn(stories);
  return byPriority(withStatus(stories, "open")).filter(({ dependsOn }) =>
    dependsOn.every((id) => isMet.has(id)),
  );
}

export function byPriority(stories: readonly Story[]): readonly Story[] {
  const rank = ({ priority }: Story) => priority ?? Number.POSITIVE_INFINITY;
  // A difference would be NaN for two stories without a priority.
  return stories.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) < rank(b) ? -1 : 1));
}

/** Ids of which every story has passed. */
export function passedIn(stories: readonly Story[]): ReadonlySet<string> {
  const passed = new Set(stories.filter(({ passes }) => passes).map(({ id }) => id));
  for (const { id, passes } of stories) if (!passes) passed.delete(id);
  return passed;
}

export type StoryCounts = Readonly<Record<StoryStatus | "total", number>>;

export function countsOfStories(stories: readonly Story[]): StoryCounts {
  const count = (wanted: StoryStatus) => withStatus(stories, wanted).length;
  return { total: stories.length, passed: count("passed"), blocked: count("blocked"), open: count("open") };
}

/** `waiting`: every open story waits for another one. */
export type Next =
  | { readonly kind: "story"; readonly story: Story }
  | { readonly kind: "empty" }
  | { readonly kind: "passed"; readonly total: number }
  | { readonly kind: "blocked"; readonly blocked: readonly string[] }
  | { readonly kind: "waiting"; readonly blocked: readonly string[]; readonly waiting: readonly Waiting[] };

export interface Waiting {
  readonly id: string;
  /** The blocked stories behind its dependencies; without any, its dependencies that have not passed. */
  readonly waitsFor: readonly string[];
}

/** The story to work on, or why there is none. */
export function nextOf(stories: readonly Story[]): Next {
  const [story] = readyStories(stories);
  if (story !== undefined) return { kind: "story", story };
  if (stories.length === 0) return { kind: "empty" };
  const blocked = withStatus(stories, "blocked").map(({ id }) => id);
  const waiting = waitingOf(stories);
  if (waiting.length > 0) return { kind: "waiting", blocked, waiting };
  if (blocked.length > 0) return { kind: "blocked", blocked };
  return { kind: "passed", total: stories.length };
}

function waitingOf(stories: readonly Story[]): readonly Waiting[] {
  const byId = new Map(stories.map((story) => [story.id, story]));
  const isMet = passedIn(stories);
  return withStatus(stories, "open").map(({ id, dependsOn }) => {
    const unmet = dependsOn.filter((other) => !isMet.has(other));
    const behind = [...reachable(unmet, byId)].filter(
      (other) => byId.get(other)?.blocked && !isMet.has(other),
    );
    return { id, waitsFor: behind.length > 0 ? behind : unmet };
  });
}

/** These ids and what they depend on, except behind a story that has passed. */
export function reachable(from: readonly string[], byId: ReadonlyMap<string, Story>): ReadonlySet<string> {
  const seen = new Set(from);
  for (const id of seen) {
    const story = byId.get(id);
    if (story === undefined || story.passes) continue;
    for (const next of story.dependsOn) seen.add(next);
  }
  return seen;
}

/** The id and title of the next story, or a sentence that says why there is none. */
export function renderNextStory(next: Next): string {
  switch (next.kind) {
    case "story":
      return `${next.story.id}: ${next.story.title}`;
    case "empty":
      return "There are no stories.";
    case "passed":
      return next.total === 1 ? "The only story has passed." : `All ${next.total} stories have passed.`;
    case "blocked":
      return next.blocked.length === 1
        ? `The only remaining story is blocked: ${next.blocked[0]}.`
        : `All ${next.blocked.length} remaining stories are blocked: ${next.blocked.join(", ")}.`;
    case "waiting": {
      const waits = next.waiting.map(({ id, waitsFor }) => `${id} waits for ${waitsFor.join(" and ")}`);
      const blocked = next.blocked.length === 0 ? "" : `; blocked: ${next.blocked.join(", ")}`;
      return `No story can start: ${waits.join(", ")}${blocked}.`;
    }
  }
}
