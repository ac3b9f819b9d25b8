import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { problemsOf, renderStoryProblem, waves } from "../../../src/core/backlog/prd/dependencies.ts";
import {
  countsOfStories,
  nextOf,
  pickStory,
  renderNextStory,
  type Story,
  statusOf,
} from "../../../src/core/backlog/stories.ts";
import { ANY_STORIES, aStory } from "./story-samples.ts";

const passed = { passes: true };
const blocked = { blocked: true };
const on = (...dependsOn: string[]) => ({ dependsOn });
const idsOf = (stories: readonly Story[]) => stories.map(({ id }) => id);

describe("C3 pick", () => {
  const rows: readonly [string, readonly Story[], string | null][] = [
    ["nothing of nothing", [], null],
    ["1 before 2", [aStory("A", { priority: 2 }), aStory("B", { priority: 1 })], "B"],
    ["2 before 10, by number", [aStory("A", { priority: 10 }), aStory("B", { priority: 2 })], "B"],
    ["a missing priority last", [aStory("A"), aStory("B", { priority: 999 })], "B"],
    ["of two alike the first in the file", [aStory("B", { priority: 1 }), aStory("A", { priority: 1 })], "B"],
    ["of two without a priority the first in the file", [aStory("B"), aStory("A")], "B"],
    ["none that passed", [aStory("A", { priority: 1, ...passed }), aStory("B")], "B"],
    ["none that is blocked", [aStory("A", { priority: 1, ...blocked }), aStory("B")], "B"],
    ["none whose dependency has not passed", [aStory("A", { priority: 1, ...on("B") }), aStory("B")], "B"],
    ["one whose dependencies passed", [aStory("A", { priority: 1, ...on("B") }), aStory("B", passed)], "A"],
    ["none that depends on what is not there", [aStory("A", on("Z"))], null],
    [
      "a dependency that is both passed and blocked has passed",
      [aStory("A", on("B")), aStory("B", { ...passed, ...blocked })],
      "A",
    ],
    [
      "none that depends on an id of which one has not passed",
      [aStory("A", on("B")), aStory("B", passed), aStory("B", blocked)],
      null,
    ],
  ];
  test.each(rows)("%s", (_, stories, expected) => {
    expect(pickStory(stories)?.id ?? null).toBe(expected);
  });

  test("never one that passed, is blocked or not ready, and never one when a better is ready", () => {
    fc.assert(
      fc.property(ANY_STORIES, (stories) => {
        const isReady = (story: Story) =>
          !story.passes &&
          !story.blocked &&
          story.dependsOn.every((id) => {
            const meant = stories.filter((other) => other.id === id);
            return meant.length > 0 && meant.every(({ passes }) => passes);
          });
        const ready = stories.filter(isReady);
        const picked = pickStory(stories);
        expect(picked === null).toBe(ready.length === 0);
        if (picked === null) return;
        expect(ready).toContain(picked);
        const rank = (story: Story) => (story.priority ?? 1_000) * 100 + stories.indexOf(story);
        expect(rank(picked)).toBe(Math.min(...ready.map(rank)));
      }),
    );
  });
});

describe("C2 problems, by name", () => {
  const rows: readonly [readonly Story[], readonly string[]][] = [
    [[], []],
    [[aStory("A"), aStory("B", on("A", "A"))], []],
    [[aStory("A"), aStory("B"), aStory("A")], ["A is there twice."]],
    [[aStory("US-1"), aStory("us-1"), aStory("Us-1")], ["US-1 is there 3 times."]],
    [
      [aStory("A", on("Z", "Y", "Z"))],
      ["A depends on Z, which is not there.", "A depends on Y, which is not there."],
    ],
    [[aStory("A", on("A"))], ["A depends on itself."]],
    [
      [aStory("A", on("B")), aStory("B", on("C")), aStory("C", on("A")), aStory("D", on("A"))],
      ["A → B → C → A is a circle: each depends on the next."],
    ],
    [
      [aStory("A", on("B")), aStory("B", on("C")), aStory("C", on("B"))],
      ["B → C → B is a circle: each depends on the next."],
    ],
    [
      [
        aStory("A", on("B")),
        aStory("B", on("A")),
        aStory("C", on("D", "E")),
        aStory("D", on("C")),
        aStory("E"),
      ],
      [
        "A → B → A is a circle: each depends on the next.",
        "C → D → C is a circle: each depends on the next.",
      ],
    ],
    [
      [aStory("A", { ...on("B"), ...passed }), aStory("B", { ...on("A"), ...blocked })],
      ["A → B → A is a circle: each depends on the next."],
    ],
  ];
  test.each(rows)("%#: %j", (stories, expected) => {
    expect(problemsOf(stories).map(renderStoryProblem)).toEqual(expected);
  });

  test("a circle is found exactly when a story reaches itself, and is one", () => {
    fc.assert(
      fc.property(ANY_STORIES, (all) => {
        const stories = [...new Map(all.map((story) => [story.id, story])).values()];
        const dependsOn = (id: string) => stories.find((story) => story.id === id)?.dependsOn ?? [];
        const reaches = (from: string) => {
          const seen = new Set(dependsOn(from));
          for (const id of seen) for (const next of dependsOn(id)) seen.add(next);
          return seen;
        };
        const cycles = problemsOf(stories).flatMap((one) => (one.kind === "cycle" ? [one.ids] : []));
        expect(cycles.length > 0).toBe(stories.some(({ id }) => reaches(id).has(id)));
        for (const ids of cycles)
          for (const [n, id] of ids.entries()) expect(dependsOn(id)).toContain(ids[(n + 1) % ids.length]);
      }),
    );
  });

  test("a chain of thousands is no problem, in either order of the file", () => {
    const chain = Array.from({ length: 5_000 }, (_, n) => aStory(`S-${n}`, n === 0 ? {} : on(`S-${n - 1}`)));
    expect(problemsOf(chain)).toEqual([]);
    expect(problemsOf(chain.toReversed())).toEqual([]);
    expect(waves(chain.toReversed())).toHaveLength(5_000);
    const ring = [aStory("S-0", on("S-4999")), ...chain.slice(1)];
    expect(problemsOf(ring)).toMatchObject([{ kind: "cycle", ids: { length: 5_000 } }]);
  });
});

describe("C3 waves", () => {
  test("each wave waits only for those before it; the order within is that of the pick", () => {
    const stories = [
      aStory("D", on("B", "C")),
      aStory("C", on("A")),
      aStory("B", { priority: 1, ...on("A") }),
      aStory("A"),
      aStory("E", { priority: 5 }),
    ];
    expect(waves(stories).map(idsOf)).toEqual([["E", "A"], ["B", "C"], ["D"]]);
  });

  test("what passed is done; what waits for a blocked story, a missing one or itself has no wave", () => {
    const stories = [
      aStory("A", passed),
      aStory("B", on("A")),
      aStory("C", blocked),
      aStory("D", on("C", "B")),
      aStory("E", on("Z")),
      aStory("F", on("F")),
      aStory("G", on("B")),
    ];
    expect(waves(stories).map(idsOf)).toEqual([["B"], ["G"]]);
  });

  test("working wave by wave is working pick by pick", () => {
    fc.assert(
      fc.property(ANY_STORIES, (all) => {
        const stories = [...new Map(all.map((story) => [story.id, story])).values()];
        expect(waves(stories)[0]?.[0] ?? null).toBe(pickStory(stories));
        const reached = new Set<string>();
        let rest: readonly Story[] = stories;
        for (let picked = pickStory(rest); picked !== null; picked = pickStory(rest)) {
          const { id } = picked;
          reached.add(id);
          rest = rest.map((story) => (story.id === id ? { ...story, ...passed } : story));
        }
        expect(new Set(waves(stories).flatMap(idsOf))).toEqual(reached);
      }),
    );
  });
});

describe("C3 why nothing can be picked", () => {
  const rows: readonly [readonly Story[], string][] = [
    [[aStory("A")], "A: Do A"],
    [[], "There are no stories."],
    [[aStory("A", passed)], "The only story has passed."],
    [[aStory("A", passed), aStory("B", { ...passed, ...blocked })], "All 2 stories have passed."],
    [[aStory("A", passed), aStory("B", blocked)], "The only story that is left is blocked: B."],
    [[aStory("A", blocked), aStory("B", blocked)], "All 2 stories that are left are blocked: A, B."],
    [
      [
        aStory("A", blocked),
        aStory("B", on("A")),
        aStory("C", on("B")),
        aStory("D", on("E")),
        aStory("E", { ...passed, ...on("A") }),
        aStory("F", passed),
      ],
      "D: Do D",
    ],
    [
      [
        aStory("A", blocked),
        aStory("X", blocked),
        aStory("B", on("A")),
        aStory("C", on("B", "P", "X")),
        aStory("P", passed),
      ],
      "Nothing can be picked: B waits for A, C waits for X and A; blocked: A, X.",
    ],
    [[aStory("A", on("B")), aStory("B", on("A"))], "Nothing can be picked: A waits for B, B waits for A."],
    [[aStory("A", on("Z"))], "Nothing can be picked: A waits for Z."],
  ];
  test.each(rows)("%#: %j", (stories, sentence) => {
    expect(renderNextStory(nextOf(stories))).toBe(sentence);
  });

  test("there is always an answer, and it fits the figures", () => {
    fc.assert(
      fc.property(ANY_STORIES, (stories) => {
        const { total, passed, blocked, open } = countsOfStories(stories);
        expect(passed + blocked + open).toBe(total);
        const next = nextOf(stories);
        expect(renderNextStory(next)).toMatch(/\S/);
        switch (next.kind) {
          case "story":
            expect(statusOf(next.story)).toBe("open");
            break;
          case "empty":
            expect(total).toBe(0);
            break;
          case "passed":
            expect(passed).toBe(total);
            break;
          case "blocked":
            expect([open, next.blocked.length]).toEqual([0, blocked]);
            break;
          case "waiting":
            expect(next.waiting).toHaveLength(open);
            for (const { waitsFor } of next.waiting) expect(waitsFor).not.toEqual([]);
        }
      }),
    );
  });
});
