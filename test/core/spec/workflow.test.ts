import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { needsPlan, parseStepsFile } from "../../../src/core/goal/steps.ts";
import { decideReversibility } from "../../../src/core/spec/reversibility.ts";
import { decideWorkflow } from "../../../src/core/spec/workflow.ts";

const CLEAR =
  "refactor src/api/users.ts to use zod validation. All existing tests must pass. No new dependencies. Done when the PR is ready.";

describe("B3 workflow", () => {
  test.each([
    ["add a dark mode", "A", "add"],
    ["Implement login", "A", "Implement"],
    ["please create a page", "A", "create"],
    ["a new feature for the page", "A", "new"],
    ["fix the flaky tests", "B", "fix"],
    ["debug the crash", "B", "debug"],
    ["the login is broken", "B", "broken"],
    ["tests are failing since Monday", "B", "failing"],
    ["make the failing tests pass", "B", "failing"],
    ["there is an error on the page", "B", "error"],
    [CLEAR, "C", "refactor"],
    ["clean up src/utils", "C", "clean up"],
    ["reorganize the folders", "C", "reorganize"],
    ["migrate from jest to vitest", "C", "migrate"],
    // the leading verb decides
    ["add error handling to src/a.ts", "A", "add"],
    ["fix the new page", "B", "fix"],
    ["refactor the failing tests", "C", "refactor"],
    ["clean up src/x and fix the bug", "C", "clean up"],
    ["fix the bug, then refactor the parser and add tests", "B", "fix"],
    ["the login is broken, add a check", "B", "broken"],
    // what is not asked for does not count
    ["don't add anything, fix auth", "B", "fix"],
    ["```\nfix me\n```\nadd a page", "A", "add"],
  ])("%j is %s because of %j", (spec, workflow, word) => {
    expect(decideWorkflow(spec)).toMatchObject({ workflow, words: [word] });
  });

  test.each(["", "raise coverage of src/api", "テストを直す"])("%j is A, and no word decided", (spec) => {
    expect(decideWorkflow(spec)).toMatchObject({ workflow: "A", words: [] });
  });

  test("each has a gate of its own for the prompt", () => {
    expect(decideWorkflow("add x").gate).toMatch(/look for a library/);
    expect(decideWorkflow("fix x").gate).toMatch(/root cause.*before/);
    expect(decideWorkflow("refactor x").gate).toMatch(/Before you redesign.*delete/);
  });
});

describe("B4 reversibility", () => {
  test.each([
    "drop the users table",
    "add a column to the orders table",
    "rename the email column",
    "change the database schema",
    "write a database migration for invoicing",
    "migrate user data to the new cluster",
    "delete all inactive accounts",
    "remove user data older than 30 days",
    "truncate the logs table",
    "change the public API of the parser",
    "make a breaking change to the client",
    "deploy to staging",
    "fix auth and deploy",
    "publish to npm",
    "release v2.0",
    "fix auth. Done when it is deployed to production.",
    "force-push main",
    "git push --force to origin",
    "run rm -rf on the old folder",
    "add Stripe payments",
    "rotate the API keys",
    "move the credentials to the vault",
    "apply the fix on production",
  ])("%j is 1", (spec) => {
    const { reversibility, words } = decideReversibility(spec);
    expect(reversibility).toBe("1");
    expect(words.length).toBeGreaterThan(0);
    for (const word of words) expect(spec).toContain(word);
  });

  test.each([
    CLEAR,
    "refactor src/api/users.ts",
    "refactor all API routes to use validation middleware",
    "refactor src/payments/secrets.ts",
    "Fix /api/auth/token",
    "fix the flaky tests",
    "upgrade react to 19",
    "migrate from jest to vitest",
    "delete unused files",
    "remove the users page",
    "remove the data fetching layer",
    "remove test data",
    "update the zod schema",
    "fix the deploy script",
    "fix the config loader bug",
    "fix auth, do not deploy",
    "refactor the parser, keep the public API unchanged",
    "add a cache. No breaking changes.",
    "fix the crash that users see in production",
    "add docs and refactor the parser",
    "add a setting for dark mode",
    "```\nDROP TABLE users\n```\nfix this query",
    "テストを直す",
    "",
  ])("%j is 2B", (spec) => {
    expect(decideReversibility(spec).reversibility).toBe("2B");
  });

  test.each([
    ["fix typo in README", "typo"],
    ["rename foo to bar", "rename"],
    ["update comments in src/a.ts", "comments"],
    ["write docs", "docs"],
    ["change the eslint config", "change the eslint config"],
    ["set the timeout in config.json to 5s", "set the timeout in config"],
    ["update the release notes", "release notes"],
  ])("%j is 2A because of %j", (spec, word) => {
    const choice = decideReversibility(spec);
    expect(choice.reversibility).toBe("2A");
    expect(choice.words).toContain(word);
  });
});

describe("B21 a spec of one step needs no planning turn", () => {
  test.each([
    "fix the flaky tests",
    CLEAR,
    "raise coverage of src/api",
    "add login and logout buttons",
    "fix auth and make sure all tests pass, then open a PR",
    "fix auth. Do not touch src/db.ts, src/a.ts. Stop when npm test passes.",
    "The login page is slow. Fix it.",
    "Fix the leak in src/ws.ts. Heap must stay under 200MB.",
    "テストを直す",
    "",
  ])("%j", (spec) => {
    expect(needsPlan(spec)).toBe(false);
  });

  test.each([
    "fix the login and add a test",
    "add a page, then remove the old one",
    "1. add a page\n2. fix the menu",
    "- add a page\n- fix the menu",
    "refactor all API routes to use validation middleware",
    "migrate from jest to vitest",
    "update src/a.ts src/b.ts src/c.ts",
    "Behebe den Fehler. Schreibe einen Test.",
    `add ${"very long words ".repeat(20)}`,
  ])("but %j has more than one", (spec) => {
    expect(needsPlan(spec)).toBe(true);
  });
});

describe("B21 --steps file", () => {
  test.each<[string, string[]]>([
    ["- one\n- two\n", ["one", "two"]],
    ["* one\r\n* two", ["one", "two"]],
    ["1. one\n2) two\n10. ten", ["one", "two", "ten"]],
    ["one\n\n  two  \n", ["one", "two"]],
    ["# Plan\n\nWhat to do:\n\n- [ ] one\n- [x] done\n- [X] done too\n- [ ] two", ["one", "two"]],
    ["- one\n  goes on\n- two:\n  - a\n  - b\n    goes on\n", ["one goes on", "two: a; b goes on"]],
    ["- one\n\nprose between\n  not of it\n\n- two", ["one", "two"]],
    ["---\ntitle: x\n---\n<!-- - hidden -->\n- one <!-- why -->\n", ["one"]],
    ["- one\n```\n- code\n```\n- two", ["one", "two"]],
    ["# Only\n## headings", []],
    ["- [x] all\n- [x] done", []],
    ["\uFEFF- one", ["one"]],
    ["", []],
    ["- \n- one", ["one"]],
    ["<!-- - never closed", []],
  ])("%j", (text, steps) => {
    expect(parseStepsFile(text)).toEqual(steps);
  });
});

test("B3 B4 B21 any text has an answer, and what decided stands in it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (spec) => {
      for (const { words } of [decideWorkflow(spec), decideReversibility(spec)])
        for (const word of words) expect(spec).toContain(word);
      needsPlan(spec);
      for (const step of parseStepsFile(spec)) expect(step.trim()).not.toBe("");
    }),
  );
});
