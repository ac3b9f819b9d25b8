/** Faults in the ids and dependencies of stories (C2). A backlog with such a fault cannot run. */
import type { Story } from "../stories.ts";

export type StoryProblem =
  /** Ids that differ only in case count as one id: on many disks they would share a file. */
  | { readonly kind: "duplicate"; readonly id: string; readonly count: number }
  | { readonly kind: "dangling"; readonly id: string; readonly dependsOn: string }
  /** Each id depends on the next one, and the last on the first. */
  | { readonly kind: "cycle"; readonly ids: readonly string[] };

/** All faults. Circles that share a story are reported as one. */
export function problemsOf(stories: readonly Story[]): readonly StoryProblem[] {
  return [...duplicatesIn(stories), ...danglingIn(stories), ...cyclesIn(stories)];
}

export function renderStoryProblem(problem: StoryProblem): string {
  switch (problem.kind) {
    case "duplicate":
      return `The id ${problem.id} is used ${problem.count === 2 ? "twice" : `${problem.count} times`}.`;
    case "dangling":
      return `${problem.id} depends on ${problem.dependsOn}, which does not exist.`;
    case "cycle": {
      const [first = ""] = problem.ids;
      if (problem.ids.length === 1) return `${first} depends on itself.`;
      return `${[...problem.ids, first].join(" → ")} is a circle: each story depends on the next.`;
    }
  }
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
    const left = unorderedIn(edges);
    const [start] = left;
    if (start === undefined) return found;
    const ids = circleFrom(start, edges, new Set(left));
    found.push({ kind: "cycle", ids });
    // Go on without this circle: a story that only waits for it is no problem of its own.
    const circle = new Set(ids);
    const rest = new Set(left.filter((id) => !circle.has(id)));
    edges = new Map([...rest].map((id) => [id, (edges.get(id) ?? []).filter((other) => rest.has(other))]));
  }
}

/** Every id in `left` depends on another id in `left`, so following the edges leads to a circle. */
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

/** Id → the ids that it depends on. */
type Edges = ReadonlyMap<string, readonly string[]>;

/** The ids that no order can put behind their dependencies. */
function unorderedIn(edges: Edges): readonly string[] {
  const waits = new Map([...edges].map(([id, others]) => [id, new Set(others).size]));
  const dependents = new Map<string, string[]>();
  for (const [id, others] of edges)
    for (const other of new Set(others)) {
      const list = dependents.get(other) ?? [];
      list.push(id);
      dependents.set(other, list);
    }
  const ready = [...waits].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of ready) {
    waits.delete(id);
    for (const dependent of dependents.get(id) ?? []) {
      const count = (waits.get(dependent) ?? 0) - 1;
      waits.set(dependent, count);
      if (count === 0) ready.push(dependent);
    }
  }
  return [...waits.keys()];
}
