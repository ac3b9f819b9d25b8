import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { problemsOf } from "../../../src/core/backlog/prd/dependencies.ts";
import {
  markBlocked,
  markComplete,
  nextId,
  registerStory,
  type StoryChange,
  type StoryDraft,
  unblock,
  withNote,
} from "../../../src/core/backlog/prd/registry.ts";
import type { Story } from "../../../src/core/backlog/stories.ts";
import { anyText } from "../../support/any-text.ts";
import { aDraft, aStory } from "./story-samples.ts";

const refusal = (change: StoryChange) => (change.kind === "refused" ? change.message : null);
const changed = (change: StoryChange) => {
  if (change.kind === "refused") throw new Error(change.message);
  return change;
};

describe("D8 register", () => {
  test("a new story is the last of the list, open, with nothing said of it yet", () => {
    const before = [aStory("US-001")];
    const { stories, story } = changed(
      registerStory(
        before,
        aDraft({
          title: "  Add a\nlogin ",
          dependsOn: ["us-001", "US-001"],
          checks: ["tests=npm test"],
          priority: 2,
          depth: "quick",
        }),
      ),
    );
    expect(stories).toEqual([before[0], story]);
    expect(story).toEqual(
      aStory("US-002", {
        title: "Add a login",
        dependsOn: ["US-001"],
        checks: ["tests=npm test"],
        priority: 2,
        depth: "quick",
      }),
    );
  });

  test.each([
    [[], "US-001"],
    [["US-001", "US-003"], "US-004"],
    [["us-041", "T-99", "login"], "US-042"],
    [["US-999"], "US-1000"],
    [["US-0007"], "US-008"],
  ])("of %j the next id is %s", (ids, expected) => {
    expect(nextId(ids.map((id) => aStory(id)))).toBe(expected);
  });

  test.each<[Partial<StoryDraft>, RegExp]>([
    [{ title: " \n" }, /^A story needs a title\.$/],
    [{ id: "US-001" }, /^The story US-001 exists already: Do US-001\.$/],
    [{ id: "us-001" }, /^The story US-001 exists already/],
    [{ id: "../x" }, /^"\.\.\/x" cannot be the id of a story: write letters/],
    [{ id: ".x" }, /cannot be the id/],
    [{ id: "x." }, /cannot be the id/],
    [{ id: "" }, /cannot be the id/],
    [{ id: "__proto__" }, /cannot be the id/],
    [{ id: "x".repeat(65) }, /more than 64 characters/],
    [{ dependsOn: ["US-009"] }, /^US-002 depends on US-009, which does not exist\.$/],
    [{ id: "A", dependsOn: ["A"] }, /^A depends on itself\.$/],
    [{ acceptanceCriteria: ["works", " "] }, /^A criterion is empty\.$/],
    [{ checks: ["npm test"] }, /^--check 'npm test' has no "="[^.]*\.$/],
    [{ checks: ["t=true", "t=false"] }, /^There are two checks with the name "t"\.$/],
    [{ priority: 1.5 }, /^1\.5 is not a priority/],
    [{ priority: -1 }, /^-1 is not a priority/],
    [{ priority: 1e300 }, /is not a priority/],
  ])("H5 %j is refused with a sentence", (fields, sentence) => {
    const change = registerStory([aStory("US-001")], aDraft(fields));
    expect(change).toMatchObject({ kind: "refused", fault: "request" });
    expect(refusal(change)).toMatch(sentence);
  });

  test("C2 what was faulty can be mended by it, and is the reason to refuse everything else", () => {
    const dangling = [aStory("A", { dependsOn: ["B"] })];
    expect(registerStory(dangling, aDraft({ id: "B" }))).toMatchObject({ kind: "changed" });
    const inCircle = registerStory(dangling, aDraft({ id: "B", dependsOn: ["A"] }));
    expect(inCircle).toMatchObject({
      kind: "refused",
      fault: "request",
      message: "A → B → A is a circle: each story depends on the next.",
    });
    for (const change of [registerStory(dangling, aDraft({ id: "C" })), markComplete(dangling, "A")])
      expect(change).toMatchObject({
        kind: "refused",
        fault: "backlog",
        message: "A depends on B, which does not exist.",
      });
    const twice = [aStory("A"), aStory("A", { dependsOn: ["Z"] })];
    expect(markBlocked(twice, "A", "")).toMatchObject({
      fault: "backlog",
      message: "The id A is used twice.",
      hint: "And: A depends on Z, which does not exist.",
    });
  });
});

describe("D8 mark", () => {
  const open = aStory("A", { notes: "[REJECTED] no test\n", rejections: 1 });
  const rows: readonly [string, StoryChange, Partial<Story> | string][] = [
    ["complete", markComplete([open], "a"), { passes: true }],
    [
      "complete what was blocked",
      markComplete([{ ...open, blocked: true }], "A"),
      { passes: true, blocked: false },
    ],
    [
      "complete before its dependencies",
      markComplete([aStory("A", { dependsOn: ["B"] }), aStory("B")], "A"),
      { passes: true },
    ],
    ["complete twice", markComplete([{ ...open, passes: true }], "A"), "A has passed already."],
    [
      "block",
      markBlocked([open], "A", "no\nkey "),
      { blocked: true, notes: "[REJECTED] no test\n[BLOCKED] no key", rejections: 1 },
    ],
    ["block without a reason", markBlocked([aStory("A")], "A", ""), { blocked: true, notes: "[BLOCKED]" }],
    [
      "block what passed",
      markBlocked([{ ...open, passes: true }], "A", ""),
      "A has passed already and cannot be blocked.",
    ],
    ["block twice", markBlocked([{ ...open, blocked: true }], "A", ""), "A is blocked already."],
    [
      "unblock",
      unblock([{ ...open, blocked: true }], "A"),
      { blocked: false, rejections: 0, notes: open.notes },
    ],
    ["unblock what is open", unblock([open], "A"), "A is not blocked."],
    ["unblock what passed", unblock([{ ...open, passes: true, blocked: true }], "A"), "A is not blocked."],
    ["complete what is not there", markComplete([open], "B"), 'There is no story "B".'],
  ];
  test.each(rows)("%s", (_, change, expected) => {
    if (typeof expected === "string") expect(refusal(change)).toBe(expected);
    else {
      const { story, stories } = changed(change);
      expect(story).toMatchObject(expected);
      expect(stories).toContain(story);
    }
  });

  test("an unknown id is answered with those that there are", () => {
    const many = Array.from({ length: 12 }, (_, n) => aStory(`T-${n}`));
    expect(unblock(many, "X")).toMatchObject({
      hint: "Stories: T-0, T-1, T-2, T-3, T-4, T-5, T-6, T-7, T-8, T-9, …",
    });
    expect(unblock([], "X")).toMatchObject({ hint: expect.stringContaining("loop register-task") });
  });

  test("C7 notes are lines, one more each time", () => {
    expect(withNote(withNote("  ", "REJECTED", "a\u001b[31mb"), "BLOCKED", "")).toBe(
      "[REJECTED] ab\n[BLOCKED]",
    );
  });
});

test("C2 D8 any order of changes leaves a sound backlog, and no word of a story that is not meant", () => {
  const ids = fc.constantFrom("A", "B", "C", "d", "D", "US-001", "no such");
  const command = fc.oneof(
    fc
      .record({
        id: fc.option(fc.oneof(ids, anyText(4))),
        title: fc.oneof(fc.constant("Do it"), anyText()),
        dependsOn: fc.array(ids, { maxLength: 3 }),
        priority: fc.option(fc.double()),
        checks: fc.array(fc.oneof(fc.constantFrom("t=true", "u=judge: ok?"), anyText()), { maxLength: 2 }),
      })
      .map((fields) => (stories: readonly Story[]) => registerStory(stories, aDraft(fields))),
    ids.map((id) => (stories: readonly Story[]) => markComplete(stories, id)),
    fc.tuple(ids, anyText()).map(
      ([id, why]) =>
        (stories: readonly Story[]) =>
          markBlocked(stories, id, why),
    ),
    ids.map((id) => (stories: readonly Story[]) => unblock(stories, id)),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 20 }), (commands) => {
      let stories: readonly Story[] = [];
      for (const apply of commands) {
        const change = apply(stories);
        if (change.kind === "refused") {
          expect(change).toMatchObject({ fault: "request", message: expect.stringMatching(/\.$/) });
          continue;
        }
        const others = stories.filter(({ id }) => id !== change.story.id);
        for (const other of others) expect(change.stories).toContain(other);
        expect(change.stories).toHaveLength(others.length + 1);
        stories = change.stories;
        expect(problemsOf(stories)).toEqual([]);
      }
    }),
  );
});
