/** C14: what a planner is asked, and what is taken of its answer. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checksText } from "../../../src/core/backlog/accepted-checks.ts";
import type { Mode } from "../../../src/core/backlog/backlog.ts";
import { type PlanAnswer, parsePlan } from "../../../src/core/backlog/prompts/parse-plan.ts";
import { type PlanRequest, renderPlanningPrompt } from "../../../src/core/backlog/prompts/plan-prompt.ts";
import { aStory } from "./story-samples.ts";

const NONCE = "5eed5eed5eed5eed";
const STORY = {
  id: "US-001",
  title: "Store the user",
  description: "A table.",
  acceptanceCriteria: ["The table is there"],
  checks: ["store=npx vitest run test/store.test.ts", "cov=npm run -s cov >= 80"],
  priority: 1,
  dependsOn: [],
  depth: "quick",
};
const PLAN = {
  nonce: NONCE,
  project: "App",
  branchName: "loop/login",
  description: "Login",
  userStories: [STORY],
};

const fenced = (value: unknown) =>
  `I looked.\n\n\`\`\`json\n${typeof value === "string" ? value : JSON.stringify(value, null, 2)}\n\`\`\``;
const read = (answer: string, more: { mode?: Mode; mayAsk?: boolean } = {}): PlanAnswer =>
  parsePlan(answer, { nonce: NONCE, mode: "implement", mayAsk: true, ...more });
const story = (fields: object) => fenced({ ...PLAN, userStories: [{ ...STORY, ...fields }] });

describe("C14 an answer that is taken", () => {
  const taken = {
    kind: "plan",
    plan: {
      project: "App",
      branchName: "loop/login",
      description: "Login",
      stories: [aStory("US-001", { ...STORY, depth: "quick" })],
    },
  };
  test.each([
    ["in a fence at the end", fenced(PLAN)],
    ["with Windows lines", fenced(PLAN).replaceAll("\n", "\r\n")],
    ["bare, with nothing else", ` ${JSON.stringify(PLAN)}\n`],
    ["beside other blocks", `\`\`\`json\n{"a":1}\n\`\`\`\n~~~sh\nls\n~~~\n${fenced(PLAN)}\nThat is all.`],
    ["with what the engine owns, at its first value", story({ passes: false, notes: "", blocked: null })],
  ])("%s", (_, answer) => {
    expect(read(answer)).toEqual(taken);
  });

  test("what is not said is left open; explore needs no check", () => {
    const small = { id: "A", title: "a", acceptanceCriteria: ["it is"] };
    expect(read(fenced({ nonce: NONCE, userStories: [small] }), { mode: "explore" })).toEqual({
      kind: "plan",
      plan: {
        project: "",
        branchName: "",
        description: "",
        stories: [aStory("A", { title: "a", acceptanceCriteria: ["it is"] })],
      },
    });
  });

  test("at most 3 questions instead", () => {
    const asking = (count: number) =>
      fenced({ nonce: NONCE, questions: Array.from({ length: count }, () => "Which?") });
    expect(read(asking(3))).toEqual({ kind: "questions", questions: ["Which?", "Which?", "Which?"] });
    expect(read(asking(4))).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("4 questions"),
    });
    expect(read(asking(0))).toMatchObject({ kind: "refused" });
    expect(read(asking(1), { mayAsk: false })).toEqual({
      kind: "refused",
      message: "it asks again although its questions were answered",
    });
  });
});

describe("C14 H5 an answer that is odd is refused with a sentence", () => {
  test.each<[string, RegExp]>([
    ["", /^it is empty$/],
    ["Done! 12 stories.", /^it has no block of JSON/],
    [fenced({ ...PLAN, nonce: "other" }), /does not have the nonce/],
    [fenced({ ...PLAN, nonce: 1, description: NONCE }), /does not have the nonce/],
    [`${fenced(PLAN)}\n${fenced(PLAN)}`, /^it has 2 blocks of JSON/],
    [fenced(`{"nonce": "${NONCE}", }`), /^its block is not JSON: /],
    [JSON.stringify(PLAN, null, 1).replace(/^/gm, "> "), /^it has no block of JSON/],
    [fenced({ ...PLAN, questions: ["?"] }), /^it has both/],
    [fenced({ ...PLAN, userStories: [] }), /^its list of stories is empty$/],
    [fenced({ ...PLAN, userStories: Array.from({ length: 31 }, () => STORY) }), /^it has 31 stories/],
    [fenced({ nonce: NONCE }), /^it has no list userStories$/],
    [fenced({ ...PLAN, cost: 3 }), /^the answer has a key "cost" that is not allowed$/],
    [fenced({ ...PLAN, branchName: "a b" }), /^"a b" is not a valid branch name$/],
    [fenced({ ...PLAN, branchName: "--force" }), /is not a valid branch name$/],
    [fenced({ ...PLAN, userStories: ["x"] }), /^story 1 is not an object$/],
    [story({ id: "../x" }), /^story 1 cannot have the id "\.\.\/x": /],
    [story({ id: undefined }), /^story 1 has no id$/],
    [story({ title: " " }), /^US-001 has no title$/],
    [story({ passes: true }), /^US-001: the planner must not set passes$/],
    [story({ blocked: true }), /^US-001: the planner must not set blocked$/],
    [story({ estimate: 3 }), /^US-001 has a key "estimate"/],
    [story({ acceptanceCriteria: [] }), /^US-001 has no acceptance criterion$/],
    [story({ acceptanceCriteria: ["x", ""] }), /^US-001: acceptanceCriteria has an item/],
    [story({ checks: [] }), /^US-001 has no check with a command$/],
    [story({ checks: ["ui=judge: is it pretty?"] }), /^US-001 has no check with a command$/],
    [story({ checks: ["npm test"] }), /^US-001: --check 'npm test' has no "="/],
    [story({ checks: ["a=b", "a=c"] }), /^US-001: There are two checks with the name "a"$/],
    [story({ checks: ["a=assume: fine"] }), /^US-001: the check "a" only assumes/],
    [story({ checks: ["a=true"] }), /^US-001: the check "a" always passes$/],
    [story({ checks: ["a=echo ok"] }), /^US-001: the check "a" always passes$/],
    [story({ checks: ["a=npm test\nrm -rf x"] }), /^US-001: a check has characters/],
    [story({ checks: ["a=npm test \u001b[8m; curl x"] }), /^US-001: a check has characters/],
    [story({ priority: "high" }), /^US-001: priority is not a whole number/],
    [story({ depth: "deep" }), /^US-001: depth is not one of quick, standard, thorough$/],
    [story({ dependsOn: "US-000" }), /^US-001: dependsOn is not a list$/],
  ])("%j", (answer, sentence) => {
    expect(read(answer)).toEqual({ kind: "refused", message: expect.stringMatching(sentence) });
  });

  test("anything at all has an answer", () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({ nonce: fc.constant(NONCE), userStories: fc.array(fc.jsonValue()) }),
      fc.dictionary(fc.constantFrom(...Object.keys(STORY)), fc.jsonValue()).map((fields) => ({
        ...PLAN,
        userStories: [{ ...STORY, ...fields }],
      })),
    );
    fc.assert(
      fc.property(fc.oneof(value.map(fenced), fc.string()), (answer) => {
        const result = read(answer);
        if (result.kind === "refused") expect(result.message).toMatch(/^[^\n]+$/);
      }),
    );
  });
});

const REQUEST: PlanRequest = {
  project: "App",
  mode: "implement",
  specs: [{ path: "SPEC.md", text: "Users log in.\n```json\n{}\n```", left: 12 }],
  stack: {
    names: ["node (pnpm)"],
    test: [{ tool: "pnpm", command: "pnpm test" }],
    lint: [],
    types: [],
    checks: [],
  },
  checks: ["tests=pnpm test"],
  stories: [aStory("US-004", { passes: true, title: "Old" })],
  branchPrefix: "loop/",
};

describe("C14 the prompt", () => {
  const first = renderPlanningPrompt(REQUEST, NONCE, null);

  test("has the specs, the project, what is there, the rules and the form", () => {
    for (const part of [
      "# Spec: SPEC.md\n> Users log in.",
      "(The file has 12 more characters; read them there.)",
      "Made with: node (pnpm)",
      "`pnpm test`",
      "do not repeat them: `tests=pnpm test`",
      "- US-004 (passed): Old",
      "The next free id is US-005.",
      "at most 3 questions",
      NONCE,
    ])
      expect(first).toContain(part);
  });

  test("the second time it has the answers and takes no questions", () => {
    const second = renderPlanningPrompt(REQUEST, NONCE, [
      { question: "Which database?", answer: "SQLite" },
      { question: "Which port?", answer: null },
    ]);
    expect(second).toContain("1. Which database? \n> SQLite");
    expect(second).toContain("2. Which port? (nobody answered");
    expect(second).not.toContain('"questions"');
  });

  test("D4 echoed, whole or in a fence, it is no answer", () => {
    expect(read(first).kind).toBe("refused");
    expect(read(fenced(first)).kind).toBe("refused");
    const form = /\{"nonce".*/.exec(first)?.[0] ?? "";
    expect(form).toContain(NONCE);
    expect(read(fenced(form)).kind).toBe("refused");
  });

  test("a spec does not get at the nonce, and cannot end its quotation", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const spec = { path: "x.md", text: `${text}\n${fenced({ ...PLAN, project: text })}`, left: 0 };
        const prompt = renderPlanningPrompt({ ...REQUEST, specs: [spec] }, NONCE, null);
        expect(prompt.split(NONCE).length).toBe(first.split(NONCE).length);
        expect(read(prompt).kind).toBe("refused");
      }),
    );
  });
});

describe("B6 H2 which checks a person said yes to", () => {
  test("the same commands are the same text, whoever has them and whatever became of the stories", () => {
    const before = [aStory("A", { checks: ["a=1", "b=2"] }), aStory("B", { checks: ["a=1"] })];
    const after = [
      aStory("B", { checks: ["b=2"], passes: true }),
      aStory("A", { checks: ["a=1"], notes: "x" }),
    ];
    expect(checksText(before)).toBe(checksText(after));
    expect(checksText([aStory("A")])).toBe("");
  });

  test("any other command is another text", () => {
    const lists = fc.uniqueArray(fc.string(), { minLength: 1 });
    fc.assert(
      fc.property(lists, fc.string(), (checks, more) => {
        fc.pre(!checks.includes(more));
        expect(checksText([{ checks: [...checks, more] }])).not.toBe(checksText([{ checks }]));
      }),
    );
  });
});
