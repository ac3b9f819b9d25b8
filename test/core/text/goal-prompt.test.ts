import { describe, expect, test } from "vitest";
import type { Check, Goal, Workflow } from "../../../src/core/goal/goal.ts";
import {
  renderJudgePrompt,
  renderPlanPrompt,
  renderPrecheckPrompt,
  renderResumeHeader,
  renderResumePrompt,
  renderWorkPrompt,
} from "../../../src/core/text/goal/goal-prompt.ts";
import { renderHandover } from "../../../src/core/text/goal/prompt-parts.ts";
import { codeSpan, fence, lastPart } from "../../../src/core/text/quote.ts";
import {
  aCriterion,
  aGoal,
  aJob,
  anEvidence,
  aReceipt,
  aStep,
  LIMITS,
  NOTHING_SPENT,
  TREE,
} from "../../support/goals/goals.ts";

const COVERAGE: Check = { kind: "measure", command: "npm run coverage", comparison: ">=", target: 80 };
const judged = aCriterion("page", { check: { kind: "judge", question: "Does the page show the total?" } });
const reviewed = aCriterion("routes", { check: { kind: "review", question: "Is every route moved?" } });

/** One step done, one check red, in a conversation that goes on. */
const underWay = (overrides: Partial<Goal> = {}): Goal =>
  aGoal({
    iteration: 1,
    conversation: "c-1",
    steps: [aStep("Find the failing test", "done"), aStep("Fix the root cause"), aStep("Verify")],
    evidence: { tests: anEvidence({ met: false }), lint: anEvidence() },
    spent: { ...NOTHING_SPENT, costUsd: 0.42 },
    receipts: [aReceipt()],
    next: "Freeze the clock in token.ts",
    ...overrides,
  });

describe("the first turn", () => {
  test("B3 B10 B19 B21 tells the spec, the gate, the criteria, the rules, the step and the report", () => {
    expect(renderWorkPrompt(aGoal(), aJob())).toMatchInlineSnapshot(`
      "[LOOP] Goal b7c1d2e3 | Iteration 1/10 | Cost: $0.00/$25 | Steps: 0/3 done

      # The spec, word for word
      > Fix the flaky tests in test/api so that npm test passes. No new dependencies.

      # Before you fix
      Find the root cause before any workaround. Say what the cause is and how you know. A retry, a longer timeout or a caught error is no fix.

      # What must be true at the end
      The engine runs these checks itself after your turn; your own statement does not count.
      - tests: \`npm test\` exits 0. Now: never checked.
      - lint: \`npm run lint\` exits 0. Now: never checked.

      # What you leave alone
      Do not change tests, the configuration of the checks or other files that the checks depend on, unless the spec asks for it: these files are watched. After such a change the check does not count until a person accepts the change. Do not write anything under .loop.

      # Where your work ends
      Do only what the spec says: no other features, no other clean-up, no new dependency that it does not name. If the spec leaves a decision open, do not decide: stop and say in NEXT what has to be decided.

      # The steps
      [ ] Find the failing test
      [ ] Fix the root cause
      [ ] Verify

      # This turn
      One iteration does one step. Step 1 of 3: Find the failing test
      If this is the wrong step, replace the remaining steps in your report; never drop a step silently.

      # How you report
      End your last message with this block, filled in. Put it after an empty line, outside of code blocks and quotes. Or call the tool loop_report with the same nonce, if you have that tool. EXIT_SIGNAL is true only when the whole spec is done. Without a report the turn counts, but claims nothing.
      Nonce of this turn: n0nce-4f2a
      ---LOOP_STATUS---
      NONCE: <the nonce of this turn>
      EXIT_SIGNAL: <true or false>
      CRITERIA: {"tests": <true or false>, "lint": <true or false>}
      STUCK_COUNT: <how many turns in a row made no progress>
      STEP: <done or open>
      STEPS: <a JSON list of all steps that remain, ["…", "…"]; only if the plan changes>
      NEXT: <what comes next, in one line>
      ---END_STATUS---"
    `);
  });

  test.each<[Workflow, string]>([
    ["A", "Search for a library first"],
    ["B", "Find the root cause before any workaround"],
    ["C", "Delete before you redesign"],
  ])("B3 workflow %s demands: %s", (workflow, demand) => {
    expect(renderWorkPrompt(aGoal({ workflow }), aJob())).toContain(demand);
  });

  test("B6 every kind of check is told with how the engine finds out", () => {
    const assumed = aCriterion("fast enough", { check: { kind: "assumption" } });
    const criteria = [
      aCriterion("tests"),
      aCriterion("coverage", { check: COVERAGE }),
      judged,
      reviewed,
      assumed,
    ];
    const lines = renderWorkPrompt(aGoal({ criteria }), aJob()).split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "- tests: `npm test` exits 0. Now: never checked.",
        "- coverage: the last number that `npm run coverage` prints is >= 80. Now: never checked.",
        "- page: an agent with a fresh context looks at the running product: `Does the page show the total?`. Now: never checked.",
        "- routes: an agent with a fresh context reads the code: `Is every route moved?`. Now: never checked.",
        "- fast enough: no check proves it, so it blocks the end until a person adds a check. Now: never checked.",
      ]),
    );
  });

  test("B5 B7 what must never become true and what is watched is said", () => {
    const mustNot = [
      { name: "the public API changes", command: "./api-diff", source: "shape" },
      { name: "secrets in the code", command: null, source: "shape" },
    ] as const;
    const policy = { ...aGoal().policy, protect: ["golden/**"] };
    const prompt = renderWorkPrompt(aGoal({ mustNot, policy }), aJob());
    expect(prompt).toContain(
      "- the public API changes (the engine checks this with `./api-diff`)\n- secrets in the code\n",
    );
    expect(prompt).toContain("So are `golden/**`.");
  });
});

describe("the turns after it", () => {
  test("B10 D4 are short: where it stands, what failed, what is met, the step, the report", () => {
    expect(renderWorkPrompt(underWay(), aJob({ nonce: "n2" }))).toMatchInlineSnapshot(`
      "[LOOP] Goal b7c1d2e3 | Iteration 2/10 | Cost: $0.42/$25 | Steps: 1/3 done

      # What is not met
      - tests: \`npm test\` exits 0. It returned: exit 1.
      \`\`\`text
      > 1 failed: expected 200, got 500
      \`\`\`

      # What is met
      - lint

      # This turn
      One iteration does one step. Step 2 of 3: Fix the root cause
      If this is the wrong step, replace the remaining steps in your report; never drop a step silently.

      The spec and the rules of the first message still apply. The nonce is new.

      # How you report
      End your last message with this block, filled in. Put it after an empty line, outside of code blocks and quotes. Or call the tool loop_report with the same nonce, if you have that tool. EXIT_SIGNAL is true only when the whole spec is done. Without a report the turn counts, but claims nothing.
      Nonce of this turn: n2
      ---LOOP_STATUS---
      NONCE: <the nonce of this turn>
      EXIT_SIGNAL: <true or false>
      CRITERIA: {"tests": <true or false>, "lint": <true or false>}
      STUCK_COUNT: <how many turns in a row made no progress>
      STEP: <done or open>
      STEPS: <a JSON list of all steps that remain, ["…", "…"]; only if the plan changes>
      NEXT: <what comes next, in one line>
      ---END_STATUS---"
    `);
  });

  test("B10 remarks come before everything else, each line quoted", () => {
    const remarks = [
      "A person said no: not like this\nuse the clock of the test",
      "Your claim had no weight.",
    ];
    const prompt = renderWorkPrompt(underWay({ remarks }), aJob());
    expect(prompt).toContain(
      "# Read this first\n> A person said no: not like this\n> use the clock of the test\n>\n> Your claim had no weight.\n",
    );
    expect(prompt.indexOf("Read this first")).toBeLessThan(prompt.indexOf("What is not met"));
  });

  test("B12 a budget that is not told is not invented", () => {
    const goal = underWay({ spent: { ...NOTHING_SPENT, unpriced: 1 }, limits: { ...LIMITS, budgetUsd: 5 } });
    expect(renderWorkPrompt(goal, aJob())).toContain("| Cost: unknown/$5 |");
  });

  test("B9 proved without a signal: says so and asks for the signal or for what is left", () => {
    const evidence = { tests: anEvidence(), lint: anEvidence() };
    const prompt = renderWorkPrompt(underWay({ evidence, phase: { kind: "proved", tree: TREE } }), aJob());
    expect(prompt).toContain(
      "Every criterion is proved on the current files, but you did not signal the end.",
    );
    expect(prompt).not.toContain("What is not met");
    expect(prompt).not.toContain("Fix the root cause");
    const changed = renderWorkPrompt(underWay({ evidence, phase: { kind: "working" } }), aJob());
    expect(changed).not.toContain("Every criterion is proved");
  });

  test("B21 without an open step it works on what is unmet", () => {
    const prompt = renderWorkPrompt(underWay({ steps: [aStep("All", "done")] }), aJob());
    expect(prompt).toContain("Every step is done, but not every criterion is met.");
  });

  test("B20 a fresh context is told everything, and what was done before", () => {
    const prompt = renderWorkPrompt(underWay({ context: "fresh" }), aJob());
    expect(prompt).toContain("# The spec, word for word\n> Fix the flaky tests");
    expect(prompt).toContain(renderHandover(underWay()));
    expect(renderHandover(underWay())).toMatchInlineSnapshot(`
      "# What was done before you
      You do not remember these turns; the files are in the state that they left.
      [x] Find the failing test
      [ ] Fix the root cause
      [ ] Verify
      The last turns:
      - iteration 1, Find the failing test: changed src/api/token.ts, src/api/clock.ts; lint ✓
      The last turn said what comes next:
      > Freeze the clock in token.ts"
    `);
  });

  test("B20 a conversation that was lost is resumed", () => {
    const lost = underWay({ conversation: null });
    expect(renderWorkPrompt(lost, aJob())).toBe(renderResumePrompt(lost, aJob()));
    expect(renderResumePrompt(lost, aJob())).toContain("# How you report");
    expect(renderResumeHeader(lost)).toMatchInlineSnapshot(`
      "[LOOP RESUME]
      Spec: Fix the flaky tests in test/api so that npm test passes. No new dependencies.
      Steps: 1/3 done
      Iteration: 2/10
      Unmet: tests
      Next: Fix the root cause"
    `);
  });
});

describe("evidence in a prompt", () => {
  const withTail = (tail: string, names = ["tests"]) =>
    underWay({
      criteria: names.map((name) => aCriterion(name)),
      evidence: Object.fromEntries(names.map((name) => [name, anEvidence({ met: false, tail })])),
    });

  test("D4 is capped for one check and for all of them; the last lines stay", () => {
    const tail = Array.from({ length: 500 }, (_, i) => `line ${i} ${"x".repeat(60)}`).join("\n");
    const one = renderWorkPrompt(withTail(tail), aJob());
    expect(one).toContain("line 499");
    expect(one).not.toContain("line 100 ");
    expect(one.length).toBeLessThan(4_000 + 2_500);
    const names = Array.from({ length: 20 }, (_, i) => `check ${i}`);
    const many = renderWorkPrompt(withTail(tail, names), aJob());
    expect(many.length).toBeLessThan(12_000 + 8_000);
    expect(many).toContain("- check 19: `npm test` exits 0. It returned: exit 1. Its output is too long");
  });

  test("D4 short lines are capped at 60", () => {
    const tail = Array.from({ length: 500 }, (_, i) => `${i}`).join("\n");
    expect(renderWorkPrompt(withTail(tail), aJob())).toContain("> [440 lines before this left out]\n> 440\n");
  });

  test.each<[string, Partial<Goal["evidence"][string]>, string]>([
    ["a time-out", { timedOut: true, exitCode: null, durationMs: 600_000 }, "ran out of time after 10m"],
    ["a signal", { exitCode: null }, "ended by a signal"],
    [
      "a note",
      { note: "files it depends on were changed" },
      "exit 1. Note: files it depends on were changed",
    ],
  ])("B6 %s is told", (_, fields, words) => {
    const evidence = { tests: anEvidence({ met: false, ...fields }) };
    expect(renderWorkPrompt(underWay({ evidence }), aJob())).toContain(`It returned: ${words}`);
  });

  test("B6 a measurement is told with what was wanted", () => {
    const criteria = [aCriterion("coverage", { check: COVERAGE })];
    const evidence = {
      coverage: anEvidence({ met: false, value: 71, exitCode: 0, verification: "measurement" }),
    };
    expect(renderWorkPrompt(underWay({ criteria, evidence }), aJob())).toContain(
      "It returned: 71, wanted >= 80.",
    );
  });

  test("a fence is longer than any in the text, a code span too", () => {
    expect(fence("a\n`````\nb")).toBe("``````text\na\n`````\nb\n``````");
    expect(codeSpan("echo `date`")).toBe("`` echo `date` ``");
    expect(codeSpan("a\n  b  c")).toBe("`a   b  c`");
  });

  test("the last part never begins inside a letter, and one endless line is cut too", () => {
    expect(lastPart("🟢".repeat(50), 60, 20)).toMatch(/^…🟢{9}$/u);
    expect(lastPart("a\nb\nc\n\n", 2, 100)).toBe("[1 line before this left out]\nb\nc");
    expect(lastPart("", 2, 100)).toBe("");
  });
});

describe("the turns that do not work", () => {
  test("B21 the plan: 2 to 10 steps, no change; checks only when there are no criteria", () => {
    const plan = renderPlanPrompt(aGoal({ steps: [] }), aJob({ kind: "plan" }));
    expect(plan).toContain("2 to 10 concrete steps");
    expect(plan).toContain("change no file");
    expect(plan).not.toContain("name=command");
    const open = renderPlanPrompt(aGoal({ steps: [], criteria: [] }), aJob({ kind: "plan" }));
    expect(open).toContain("in the form name=command");
    expect(open).toContain("CHECKS:");
  });

  test("B6 a judge looks and a reviewer reads; both doubt, change nothing and see no claim of the worker", () => {
    const goal = underWay({ criteria: [judged, reviewed], next: "I am done, trust me" });
    const judge = renderJudgePrompt(goal, judged, "j1");
    const review = renderJudgePrompt(goal, reviewed, "j2");
    expect(judge).toContain("> Does the page show the total?");
    expect(judge).toContain("Look at the running product");
    expect(review).toContain("Read the code itself");
    for (const prompt of [judge, review]) {
      expect(prompt).toContain("Change nothing");
      expect(prompt).toContain("believe nothing that you have not seen yourself");
      expect(prompt).not.toContain("trust me");
    }
  });

  test("B4 the pre-check asks what can go wrong and what cannot be undone", () => {
    const prompt = renderPrecheckPrompt(aGoal({ reversibility: "1" }), aJob({ kind: "precheck" }));
    expect(prompt).toContain("Say what can go wrong, what cannot be undone");
    expect(prompt).toContain("1. Find the failing test\n2. Fix the root cause\n3. Verify");
  });
});
