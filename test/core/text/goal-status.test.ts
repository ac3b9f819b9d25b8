import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_BREAKERS } from "../../../src/core/goal/breakers.ts";
import type { Goal } from "../../../src/core/goal/goal.ts";
import { renderGoalStatus } from "../../../src/core/text/goal/status.ts";
import { viewEnd, viewGoal } from "../../../src/core/views/goal-view.ts";
import { anyText } from "../../support/any-text.ts";
import {
  aCriterion,
  aDoneGoal,
  aGoal,
  aJob,
  anEvidence,
  aReceipt,
  aStep,
  NONCE,
  NOTHING_SPENT,
  START,
} from "../../support/goals/goals.ts";

const MINUTE = 60_000;
const NOW = START + 10 * MINUTE;

const underWay = (overrides: Partial<Goal> = {}): Goal =>
  aGoal({
    iteration: 1,
    job: aJob({ startedAt: NOW - 80_000 }),
    steps: [
      aStep("Find the failing test", "done"),
      aStep("Guess", "replaced"),
      aStep("Fix the root cause"),
      aStep("Verify"),
    ],
    evidence: { tests: anEvidence({ met: false }), lint: anEvidence() },
    spent: { costUsd: 0.42, tokens: 22_800, timeMs: 99_200, unpriced: 0 },
    receipts: [aReceipt()],
    ...overrides,
  });

const gate: Goal["gate"] = {
  kind: "G2",
  question: "Step 1 complete. Continue?",
  details: ["tests ✗"],
  askedAt: NOW - 5 * MINUTE,
  answerBy: null,
};
const pause: Goal["pause"] = {
  code: "breaker",
  reason: "the same criteria were unmet 5 times in a row",
  evidence: ["tests: exit 1: 1 failed"],
  goOn: "loop continue b7c1d2e3",
  at: NOW - 2 * MINUTE,
};

describe("loop status", () => {
  test("B16 a loop at work, on one screen", () => {
    expect(renderGoalStatus(underWay(), NOW)).toMatchInlineSnapshot(`
      "Goal b7c1d2e3 | iteration 2/10 under way, started 1m 20s ago

      Spec
        Fix the flaky tests in test/api so that npm test passes. No new dependencies.

      Criteria 1/2 met
        ✗ tests                     exit 1, execution output, 8m ago, 1 failed: expected 200, got 500
        ✓ lint                      exit 0, execution output, 8m ago

      Steps 1/3 done
        ✓ Find the failing test
        ~ Guess (replaced)
        → Fix the root cause
          Verify

      Cost: $0.42/$25 | Iterations: 1/10 | Tokens: 23k | Time: 1m 39s
      Last: 1 Find the failing test: 1m 35s + 4s, 23k tokens, $0.42, 2 files changed, lint ✓

      Files: .loop/state.json, .loop/runs/b7c1d2e3/"
    `);
  });

  test("B14 a gate is shown with since when it waits and how to answer", () => {
    const said = renderGoalStatus(underWay({ job: null, gate }), NOW);
    expect(said).toContain("Goal b7c1d2e3 | waits for a person (G2), asked 5m ago\n");
    expect(said).toContain(
      'G2: Step 1 complete. Continue?\n  tests ✗\nAnswer: loop approve b7c1d2e3 | loop reject b7c1d2e3 "why"',
    );
  });

  test("B11 a pause is shown with its evidence and the command that goes on", () => {
    const said = renderGoalStatus(underWay({ job: null, status: "paused", pause }), NOW);
    expect(said).toContain("| paused 2m ago (breaker)\n");
    expect(said).toContain(
      "⏸ the same criteria were unmet 5 times in a row\n  - tests: exit 1: 1 failed\nResume: loop continue b7c1d2e3",
    );
  });

  test("B13 a quota is shown with its countdown", () => {
    const said = renderGoalStatus(
      underWay({ job: null, waitUntil: NOW + 90 * MINUTE, waitReason: "quota" }),
      NOW,
    );
    expect(said).toContain("⏳ Waiting: quota | Goes on: in 1h 30m (2026-01-05 11:40 UTC)");
  });

  test("B15 a loop that ended shows its verdict", () => {
    const said = renderGoalStatus(aDoneGoal(), NOW);
    expect(said).toContain("| done 0s ago: every criterion is proved and the agent signalled the end");
    expect(said).toContain("🟢 SHIP");
  });

  test.each<[string, Partial<Goal>, string]>([
    [
      "was green before",
      { baseline: { tree: "t", protectedDigest: "d", protectedCount: 1, green: ["lint"], isGit: true } },
      "✓ lint                      exit 0, execution output, 8m ago, green before any work",
    ],
    [
      "is from before the last change",
      { tree: "newer" },
      "✗ lint                      exit 0, execution output, 8m ago, from before the last change",
    ],
    ["never ran", { evidence: {} }, "✗ lint                      never checked, execution output"],
    [
      "is called constructor",
      { criteria: [aCriterion("constructor")] },
      "✗ constructor               never checked",
    ],
    [
      "does not count",
      {
        evidence: { lint: anEvidence({ met: false, exitCode: 0, note: "files it depends on were changed" }) },
      },
      "✗ lint                      exit 0, execution output, 8m ago, files it depends on were changed",
    ],
  ])("B6 B7 a check that %s says so", (_, overrides, line) => {
    expect(renderGoalStatus(underWay(overrides), NOW)).toContain(line);
  });

  test.each<[Partial<Goal["breakers"]>, string | null]>([
    [{ stuckCount: 2 }, null],
    [{ stuckCount: 3 }, "same criteria unmet 3/5"],
    [{ errorCount: 2 }, "same error 2/3"],
    [{ errorCount: 1 }, null],
    [{ noopCount: 2, stuckCount: 4 }, "same criteria unmet 4/5; done claimed without any change 2/3"],
  ])("B11 breakers near their limit: %j", (breakers, words) => {
    const said = renderGoalStatus(underWay({ breakers: { ...NO_BREAKERS, ...breakers } }), NOW);
    expect(/Near a breaker: (.*)/.exec(said)?.[1] ?? null).toBe(words);
  });

  test("B16 stays on a screen with many criteria, many steps and a long spec", () => {
    const many = Array.from({ length: 80 }, (_, i) => `thing ${i}`);
    const goal = underWay({
      spec: many.join("\n"),
      criteria: many.map((name) => aCriterion(name)),
      steps: many.map((name) => aStep(name)),
    });
    const lines = renderGoalStatus(goal, NOW).split("\n");
    expect(lines.length).toBeLessThan(50);
    expect(lines.filter((line) => line === "  … 68 more")).toHaveLength(2);
  });

  test("B7 changes of protected files are shown until somebody accepted them", () => {
    const change = { path: "test/a.test.ts", change: "changed", hash: "1", criteria: ["tests"] } as const;
    const pending = underWay({ protectedChanges: [change] });
    expect(renderGoalStatus(pending, NOW)).toContain(
      "Protected file changed: test/a.test.ts | See it: loop accept b7c1d2e3",
    );
    const accepted = underWay({ protectedChanges: [change], accepted: [{ path: change.path, hash: "1" }] });
    expect(renderGoalStatus(accepted, NOW)).not.toContain("Protected file");
  });

  test("H5 nothing raw from a spec, a name, a tail or a reason reaches the terminal", () => {
    const text = anyText();
    fc.assert(
      fc.property(text, text, text, (spec, name, tail) => {
        const goal = underWay({
          spec,
          criteria: [aCriterion(name)],
          evidence: { [name]: anEvidence({ met: false, tail }) },
          steps: [aStep(name)],
          gate: { kind: "G1", question: spec, details: [tail], askedAt: START, answerBy: null },
          waitUntil: START,
          waitReason: tail,
          receipts: [aReceipt({ step: name, moved: [tail] })],
        });
        expect(renderGoalStatus(goal, NOW)).not.toMatch(
          /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u,
        );
      }),
    );
  });
});

describe("state.json", () => {
  test("B8 has the published names and shape, and more", () => {
    const view = viewGoal(
      underWay({ exitSignal: true, breakers: { ...NO_BREAKERS, stuckCount: 2, lastUnmet: ["tests"] } }),
    );
    expect(view).toMatchObject({
      spec: aGoal().spec,
      criteria: ["tests", "lint"],
      criteriaStatus: {
        tests: {
          met: false,
          verification: "execution output",
          evidence: { exitCode: 1, at: "2026-01-05T10:02:00.000Z" },
        },
        lint: { met: true, verification: "execution output" },
      },
      exit_signal: true,
      steps: ["Find the failing test", "Fix the root cause", "Verify"],
      completedSteps: ["Find the failing test"],
      remainingSteps: ["Fix the root cause", "Verify"],
      replacedSteps: ["Guess"],
      iteration: 1,
      status: "in_progress",
      circuitBreaker: { stuckCount: 2, lastUnmet: "tests", unmet: ["tests"] },
      id: "b7c1d2e3",
      step: "Fix the root cause",
      running: { kind: "work", startedAt: "2026-01-05T10:08:40.000Z" },
    });
  });

  test.each<[Partial<Goal>, string]>([
    [{}, "in_progress"],
    [{ status: "paused", pause }, "paused"],
    [
      { status: "ended", end: { status: "done", reason: "", at: 1, verdict: "SHIP", notes: [] } },
      "completed",
    ],
    [
      { status: "ended", end: { status: "cancelled", reason: "", at: 1, verdict: null, notes: [] } },
      "cancelled",
    ],
    [{ status: "ended", end: { status: "failed", reason: "", at: 1, verdict: null, notes: [] } }, "failed"],
  ])("B8 the status of %j is %s", (overrides, status) => {
    expect(viewGoal(aGoal(overrides)).status).toBe(status);
  });

  test("B10 the nonce of the turn is not in it", () => {
    expect(JSON.stringify(viewGoal(underWay()))).not.toContain(NONCE);
  });

  test("B8 evidence of other files does not count, and names of any kind are kept", () => {
    expect(viewGoal(underWay({ tree: "newer" })).criteriaStatus.lint?.met).toBe(false);
    const names = ["__proto__", "constructor", 'a "quoted" name'];
    const view = viewGoal(aGoal({ criteria: names.map((name) => aCriterion(name)) }));
    expect(Object.keys(JSON.parse(JSON.stringify(view)).criteriaStatus)).toEqual(names);
    expect(Object.values(view.criteriaStatus).every(({ evidence }) => evidence === null)).toBe(true);
  });

  test("B13 a time that no calendar has is no crash", () => {
    expect(viewGoal(aGoal({ waitUntil: 1e300, waitReason: "quota" })).waiting).toEqual({
      until: null,
      reason: "quota",
    });
  });
});

describe("the last line of a headless run", () => {
  test("B17 tells how it ended, what it cost and each criterion with its evidence", () => {
    const goal = aDoneGoal({
      evidence: { tests: anEvidence() },
      spent: { ...NOTHING_SPENT, costUsd: 1.5, unpriced: 1 },
    });
    expect(viewEnd(goal)).toEqual({
      type: "loop.end",
      loop: "b7c1d2e3",
      status: "done",
      reason: "every criterion is proved and the agent signalled the end",
      verdict: null,
      iterations: 3,
      costUsd: 1.5,
      unpriced: 1,
      criteria: [
        {
          name: "tests",
          met: true,
          verification: "execution output",
          evidence: {
            exitCode: 0,
            at: "2026-01-05T10:02:00.000Z",
            tree: "3f9a2b7c41d85e60",
            tail: "12 passed",
          },
        },
        { name: "lint", met: false, verification: "execution output", evidence: null },
      ],
    });
  });

  test.each<[string, Partial<Goal>, string, string]>([
    ["is paused", { status: "paused", pause }, "paused", "the same criteria were unmet 5 times in a row"],
    ["asks", { gate }, "paused", "waits for a person (G2): Step 1 complete. Continue?"],
    ["waits", { waitUntil: START, waitReason: "quota" }, "paused", "quota"],
    ["was left", {}, "paused", "the run stopped before the loop ended"],
    [
      "was cancelled",
      { end: { status: "cancelled", reason: "by a person", at: 1, verdict: null, notes: [] } },
      "cancelled",
      "by a person",
    ],
  ])("B17 a loop that %s", (_, overrides, status, reason) => {
    expect(viewEnd(aGoal(overrides))).toMatchObject({ status, reason });
  });

  test("B12 a cost that was never told is null, not nothing", () => {
    expect(viewEnd(aGoal({ spent: { ...NOTHING_SPENT, unpriced: 2 } })).costUsd).toBeNull();
    expect(viewEnd(aGoal()).costUsd).toBe(0);
  });
});
