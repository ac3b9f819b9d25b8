import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { problemsOf, renderStoryProblem } from "../../../src/core/backlog/prd/dependencies.ts";
import {
  countsOfStories,
  nextOf,
  readyStories,
  renderNextStory,
  type Story,
  statusOf,
} from "../../../src/core/backlog/stories.ts";
import { ANY_STORIES, aStory } from "./story-samples.ts";

const passed = { passes: true };
const blocked = { blocked: true };
const on = (...dependsOn: string[]) => ({ dependsOn });

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
    expect(readyStories(stories)[0]?.id ?? null).toBe(expected);
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
        const picked = readyStories(stories)[0] ?? null;
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
    [[aStory("A"), aStory("B"), aStory("A")], ["The id A is used twice."]],
    [[aStory("US-1"), aStory("us-1"), aStory("Us-1")], ["The id US-1 is used 3 times."]],
    [
      [aStory("A", on("Z", "Y", "Z"))],
      ["A depends on Z, which does not exist.", "A depends on Y, which does not exist."],
    ],
    [[aStory("A", on("A"))], ["A depends on itself."]],
    [
      [aStory("A", on("B")), aStory("B", on("C")), aStory("C", on("A")), aStory("D", on("A"))],
      ["A → B → C → A is a circle: each story depends on the next."],
    ],
    [
      [aStory("A", on("B")), aStory("B", on("C")), aStory("C", on("B"))],
      ["B → C → B is a circle: each story depends on the next."],
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
        "A → B → A is a circle: each story depends on the next.",
        "C → D → C is a circle: each story depends on the next.",
      ],
    ],
    [
      [aStory("A", { ...on("B"), ...passed }), aStory("B", { ...on("A"), ...blocked })],
      ["A → B → A is a circle: each story depends on the next."],
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
    const ring = [aStory("S-0", on("S-4999")), ...chain.slice(1)];
    expect(problemsOf(ring)).toMatchObject([{ kind: "cycle", ids: { length: 5_000 } }]);
  });
});

describe("C3 why nothing can be picked", () => {
  const rows: readonly [readonly Story[], string][] = [
    [[aStory("A")], "A: Do A"],
    [[], "There are no stories."],
    [[aStory("A", passed)], "The only story has passed."],
    [[aStory("A", passed), aStory("B", { ...passed, ...blocked })], "All 2 stories have passed."],
    [[aStory("A", passed), aStory("B", blocked)], "The only remaining story is blocked: B."],
    [[aStory("A", blocked), aStory("B", blocked)], "All 2 remaining stories are blocked: A, B."],
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
      "No story can start: B waits for A, C waits for X and A; blocked: A, X.",
    ],
    [[aStory("A", on("B")), aStory("B", on("A"))], "No story can start: A waits for B, B waits for A."],
    [[aStory("A", on("Z"))], "No story can start: A waits for Z."],
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
