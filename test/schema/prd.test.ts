/** C2: `.loop/prd.json` as people, planning agents and Ralph write it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markBlocked, registerStory } from "../../src/core/backlog/prd/registry.ts";
import type { Story } from "../../src/core/backlog/stories.ts";
import { emptyPrd, type Prd, parsePrd, parsePrdText, renderPrd, withStories } from "../../src/schema/prd.ts";
import { renderSchemas } from "../../src/schema/published.ts";
import { aDraft, aStory } from "../core/backlog/story-samples.ts";

const RALPH = {
  project: "MyApp",
  branchName: "ralph/task-priority",
  description: "Task priorities",
  userStories: [
    {
      id: "US-001",
      title: "Add priority to the database",
      description: "As a developer, I need to store it.",
      acceptanceCriteria: ["Migration runs", "Typecheck passes"],
      priority: 1,
      passes: false,
      notes: "",
    },
    { id: "US-002", title: "Show it" },
  ],
};

function parsed(content: unknown): Prd {
  const result = parsePrd(content);
  if (result.kind === "invalid") throw new Error(result.message);
  return result.prd;
}

function reread(prd: Prd, stories: readonly Story[]): Prd {
  const result = parsePrdText(renderPrd(withStories(prd, stories), null));
  if (result.kind === "invalid") throw new Error(result.message);
  return result.prd;
}

test("C2 Ralph's file is read: what it does not have takes its default", () => {
  const { project, branchName, stories } = parsed(RALPH);
  expect([project, branchName]).toEqual(["MyApp", "ralph/task-priority"]);
  expect(stories).toEqual([
    aStory("US-001", {
      title: "Add priority to the database",
      description: "As a developer, I need to store it.",
      acceptanceCriteria: ["Migration runs", "Typecheck passes"],
      priority: 1,
    }),
    aStory("US-002", { title: "Show it" }),
  ]);
});

test("C2 C15 D8 every field, and null for what is not known", () => {
  const whole = aStory("T-1", {
    checks: ["tests=npm test", "cov=npm run -s cov >= 80"],
    dependsOn: ["US-002"],
    passes: true,
    rejections: 2,
    blocked: true,
    depth: "thorough",
    tier: 3,
    holdouts: ["does not leak"],
  });
  const nulls = Object.fromEntries(Object.keys(whole).map((key) => [key, null]));
  const { stories } = parsed({
    project: null,
    userStories: [whole, { ...nulls, id: "T-2", title: "Do T-2" }],
  });
  expect(stories).toEqual([whole, aStory("T-2")]);
});

describe("H5 a fault is one sentence that begins with its place", () => {
  const story = (fields: object) => ({
    userStories: [
      { id: "A", title: "a" },
      { id: "B", title: "b", ...fields },
    ],
  });
  test.each<[unknown, string]>([
    [null, "expected an object, found null"],
    [[], "expected an object, found a list"],
    [{}, "userStories: it is missing"],
    [{ userStories: {} }, "userStories: expected a list, found an object"],
    [{ project: 7, userStories: [] }, "project: expected text, found 7"],
    [{ userStories: ["x"] }, "userStories[0]: expected an object, found text"],
    [{ userStories: [{ title: "a" }] }, "userStories[0].id: it is missing"],
    [story({ title: "" }), "userStories[1].title: it is empty"],
    [
      story({ id: "a/b" }),
      "userStories[1].id: write letters, digits, dots, dashes or underscores, such as US-001",
    ],
    [story({ priority: "high" }), "userStories[1].priority: expected a whole number, 1 for the first story"],
    [story({ priority: 1.5 }), "userStories[1].priority: expected a whole number, 1 for the first story"],
    [story({ priority: -1 }), "userStories[1].priority: expected a whole number, 1 for the first story"],
    [story({ passes: "yes" }), "userStories[1].passes: expected true or false, found text"],
    [story({ dependsOn: "A" }), "userStories[1].dependsOn: expected a list, found text"],
    [story({ dependsOn: ["A", 1] }), "userStories[1].dependsOn[1]: expected text, found 1"],
    [story({ depth: "deep" }), "userStories[1].depth: expected quick, standard or thorough"],
    [story({ rejections: -1 }), "userStories[1].rejections: expected a whole number from 0 up"],
    [
      story({ checks: ["t=true", "npm test"] }),
      "userStories[1].checks[1]: --check 'npm test' has no \"=\"; write --check 'name=command'",
    ],
    [
      story({ checks: ["t=true", "t=false"] }),
      'userStories[1].checks[1]: There are two checks with the name "t"',
    ],
  ])("%j", (content, message) => {
    expect(parsePrd(content)).toEqual({ kind: "invalid", message });
  });

  test("what is not JSON says so; a byte order mark is no fault", () => {
    expect(parsePrdText('{"userStories":[')).toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^not JSON: /),
    });
    expect(parsePrdText('\uFEFF{"userStories":[]}')).toMatchObject({ kind: "ok" });
  });

  test("anything at all has an answer", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (content) => {
        for (const given of [content, { userStories: content }, { userStories: [content] }])
          expect(["ok", "invalid"]).toContain(parsePrd(given).kind);
      }),
    );
  });
});

describe("C2 writing it again", () => {
  test("changes what was changed and nothing else: unknown keys, nulls and missing keys stay", () => {
    const content = {
      $schema: "x",
      theirs: { deep: [1, { a: null }] },
      userStories: [
        { mine: true, id: "A", title: "a", notes: null, estimate: "3d" },
        { id: "B", title: "b", blocked: true },
      ],
      after: 1,
    };
    const prd = parsed(content);
    const change = markBlocked(prd.stories, "A", "no key");
    if (change.kind === "refused") throw new Error(change.message);
    const after = withStories(prd, change.stories);
    expect(after).toEqual({
      ...content,
      userStories: [
        { ...content.userStories[0], notes: "[BLOCKED] no key", blocked: true },
        content.userStories[1],
      ],
    });
    expect(Object.keys(after)).toEqual(Object.keys(content));
    expect(Object.keys(after.userStories[0] ?? {})).toEqual([
      "mine",
      "id",
      "title",
      "notes",
      "estimate",
      "blocked",
    ]);
    expect(content.userStories[0]).not.toHaveProperty("blocked");
  });

  test("a new story has the keys of the shape, and of the others those that say something", () => {
    const change = registerStory([], aDraft({ title: "Log in", depth: "quick" }));
    if (change.kind === "refused") throw new Error(change.message);
    expect(withStories(emptyPrd("app"), change.stories)).toEqual({
      project: "app",
      branchName: "",
      description: "",
      userStories: [
        {
          id: "US-001",
          title: "Log in",
          description: "",
          acceptanceCriteria: [],
          checks: [],
          dependsOn: [],
          passes: false,
          notes: "",
          rejections: 0,
          blocked: false,
          depth: "quick",
        },
      ],
    });
  });

  test.each([
    ['{\n\t"userStories": []\n}', "\t"],
    ['{\n    "userStories": []\n}\n', "    "],
    ['{"userStories":[]}', "  "],
  ])("%j is indented as before", (text, indent) => {
    expect(renderPrd({ userStories: [] }, text)).toBe(`{\n${indent}"userStories": []\n}\n`);
  });

  test("round trip: any content comes back the same, any story that was registered can be read again", () => {
    const others = fc.dictionary(fc.string(), fc.jsonValue());
    const stories = fc.uniqueArray(fc.constantFrom("A", "B", "C", "D"), { maxLength: 4 });
    fc.assert(
      fc.property(others, others, stories, (top, inside, ids) => {
        const known = (key: string) => key in aStory("A") || key in RALPH || key === "$schema";
        const unknown = (all: object) => Object.entries(all).filter(([key]) => !known(key));
        const content = JSON.parse(
          JSON.stringify({
            ...Object.fromEntries(unknown(top)),
            userStories: ids.map((id) => ({ ...Object.fromEntries(unknown(inside)), id, title: id })),
          }),
        ) as unknown;
        const prd = parsed(content);
        expect(withStories(prd, prd.stories)).toEqual(content);
        const change = registerStory(prd.stories, aDraft({ id: "E", dependsOn: ids }));
        if (change.kind === "refused") throw new Error(change.message);
        expect(reread(prd, change.stories).stories).toEqual(change.stories);
        expect(reread(prd, change.stories).content).toMatchObject({
          ...(content as object),
          userStories: expect.anything(),
        });
      }),
    );
  });

  test("a key named __proto__ is a key like any other", () => {
    const text = '{"__proto__":{"a":1},"userStories":[{"__proto__":{"b":2},"id":"A","title":"a"}]}';
    const result = parsePrdText(text);
    if (result.kind === "invalid") throw new Error(result.message);
    const { prd } = result;
    expect(JSON.stringify(withStories(prd, prd.stories))).toBe(text);
  });
});

test("F9 the JSON Schema says what is required and leaves room for other keys", () => {
  expect(JSON.parse(renderSchemas().get("prd.json") ?? "")).toMatchObject({
    type: "object",
    required: ["userStories"],
    properties: {
      userStories: {
        type: "array",
        items: { type: "object", required: ["id", "title"], additionalProperties: {} },
      },
    },
  });
});
