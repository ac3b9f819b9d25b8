/** How a test command ended, on outputs that the runners printed. */
import { readdirSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TestRun } from "../../../src/core/backprop/test-run.ts";
import { callsForBackprop, recogniseTestRun } from "../../../src/core/backprop/test-run.ts";
import { anyText } from "../../support/any-text.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { runs } from "../../support/runs.ts";
import { FOLDER, fixture, RECORDED } from "./recorded.ts";

const facts = (run: TestRun | null) =>
  run === null ? null : [run.outcome, [run.passed, run.failed], run.failures.map(({ name }) => name)];

describe("D10 the outcome of a test command", () => {
  test.each(RECORDED)("%s", (name, command, exitCode, outcome, counts, names) => {
    const run = recogniseTestRun({ command, exitCode, output: fixture(name) });
    expect(facts(run)).toEqual([outcome, counts, names]);
    expect(name).toContain(`${run?.runner}-`);
  });

  test.each(RECORDED)(
    "%s is told by its summary when a pipe hides the exit code",
    (name, _, __, ...expected) => {
      const output = fixture(name);
      for (const command of ["npm test 2>&1 | tail -200", "npm test || true", "pnpm -r test; echo"]) {
        const run = recogniseTestRun({ command, exitCode: 0, output });
        expect(facts(run)).toEqual(expected);
        expect(name).toContain(`${run?.runner}-`);
        expect(recogniseTestRun({ command, exitCode: null, output })).toEqual(run);
      }
    },
  );

  test.each(RECORDED)("%s reads the same with other line ends", (name, command, exitCode, ...expected) => {
    const output = fixture(name).replaceAll("\n", "\r\n");
    expect(facts(recogniseTestRun({ command, exitCode, output }))).toEqual(expected);
  });

  test.each(RECORDED)("%s, shown by a command that runs no runner, is no run", (name) => {
    const output = fixture(name);
    for (const command of ["cat report.txt", "grep -n . log", "git log -p", "echo hi", "npm run logs"]) {
      expect(recogniseTestRun({ command, exitCode: 1, output })).toBeNull();
    }
  });

  test("every file among the fixtures is in a table", () => {
    const named = [...RECORDED.map(([name]) => name), ...NEVER_RAN.map(([name]) => name), "npm-bare-failed"];
    expect(new Set(readdirSync(FOLDER).map((file) => file.replace(/\.txt$/, "")))).toEqual(new Set(named));
  });
});

const NEVER_RAN: readonly (readonly [string, string])[] = [
  ["npm-missing-script", "npm run test:unit"],
  ["npm-no-test", "npm test"],
  ["npm-none-specified", "npm test"],
  ["node-missing", "node --test nothing.mjs"],
];

const NOT_STARTED: readonly (readonly [string, number, string])[] = [
  ["pnpm test", 1, ' ERR_PNPM_NO_SCRIPT  Missing script: "test"'],
  ["yarn test", 1, 'error Command "test" not found.'],
  ["yarn test", 1, 'Usage Error: Couldn\'t find a script named "test".'],
  ["bun run test", 1, 'error: Script not found "test"'],
  ["make test", 2, "make: *** No rule to make target 'test'.  Stop."],
  ["pytest", 127, "bash: pytest: command not found"],
  ["npm test", 127, "> vitest run\n\nsh: 1: vitest: not found"],
  ["python -m pytest", 1, "/usr/bin/python3: No module named pytest"],
  ["npx vitest run --nope", 1, "CACError: Unknown option `--nope`"],
  ["npm test", 130, "^C"],
  ["npm test", 143, "Terminated"],
];

describe("D10 a run that never was", () => {
  test.each(NEVER_RAN)("%s says nothing of the code", (name, command) => {
    expect(recogniseTestRun({ command, exitCode: 1, output: fixture(name) })).toBeNull();
  });

  test.each(NOT_STARTED)("%s, exit %i: %s", (command, exitCode, output) => {
    expect(recogniseTestRun({ command, exitCode, output })).toBeNull();
  });
});

describe("D10 without a summary the exit code decides, where it is the runner's own", () => {
  const outcomeOf = (command: string, exitCode: number | null, output: string) =>
    recogniseTestRun({ command, exitCode, output })?.outcome ?? null;

  test.each<readonly [string, number | null, string, TestRun["outcome"] | null]>([
    ["npm test", 1, "3 things are wrong: expected 1", "failed"],
    ["npm test", 0, "all is well", "passed"],
    ["npm test", null, "all is well", null],
    ["npm test | tail", 0, "3 things are wrong: expected 1", null],
    ["npm test || true", 0, "3 things are wrong", null],
    ["npm test || exit 1", 1, "3 things are wrong", "failed"],
    ["npm run build && npm test", 2, "src/a.ts(1,1): error TS2304: Cannot find name 'x'.", null],
    ["npm test", 2, "src/a.ts(1,1): error TS2304: Cannot find name 'x'.", "broken"],
    ["npm run ci", 1, "something else failed", null],
    ["npx vitest run --silent > log.txt", 1, "", "failed"],
    ["npx jest", 1, "SyntaxError: Unexpected token '('", "broken"],
    ["timeout 60 npx vitest run", 124, "RUN  v3.2.7", "failed"],
    ["npm test", 1, "測試失敗:預期為 1", "failed"],
  ])("%s, exit %s, %s", (command, exitCode, output, outcome) => {
    expect(outcomeOf(command, exitCode, output)).toBe(outcome);
  });

  test("the failure is what the output says of it", () => {
    const run = recogniseTestRun({ command: "npm test", exitCode: 1, output: fixture("npm-bare-failed") });
    expect(run).toMatchObject({ runner: "npm", outcome: "failed" });
    expect(run?.failures).toHaveLength(1);
    const hung = recogniseTestRun({ command: "timeout 9 npm test", exitCode: 124, output: "" });
    expect(hung?.failures).toEqual([{ name: "npm", message: "timed out" }]);
  });
});

describe("D10 summary and exit code together", () => {
  test("another command of the line may have failed: the tests passed", () => {
    const output = `${fixture("vitest-passed")}\n3 lint errors\n`;
    for (const command of ["npx vitest run && npm run lint", "npm test"]) {
      expect(recogniseTestRun({ command, exitCode: 1, output })).toMatchObject({ outcome: "passed" });
    }
  });

  test("a runner that exits with 1 after all tests passed has failed", () => {
    const output = `${fixture("jest-passed")}Jest: "global" coverage threshold for lines (80%) not met: 70%\n`;
    const run = recogniseTestRun({ command: "npx jest --coverage", exitCode: 1, output });
    expect(run).toMatchObject({ outcome: "failed", failed: 0, passed: 1 });
    expect(run?.failures[0]?.message).toContain("coverage threshold");
  });

  test("a run that somebody ended after its summary is as the summary says", () => {
    const run = recogniseTestRun({ command: "npx jest", exitCode: 130, output: fixture("jest-passed") });
    expect(run).toMatchObject({ outcome: "passed" });
  });

  test("a summary alone is a failure with the line that tells it", () => {
    const output = " Test Files  1 failed (1)\n      Tests  3 failed | 1 passed (4)\n";
    const run = recogniseTestRun({ command: "npx vitest run | tail -2", exitCode: 0, output });
    expect(run).toMatchObject({ outcome: "failed", failed: 3, passed: 1 });
    expect(run?.failures).toEqual([{ name: "vitest", message: "Tests 3 failed | 1 passed (4)" }]);
  });

  test("errors outside of tests fail a run of vitest", () => {
    const output =
      "⎯⎯⎯ Unhandled Errors ⎯⎯⎯\n\nError: boom\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)\n     Errors  1 error\n";
    expect(recogniseTestRun({ command: "npm test | cat", exitCode: 0, output })).toEqual({
      runner: "vitest",
      outcome: "failed",
      passed: 1,
      failed: 0,
      failures: [{ name: "Unhandled Errors", message: "Error: boom" }],
    });
  });

  test("tests of a runner print summaries of others: its own exit code 0 is believed", () => {
    const output = `${fixture("jest-failed")}`;
    expect(recogniseTestRun({ command: "npx jest", exitCode: 0, output })).toEqual({
      runner: "jest",
      outcome: "passed",
      failures: [],
    });
  });

  test("of several runners in a line the one that failed is told", () => {
    const output = `${fixture("vitest-passed")}${fixture("cargo-failed")}`;
    const run = recogniseTestRun({ command: "npx vitest run; cargo test | tail", exitCode: 0, output });
    expect(run).toMatchObject({ runner: "cargo", outcome: "failed", failed: 2 });
  });

  test("packages of a workspace are added up, with the name of each in front", () => {
    const line = (name: string, text: string) => `packages/${name} test: ${text}\n`;
    const output = [
      "packages/a test$ vitest run\n",
      line("a", " FAIL  src/a.test.ts > adds up"),
      line("a", "AssertionError: expected 1 to be 2"),
      line("a", "      Tests  1 failed | 2 passed (3)"),
      line("b", "      Tests  4 passed (4)"),
    ].join("");
    expect(recogniseTestRun({ command: "pnpm -r test | tail -50", exitCode: 0, output })).toEqual({
      runner: "vitest",
      outcome: "failed",
      passed: 6,
      failed: 1,
      failures: [{ name: "src/a.test.ts > adds up", message: "AssertionError: expected 1 to be 2" }],
    });
  });

  test("the last lines are enough", () => {
    for (const [name, , , outcome, [, failed]] of RECORDED.filter(([, , , end]) => end === "failed")) {
      const all = fixture(name).trimEnd().split("\n");
      const output = all.slice(Math.floor(all.length / 3)).join("\n");
      const run = recogniseTestRun({ command: "npm test | tail", exitCode: 0, output });
      expect([name, run?.outcome], name).toEqual([name, outcome]);
      expect(run?.failures.length).toBeGreaterThan(0);
      // Go and mocha do not end with their figures.
      if (!/^(?:go|mocha)-/.test(name)) expect(run?.failed).toBe(failed);
    }
  });

  test("what calls for the directive is a failure, or code that could not be run", () => {
    const run = (name: string, command: string) =>
      recogniseTestRun({ command, exitCode: 1, output: fixture(name) });
    expect(callsForBackprop(run("vitest-failed", "npx vitest run"))).toBe(true);
    expect(callsForBackprop(run("vitest-broken", "npx vitest run"))).toBe(true);
    expect(callsForBackprop(run("vitest-none", "npx vitest run x"))).toBe(false);
    expect(callsForBackprop(run("npm-missing-script", "npm run test:unit"))).toBe(false);
    expect(callsForBackprop(recogniseTestRun({ command: "npm test", exitCode: 0, output: "" }))).toBe(false);
  });
});

describe("D10 any output", () => {
  test("failures are few, short, and of one line each", () => {
    const block = (i: number) =>
      ` FAIL  src/${i}.test.ts > ${"x".repeat(900)}\nError: \u001b[31m${"y".repeat(900)}\n\n`;
    const blocks = Array.from({ length: 100 }, (_, i) => block(i)).join("");
    const run = recogniseTestRun({
      command: "npx vitest run",
      exitCode: 1,
      output: `${blocks}      Tests  100 failed (100)\n`,
    });
    expect(run?.failed).toBe(100);
    expect(run?.failures).toHaveLength(20);
    for (const { name, message } of run?.failures ?? []) {
      expect(name.length).toBeLessThanOrEqual(200);
      expect(message.length).toBeLessThanOrEqual(300);
      expect(message).toMatch(/^Error: y/);
    }
  });

  test("a huge output takes no long time, and its beginning and end are read", () => {
    const flood = (line: string) => line.repeat(Math.ceil(3_000_000 / line.length));
    const LINES = [
      "x",
      " FAIL  a\n",
      "FAIL: a (b)\n",
      "  1) a\n",
      "3 failing\n",
      "--- FAIL: TestA/b (0.00s)\n",
      "FAIL\ta [build failed]\n",
      "# a\n",
      "1 passed, ",
      "____ a ____\nE   b\n",
      "not ok 1 - a\n",
      "  ● a\n",
      "\u001b[31m",
      "\r",
      "ENOENT ",
      "Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n",
      "error: could not compile `a`\n",
      "An error occurred while loading ./a\n",
      " ".repeat(5_000),
    ];
    for (const line of LINES) {
      const output = `${flood(line)}\n      Tests  1 failed | 2 passed (3)\n`;
      const spent = cpuMs(() => {
        const run = recogniseTestRun({ command: "npm test | cat", exitCode: 0, output });
        expect(run?.outcome).toMatch(/failed|broken/);
      });
      expect(spent, JSON.stringify(line.slice(0, 40))).toBeLessThan(1_500);
    }
  });

  test("a long command takes no long time", () => {
    for (const part of ["$(", "`", "'", '"', "(", "a && ", "<<E\n", "npx ", "bash -c 'bash -c ", "env -x "]) {
      const command = part.repeat(100_000);
      const spent = cpuMs(() => void recogniseTestRun({ command, exitCode: 1, output: "" }));
      expect(spent, part).toBeLessThan(1_000);
    }
  });

  test("nothing is thrown, and what is found is within its limits", () => {
    const runner = fc.constantFrom(
      "npm test",
      "npx vitest run",
      "pytest",
      "go test ./...",
      "cargo test",
      "mvn test",
    );
    const piece = fc.oneof(
      anyText(20),
      fc.constantFrom(
        "\n",
        " FAIL  ",
        "FAILED ",
        "Tests:  1 failed, 1 total",
        "--- FAIL: A (0s)",
        "E   ",
        "___ a ___",
      ),
      fc.constantFrom(...RECORDED.map(([name]) => fixture(name).slice(-600))),
    );
    fc.assert(
      fc.property(
        runner,
        anyText(20),
        fc.constantFrom(0, 1, 2, null),
        fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
        (command, more, exitCode, output) => {
          const run = recogniseTestRun({ command: `${command} ${more}`, exitCode, output });
          if (run === null) return;
          expect(run.failures.length).toBeLessThanOrEqual(20);
          expect(run.outcome === "passed" && run.failures.length > 0).toBe(false);
          for (const { name, message } of run.failures) {
            expect(name).not.toBe("");
            expect(`${name}${message}`).not.toMatch(/\p{Cc}/u);
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
