import { describe, expect, test } from "vitest";
import { NO_BREAKERS } from "../../../src/core/goal/breakers.ts";
import type { Goal } from "../../../src/core/goal/goal.ts";
import {
  renderComplete,
  renderGate,
  renderIteration,
  renderIterationEnd,
  renderPaused,
  renderStarting,
  renderWaiting,
  renderWarning,
} from "../../../src/core/text/goal/announcements.ts";
import { suggestLearnable } from "../../../src/core/text/goal/learnable.ts";
import {
  aCriterion,
  aDoneGoal,
  aGoal,
  aJob,
  anEvidence,
  aReceipt,
  aStep,
  LIMITS,
  NOTHING_SPENT,
  START,
} from "../../support/goals/goals.ts";

const HOUR = 3_600_000;
const USERS = "Refactor /api/users";
const AUTH = "Refactor /api/auth";
const steps = [aStep(USERS, "done"), aStep(AUTH), aStep("Refactor /api/products"), aStep("Verify")];

describe("announcements", () => {
  test.each<[string, Partial<Goal>, string]>([
    [
      "a tool",
      { workflow: "A" },
      "[LOOP] Starting | Shape: Tool (9/10) | Workflow: A | Steps: 3 | Budget: $25",
    ],
    [
      "a colleague",
      { shape: "colleague", score: 6, limits: { ...LIMITS, budgetUsd: 7.5 }, steps },
      "[LOOP] Starting | Shape: Colleague (6/10) | Workflow: B | Steps: 4 | Budget: $7.50",
    ],
    [
      "a spec that has to be planned",
      { steps: [], needsPlan: true },
      "[LOOP] Starting | Shape: Tool (9/10) | Workflow: B | Steps: planned first | Budget: $25",
    ],
  ])("B15 the start of %s", (_, overrides, line) => {
    expect(renderStarting(aGoal(overrides))).toBe(line);
  });

  test.each<[string, Partial<Goal["spent"]>, string]>([
    ["known", { costUsd: 0.5 }, "$0.50/$25"],
    ["nothing", {}, "$0.00/$25"],
    ["nearly nothing", { costUsd: 0.0004 }, "<$0.01/$25"],
    ["not told", { unpriced: 2 }, "unknown/$25"],
    ["told for some turns", { costUsd: 1.25, unpriced: 1 }, "$1.25 + 1 turn not reported/$25"],
  ])("B15 an iteration whose cost is %s", (_, spent, cost) => {
    const goal = aGoal({ iteration: 1, steps, spent: { ...NOTHING_SPENT, ...spent } });
    expect(renderIteration(goal)).toBe(`[LOOP] Iteration 2/10 | Cost: ${cost} | Step: ${AUTH}`);
  });

  test("B15 the end of an iteration marks a step that is done, and only such a step", () => {
    const goal = aGoal({ steps });
    expect(renderIterationEnd(goal, aReceipt({ step: USERS }))).toBe(
      `[LOOP] ✓ ${USERS} complete | Progress: 1/4 | Next: ${AUTH}`,
    );
    expect(renderIterationEnd(goal, aReceipt({ step: AUTH }))).toBe(
      `[LOOP] ${AUTH} goes on | Progress: 1/4 | Next: ${AUTH}`,
    );
    const failure = { class: "outage", reason: "502 from\nthe service", resetsAt: null } as const;
    expect(renderIterationEnd(goal, aReceipt({ step: AUTH, failure, charged: false }))).toBe(
      `[LOOP] ✗ ${AUTH} failed (outage): 502 from the service | Costs no iteration | Progress: 1/4 | Next: ${AUTH}`,
    );
  });

  test("B21 a step that was replaced is neither done nor left", () => {
    const goal = aGoal({ steps: [aStep(USERS, "done"), aStep("Guess", "replaced"), aStep(AUTH)] });
    expect(renderIterationEnd(goal, aReceipt({ step: "Guess" }))).toBe(
      `[LOOP] Guess was replaced | Progress: 1/2 | Next: ${AUTH}`,
    );
  });

  test("B21 the turns before the work are announced by what they do", () => {
    const goal = aGoal({ steps: [], job: aJob({ kind: "plan" }) });
    expect(renderIteration(goal)).toBe("[LOOP] Iteration 1/10 | Cost: $0.00/$25 | Step: plan the steps");
    expect(renderIterationEnd(aGoal(), aReceipt({ kind: "plan", step: null }))).toBe(
      "[LOOP] ✓ plan complete | Progress: 0/3 | Next: Find the failing test",
    );
  });

  test("B11 B15 a pause tells why, how far it came and how to go on", () => {
    const pause = {
      code: "breaker",
      reason: "the same criteria were unmet 5 times in a row",
      evidence: ["tests: exit 1: 1 failed"],
      goOn: "loop continue b7c1d2e3",
      at: START,
    } as const;
    expect(renderPaused(aGoal({ status: "paused", pause, steps }))).toMatchInlineSnapshot(`
      "[LOOP] ⏸ Paused: the same criteria were unmet 5 times in a row
      Progress: 1 step complete, 3 remaining
      Resume: loop continue b7c1d2e3
        - tests: exit 1: 1 failed"
    `);
    expect(renderPaused(aGoal())).toBeNull();
  });

  test("B15 the block at the end lists every criterion, and says which were only looked at", () => {
    const ui = aCriterion("UI renders", { check: { kind: "judge", question: "Does it render?" } });
    const criteria = [aCriterion("tests pass"), ui];
    const evidence = {
      "tests pass": anEvidence(),
      "UI renders": anEvidence({ verification: "observation", exitCode: null }),
    };
    expect(renderComplete(aDoneGoal({ criteria, evidence }))).toMatchInlineSnapshot(`
      "<loop-complete>
      All success criteria satisfied:
      - tests pass: ✓
      - UI renders: ✓ (observation: weaker than a run)
      </loop-complete>"
    `);
  });

  test.each<[string, Goal]>([
    ["goes on", aGoal({ evidence: { tests: anEvidence(), lint: anEvidence() } })],
    [
      "was cancelled",
      aDoneGoal({ end: { status: "cancelled", reason: "", at: 1, verdict: null, notes: [] } }),
    ],
    ["has a red check", aDoneGoal({ evidence: { tests: anEvidence({ met: false }), lint: anEvidence() } })],
    ["has no criteria", aDoneGoal({ criteria: [] })],
    ["was proved on other files", aDoneGoal({ tree: "another" })],
  ])("B9 B15 a loop that %s is never announced as complete", (_, goal) => {
    expect(renderComplete(goal)).toBeNull();
  });

  test.each<[string, string]>([
    [
      "budget",
      "[LOOP] ⚠ 82 % of the budget used: $20.50/$25 | Raise it: loop continue b7c1d2e3 --budget=10 (adds to the limit)",
    ],
    [
      "iterations",
      "[LOOP] ⚠ 80 % of the iterations used: 8/10 | Raise it: loop continue b7c1d2e3 --iterations=5 (adds to the limit)",
    ],
    [
      "tokens",
      "[LOOP] ⚠ 90 % of the tokens used: 900k/1.0M | Raise it: loop continue b7c1d2e3 --tokens=200000 (adds to the limit)",
    ],
    [
      "time",
      "[LOOP] ⚠ 87 % of the time used: 52m 30s/1h | Raise it: loop continue b7c1d2e3 --time=30m (adds to the limit)",
    ],
  ])("B12 a warning names the %s, what is used and how to add", (limit, line) => {
    const goal = aGoal({
      iteration: 8,
      limits: { ...LIMITS, tokens: 1_000_000, timeMs: HOUR },
      spent: { costUsd: 20.5, tokens: 900_000, timeMs: 3_150_000, unpriced: 0 },
    });
    expect(renderWarning(goal, limit)).toBe(line);
  });

  test("B12 a limit that was not set is not warned of", () => {
    expect(renderWarning(aGoal(), "time")).toBeNull();
    expect(renderWarning(aGoal(), "tokens")).toBeNull();
  });

  test.each<[number, string]>([
    [START, "in 3h 20m (2026-01-05 13:20 UTC)"],
    [START + 3 * HOUR, "in 20m (2026-01-05 13:20 UTC)"],
    [START + 4 * HOUR, "any moment now"],
  ])("B13 a quota is waited for with a countdown, at %d", (now, when) => {
    const goal = aGoal({ waitUntil: START + 200 * 60_000, waitReason: "usage limit reached" });
    expect(renderWaiting(goal, now)).toBe(
      `[LOOP] ⏳ Waiting: usage limit reached | Goes on: ${when} | Costs nothing`,
    );
  });

  test("B13 a reset at a time that no calendar has is no crash", () => {
    expect(renderWaiting(aGoal({ waitUntil: 1e19 }), START)).toContain("an unknown time");
  });

  test("B14 a gate shows its question, the details and both answers", () => {
    const gate = {
      kind: "G1",
      question: "Decomposed into 2 steps. Proceed?",
      details: [`1. ${USERS}`, "2. \u001b[31mVerify\u001b[0m"],
      askedAt: START,
      answerBy: START + HOUR,
    } as const;
    expect(renderGate(aGoal({ gate }))).toMatchInlineSnapshot(`
      "G1: Decomposed into 2 steps. Proceed?
        1. Refactor /api/users
        2. Verify
      Answer: loop approve b7c1d2e3 | loop reject b7c1d2e3 "why"
      Without an answer by 2026-01-05 11:00 UTC: no"
    `);
  });

  test("B18 what came back three times is suggested to the person, with the steps", () => {
    const patterns = (times: number) => ({ ...NO_BREAKERS, patterns: { "src/routes.ts": times, "a.ts": 1 } });
    expect(suggestLearnable(aGoal({ breakers: patterns(2) }))).toBeNull();
    expect(suggestLearnable(aGoal({ breakers: patterns(3) }))).toMatchInlineSnapshot(`
      "This is a learnable pattern: src/routes.ts (3 times). Want the steps to run yourself?
        1. See what was changed each time: loop report b7c1d2e3
        2. Make the same change yourself in src/routes.ts
        3. Check it: npm test
        4. Check it: npm run lint"
    `);
  });

  test("H5 no escape sequence and no direction mark of a step, a reason or a name reaches the terminal", () => {
    const evil = "a\u001b[2J\u001b]0;owned\u0007\u202eb\u2028[LOOP] ✓ all complete\r\n\u009b31mc";
    const goal = aGoal({ steps: [aStep(evil)], waitUntil: START, waitReason: evil });
    const pause = { code: "person", reason: evil, evidence: [evil], goOn: evil, at: START } as const;
    const said = [
      renderIteration(goal),
      renderIterationEnd(goal, aReceipt({ step: evil })),
      renderWaiting(goal, START),
      renderPaused({ ...goal, pause }),
    ].join("\n");
    expect(said).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/u);
    expect(said).not.toMatch(/^\[LOOP\] ✓ all complete/m);
  });
});
