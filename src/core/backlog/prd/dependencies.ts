/** What stories say of each other (C2): faults that nothing can run with, and the order that follows. */
import { byPriority, passedIn, type Story, statusOf } from "../stories.ts";

export type StoryProblem =
  /** Ids that differ only in case count as the same: they would share a file on many disks. */
  | { readonly kind: "duplicate"; readonly id: string; readonly count: number }
  | { readonly kind: "dangling"; readonly id: string; readonly dependsOn: string }
  /** Each depends on the next, and the last on the first. */
  | { readonly kind: "cycle"; readonly ids: readonly string[] };

/** All of them; of stories that wait for each other in several circles, one circle each. */
export function problemsOf(stories: readonly Story[]): readonly StoryProblem[] {
  return [...duplicatesIn(stories), ...danglingIn(stories), ...cyclesIn(stories)];
}

export function renderStoryProblem(problem: StoryProblem): string {
  switch (problem.kind) {
    case "duplicate":
      return `${problem.id} is there ${problem.count === 2 ? "twice" : `${problem.count} times`}.`;
    case "dangling":
      return `${problem.id} depends on ${problem.dependsOn}, which is not there.`;
    case "cycle": {
      const [first = ""] = problem.ids;
      if (problem.ids.length === 1) return `${first} depends on itself.`;
      return `${[...problem.ids, first].join(" → ")} is a circle: each depends on the next.`;
    }
  }
}

/**
 * What could be worked on side by side, wave after wave, if every story passes. What has passed is not in it, nor
 * what is blocked, nor what waits for that, or for itself, for ever. The first wave is what could be picked now.
 */
export function waves(stories: readonly Story[]): readonly (readonly Story[])[] {
  const passed = passedIn(stories);
  const open = stories.filter((story) => statusOf(story) === "open");
  const unmet = new Map(
    open.map(({ id, dependsOn }) => [id, dependsOn.filter((other) => !passed.has(other))]),
  );
  const { layers } = layersOf(unmet);
  const waveOf = new Map(layers.flatMap((ids, index) => ids.map((id) => [id, index])));
  const found: Story[][] = layers.map(() => []);
  for (const story of byPriority(open)) found[waveOf.get(story.id) ?? -1]?.push(story);
  return found;
}

function duplicatesIn(stories: readonly Story[]): readonly StoryProblem[] {
  const counts = new Map<string, { readonly id: string; count: number }>();
  for (const { id } of stories) {
    const seen = counts.get(id.toLowerCase());
    if (seen === undefined) counts.set(id.toLowerCase(), { id, count: 1 });
    else seen.count += 1;
  }
  return [...counts.values()]
    .filter(({ count }) => count > 1)
    .map(({ id, count }) => ({ kind: "duplicate", id, count }));
}

function danglingIn(stories: readonly Story[]): readonly StoryProblem[] {
  const known = new Set(stories.map(({ id }) => id));
  return stories.flatMap(({ id, dependsOn }) =>
    [...new Set(dependsOn)]
      .filter((other) => !known.has(other))
      .map((other): StoryProblem => ({ kind: "dangling", id, dependsOn: other })),
  );
}

function cyclesIn(stories: readonly Story[]): readonly StoryProblem[] {
  const known = new Set(stories.map(({ id }) => id));
  let edges: Edges = new Map(
    stories.map(({ id, dependsOn }) => [id, dependsOn.filter((other) => known.has(other))]),
  );
  const found: StoryProblem[] = [];
  for (;;) {
    const { left } = layersOf(edges);
    const [start] = left;
    if (start === undefined) return found;
    const ids = circleFrom(start, edges, new Set(left));
    found.push({ kind: "cycle", ids });
    // as if the circle were mended: what only waited for it is no problem of its own
    const circle = new Set(ids);
    const rest = new Set(left.filter((id) => !circle.has(id)));
    edges = new Map([...rest].map((id) => [id, (edges.get(id) ?? []).filter((other) => rest.has(other))]));
  }
}

/** Every story that is left depends on another that is left: whoever follows them comes round. */
function circleFrom(start: string, edges: Edges, left: ReadonlySet<string>): readonly string[] {
  const trail = new Set<string>();
  let at: string | undefined = start;
  while (at !== undefined && !trail.has(at)) {
    trail.add(at);
    at = edges.get(at)?.find((other) => left.has(other));
  }
  const ids = [...trail];
  return ids.slice(at === undefined ? 0 : ids.indexOf(at));
}

/** Id → what it waits for. */
type Edges = ReadonlyMap<string, readonly string[]>;

/** Layer by layer what waits only for layers before it; `left` waits for itself, or for what is not there. */
function layersOf(edges: Edges): {
  readonly layers: readonly (readonly string[])[];
  readonly left: readonly string[];
} {
  const waits = new Map([...edges].map(([id, others]) => [id, new Set(others).size]));
  const dependents = new Map<string, string[]>();
  for (const [id, others] of edges)
    for (const other of new Set(others)) {
      const list = dependents.get(other);
      if (list === undefined) dependents.set(other, [id]);
      else list.push(id);
    }
  const layers: string[][] = [];
  let layer = [...waits].filter(([, count]) => count === 0).map(([id]) => id);
  while (layer.length > 0) {
    layers.push(layer);
    for (const id of layer) waits.delete(id);
    const freed: string[] = [];
    for (const id of layer.flatMap((done) => dependents.get(done) ?? [])) {
      const count = (waits.get(id) ?? 0) - 1;
      waits.set(id, count);
      if (count === 0) freed.push(id);
    }
    layer = freed;
  }
  return { layers, left: [...waits.keys()] };
}
