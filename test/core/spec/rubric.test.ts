import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Given, questionsFor, scoreSpec, shapeOfScore } from "../../../src/core/spec/rubric.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { runs } from "../../support/runs.ts";

const NONE: Given = { checks: 0, phrases: 0, until: null, protect: 0 };
const CLEAR =
  "refactor src/api/users.ts to use zod validation. All existing tests must pass. No new dependencies. Done when the PR is ready.";

const scoresOf = (spec: string, given: Given = NONE) =>
  scoreSpec(spec, given)
    .dimensions.map(({ score }) => score)
    .join("");
const find = (spec: string, dimension: string, given: Given = NONE) =>
  scoreSpec(spec, given).dimensions.find((one) => one.dimension === dimension);

describe("B1 the examples of the rubric", () => {
  test.each([
    ["outcome", "Make it better", 0],
    ["outcome", "Improve performance", 1],
    ["outcome", "p95 latency <100ms", 2],
    ["scope", "Fix the app", 0],
    ["scope", "Fix auth", 1],
    ["scope", "Fix /api/auth/token", 2],
    ["constraints", "Fix auth", 0],
    ["constraints", "Use existing stack", 1],
    ["constraints", "No new deps, <500 LOC", 2],
    ["success", "Fix auth", 0],
    ["success", "Tests pass", 1],
    ["success", "All tests + manual QA", 2],
    ["done", "Fix auth", 0],
    ["done", "When it works", 1],
    ["done", "PR merged to main", 2],
  ])("%s of %j is %d", (dimension, spec, score) => {
    expect(find(spec, dimension)?.score).toBe(score);
  });
});

describe("B1 each digit is outcome, scope, constraints, success, done", () => {
  test.each([
    // says nothing
    ["make it better", "00000"],
    ["make the app better and fix all problems", "00000"],
    ["implement full feature", "00000"],
    ["fix the bug", "00000"],
    ["clean up the code", "00000"],
    ["improve everything", "00000"],
    ["refactor the code to be cleaner", "00000"],
    ["please just make this work properly", "00000"],
    ["", "00000"],
    [" \n\t ", "00000"],
    ["...", "00000"],
    // something
    ["make it faster", "10000"],
    ["add caching", "11000"],
    ["improve the login page", "11000"],
    ["The login page is broken on Safari", "11000"],
    ["users can't log in with Google", "11000"],
    ["fix the flaky tests", "11000"],
    ["fix all failing tests", "11001"],
    ["clean up src/utils", "12000"],
    ["Fix parseUser()", "12000"],
    ["fix the parser function", "12000"],
    ["fix auth (see src/api/users.ts).", "12000"],
    ["fix `UserCard`", "12000"],
    ["debug test/api/login.test.ts:42", "12000"],
    ["add a dark mode toggle to the settings page", "21000"],
    ["rename getUser to fetchUser in src/api", "22000"],
    ["replace moment with date-fns", "21000"],
    ["upgrade react to 19", "21000"],
    ["reduce the bundle size to 200kb", "21000"],
    ["the API should return 404 for unknown ids", "21010"],
    ["make the client 2x faster", "21000"],
    ["fix OrdersController#index", "12000"],
    ["Fix issue https://github.com/o/r/issues/12", "11000"],
    ["Fix the leak. Heap must stay under 200MB.", "21000"],
    ["It should look modern", "00000"],
    ["do whatever you think is best", "00000"],
    ["look at the code and see if anything could be improved", "00000"],
    ["don't stop until tests pass", "00012"],
    ["keep going until everything works", "00001"],
    // constraints
    ["fix auth, don't break anything", "11100"],
    ["fix auth, keep it simple", "11100"],
    ["fix auth without adding dependencies", "11200"],
    ["fix auth but do not touch src/db.ts", "11200"],
    ["fix auth, at most 100 lines", "11200"],
    ["fix auth and keep the public API unchanged", "11200"],
    ["upgrade react to 19 without breaking changes", "21200"],
    ["add caching using redis", "21100"],
    // success
    ["make all tests pass", "10010"],
    ["fix auth. No lint errors.", "11010"],
    ["fix auth. Tests pass and tsc is clean.", "11020"],
    ["fix auth and make sure that the demo user can log in", "11010"],
    ["fix auth, covered by unit tests, tested by hand", "11020"],
    ["add tests for the parser until coverage >= 80", "21012"],
    // what looks like success and is not
    ["fix auth, no tests needed", "11000"],
    ["fix auth, don't run the tests", "11000"],
    ["fix auth without any testing", "11000"],
    ["fix auth. Skip the tests.", "11000"],
    ["fix auth, tests are not required", "11000"],
    ["fix auth, tests are optional", "11000"],
    ["fix auth, no manual QA", "11000"],
    ["fix auth, passing tests is optional, no code review needed", "11000"],
    ["the tests do not pass", "00000"],
    ["fix the tests that pass locally but fail on CI", "11000"],
    // done
    ["fix auth until it works", "11001"],
    ["fix auth; done when merged", "11002"],
    ["remove dead code in packages/core. Stop when eslint reports 0 warnings.", "12012"],
    ["fix auth. Done when npm test passes.", "11012"],
    ["fix auth and open a PR", "11002"],
    ["fix auth, stop when `npm run e2e` exits 0", "11012"],
    ["fix auth. Deployed to staging", "11002"],
    ["fix auth, do not open a PR", "11100"],
    // whole
    ["refactor all API routes to use validation middleware", "22101"],
    ["loop - refactor all API routes to use validation middleware", "22101"],
    [CLEAR, "22212"],
    [
      "Migrate from jest to vitest. No new deps besides vitest. npm test passes and lint is clean. Done when PR is open.",
      "21222",
    ],
    [
      "reduce bundle size to 200kb, keep the public API unchanged, all tests pass, done when merged to main",
      "21212",
    ],
    [
      "## Goal\nadd rate limiting to /api/login\n## Constraints\n- no new dependencies\n- max 200 lines\n## Success\n- unit tests pass\n- manual QA\n## Done\n- PR merged",
      "22222",
    ],
    [
      "As a user I want to reset my password. Acceptance criteria:\n- an email is sent\n- the link expires after 1 hour",
      "11020",
    ],
    ["Goal: fix auth\nConstraints: no new deps\nDone when: the PR is merged", "11202"],
    // code says where, and nothing else
    ["Fix this:\n```\nAll tests pass. PR merged to main. src/api/users.ts:14\n```", "02000"],
    ["Fix this:\n~~~\nNo new deps\n```\n~~~\nfix auth", "11000"],
    // what looks like a place and is not
    ["fix the client/server sync and/or the I/O on Node.js", "11000"],
    ["see https://example.com/src/api.ts and fix auth", "11000"],
    ["support iOS and macOS", "11000"],
    ["require node >= 18", "00000"],
  ])("%j is %s", (spec, scores) => {
    expect(scoresOf(spec)).toBe(scores);
  });

  test.each([
    ["Mach die App besser", "00000"],
    ["Behebe den Fehler in src/api/users.ts", "02000"],
    ["Améliore la performance de l'application", "00000"],
    ["Corrige le bogue dans /api/auth/token", "02000"],
    ["テストを直してください。", "00000"],
    ["src/api/users.ts のバリデーションを追加", "02000"],
    ["исправь вход", "00000"],
    ["אנא תקן את הבדיקות", "00000"],
    ["🚀🚀🚀", "00000"],
  ])("other languages are scored by what is not language: %j is %s", (spec, scores) => {
    expect(scoresOf(spec)).toBe(scores);
  });
});

describe("B1 flags count as words", () => {
  test.each<[string, Partial<Given>, string]>([
    ["fix the flaky tests", { phrases: 1, until: "npm test passes" }, "21012"],
    ["raise coverage of src/api", { checks: 2, protect: 1 }, "22222"],
    ["raise coverage of src/api", { checks: 1 }, "22012"],
    ["make it better", { checks: 1 }, "10012"],
    ["make it better", { checks: 3, protect: 2 }, "10222"],
    ["", { phrases: 1, until: "npm test passes" }, "20012"],
    ["npm test passes", { phrases: 1, until: "npm test passes" }, "20012"],
    ["behebe die Tests", { phrases: 1, until: "npm test passes" }, "20012"],
    ["fix it", { until: "it feels right" }, "00001"],
    ["fix it", { until: "the PR is merged" }, "00002"],
    // the same thing said twice is one way to verify
    ["fix auth, all tests pass", { checks: 1 }, "21012"],
    ["fix auth, manual QA", { checks: 1 }, "21022"],
  ])("%j with %j is %s", (spec, given, scores) => {
    expect(scoresOf(spec, { ...NONE, ...given })).toBe(scores);
  });

  test("and are quoted as the words that earned it", () => {
    const given = { checks: 2, phrases: 1, until: "no lint errors", protect: 1 };
    expect(find("fix auth", "done", given)?.words).toEqual(["no lint errors", "--check (2)"]);
    expect(find("fix auth", "constraints", given)?.words).toEqual(["--protect"]);
  });
});

describe("B1 what earned a score and what would raise it", () => {
  test("the words are quotes", () => {
    expect(scoreSpec(CLEAR).dimensions.map(({ words }) => words)).toEqual([
      ["refactor src/api/users.ts to use zod validation"],
      ["src/api/users.ts"],
      ["No new dependencies"],
      ["All existing tests must pass"],
      ["Done when the PR is ready"],
    ]);
  });

  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          "fix",
          "all",
          "tests",
          "pass",
          "no",
          "new",
          "src/a.ts",
          "`x`",
          ".",
          ",",
          "\n",
          "PR",
          "merged",
          "until",
          "and",
          "80%",
          "<",
          "```\n",
          "- ",
          "to use",
          "don't",
        ),
        { maxLength: 30 },
      )
      .map((words) => words.join(" ")),
  );

  test("of any text at all: no score without words of the text, a sentence below 2, none at 2", () => {
    fc.assert(
      fc.property(text, fc.option(text), (spec, until) => {
        const { total, dimensions } = scoreSpec(spec, { ...NONE, until });
        expect(dimensions.map(({ dimension }) => dimension)).toEqual([
          "outcome",
          "scope",
          "constraints",
          "success",
          "done",
        ]);
        expect(total).toBe(dimensions.reduce((sum, { score }) => sum + score, 0));
        for (const { score, words, raise } of dimensions) {
          expect(words.length > 0).toBe(score > 0);
          for (const word of words) expect(`${spec}\n${until ?? ""}`).toContain(word);
          if (score === 2) expect(raise).toBeNull();
          else expect(raise).toMatch(/^[A-Z].*\.$/);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test("a flag never lowers a score", () => {
    fc.assert(
      fc.property(text, fc.nat(3), fc.nat(3), (spec, checks, protect) => {
        const [plain, flagged] = [scoreSpec(spec), scoreSpec(spec, { ...NONE, checks, protect })];
        for (const [i, { score }] of flagged.dimensions.entries())
          expect(score).toBeGreaterThanOrEqual(plain.dimensions[i]?.score ?? 0);
      }),
    );
  });
});

describe("B2 shape", () => {
  test.each([
    [0, "vague"],
    [4, "vague"],
    [5, "colleague"],
    [7, "colleague"],
    [8, "tool"],
    [10, "tool"],
  ])("%d is %s", (total, shape) => {
    expect(shapeOfScore(total)).toBe(shape);
  });

  test.each([
    ["make it better", NONE, "vague"],
    ["make the app better and fix all problems", NONE, "vague"],
    ["refactor all API routes to use validation middleware", NONE, "colleague"],
    ["fix the flaky tests", { ...NONE, phrases: 1, until: "npm test passes" }, "colleague"],
    ["raise coverage of src/api", { ...NONE, checks: 2, protect: 1 }, "tool"],
    [CLEAR, NONE, "tool"],
  ])("%j with %j is %s", (spec, given, shape) => {
    expect(shapeOfScore(scoreSpec(spec, given).total)).toBe(shape);
  });

  test("the questions are those of the open dimensions, the emptiest first", () => {
    expect(questionsFor(scoreSpec("make it better"))).toHaveLength(5);
    expect(questionsFor(scoreSpec("raise coverage of src/api", { ...NONE, checks: 2, protect: 1 }))).toEqual(
      [],
    );
    const questions = questionsFor(scoreSpec("Fix auth. PR merged to main"));
    expect(questions).toHaveLength(4);
    expect(questions[0]).toContain("not allowed");
    expect(questions[3]).toContain("Which files");
    for (const question of questions) expect(question).toMatch(/\?$/);
  });
});

test.each([
  ["a", 1],
  ["tests ", 6],
  ["fix a, ", 7],
  ["-", 1],
  ["a/", 2],
  [" ", 1],
  ["`", 1],
  ["- x\n  y\n", 8],
])("B1 time is linear in the length: %j over and over", (piece, length) => {
  const spec = piece.repeat(300_000 / length);
  // a pattern that is quadratic takes minutes here
  expect(cpuMs(() => void scoreSpec(spec, { ...NONE, until: spec }))).toBeLessThan(10_000);
});
