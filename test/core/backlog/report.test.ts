import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withNote } from "../../../src/core/backlog/prd/registry.ts";
import {
  lastEntries,
  PROGRESS_HEADER,
  type ProgressEntry,
  renderProgressEntry,
} from "../../../src/core/backlog/progress-entry.ts";
import {
  rejectionsIn,
  renderBlocked,
  renderCounts,
  renderIterationStart,
  renderLoopComplete,
  renderLoopReady,
  renderPassed,
  renderRejected,
} from "../../../src/core/backlog/report.ts";
import { anyText } from "../../support/any-text.ts";
import { START } from "../../support/goals/goals.ts";
import { aStory } from "./story-samples.ts";

const STORIES = [
  aStory("A", { passes: true }),
  aStory("B", { blocked: true, rejections: 2 }),
  aStory("C", { title: "Log in" }),
];

describe("C10 reports", () => {
  test("Loop Ready", () => {
    const run = { mode: "fix", stories: STORIES, maxIterations: 20, skipEval: false } as const;
    expect(renderLoopReady(run)).toBe(`Loop Ready
- Mode: fix
- Stories: 1/3 complete
- Max iterations: 20
- Eval: on
Starting loop. You can interrupt me at any time to adjust course.`);
    expect(renderLoopReady({ ...run, skipEval: true })).toContain("\n- Eval: off\n");
  });

  test.each([
    ["a first attempt", "", "Iteration 3/20 — C: Log in"],
    ["notes of a person", "ask Ann", "Iteration 3/20 — C: Log in"],
    [
      "one after rejections",
      "ask Ann\n[REJECTED] a stub\n[BLOCKED] twice\n [REJECTED]  no  test ",
      "Iteration 3/20 — C: Log in\n  rejected before: a stub\n  rejected before: no test",
    ],
  ])("the start of %s", (_, notes, text) => {
    expect(renderIterationStart(3, 20, aStory("C", { title: "Log in", notes }))).toBe(text);
  });

  test.each([
    [renderPassed(aStory("A")), "✓ A PASSED"],
    [renderRejected(aStory("A"), "a stub\nin a.ts"), "✗ A REJECTED — a stub in a.ts"],
    [renderBlocked(aStory("B", { rejections: 2 })), "⚠ B BLOCKED — rejected 2 times, needs human review"],
    [renderBlocked(aStory("B", { rejections: 1 })), "⚠ B BLOCKED — rejected 1 time, needs human review"],
    [renderCounts(STORIES), "1/3 stories complete"],
    [renderCounts([]), "0/0 stories complete"],
  ])("%s", (text, wanted) => {
    expect(text).toBe(wanted);
  });

  test.each([
    [
      "with something left",
      STORIES,
      "Loop Complete\n- Iterations used: 7\n- Stories: 1/3 complete, 1 blocked\n- Blocked: B. See why: loop backlog triage",
    ],
    [
      "with nothing blocked",
      [aStory("A")],
      "Loop Complete\n- Iterations used: 7\n- Stories: 0/1 complete, 0 blocked\n- See why: loop backlog triage",
    ],
    [
      "with all passed",
      [aStory("A", { passes: true, blocked: true })],
      "Loop Complete\n- Iterations used: 7\n- Stories: 1/1 complete, 0 blocked",
    ],
  ])("Loop Complete %s", (_, stories, text) => {
    expect(renderLoopComplete(7, stories)).toBe(text);
  });

  test("C7 whatever reason is noted is read again, and is one line on a terminal", () => {
    fc.assert(
      fc.property(anyText(20), anyText(10), (reason, notes) => {
        const noted = withNote(notes, "REJECTED", `because ${reason}`);
        expect(rejectionsIn(noted).at(-1)).toMatch(/^because/);
        const story = aStory("A", { title: reason, notes: noted });
        expect(renderIterationStart(1, 2, story)).not.toMatch(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/u);
        expect(renderRejected(story, reason)).not.toContain("\n");
      }),
    );
  });
});

describe("C10 progress.md", () => {
  const entry = (fields: Partial<ProgressEntry> = {}): ProgressEntry => ({
    story: aStory("C", { title: "Log in" }),
    at: START,
    iteration: 3,
    verdict: "PASS",
    reason: null,
    summary: null,
    ...fields,
  });

  test("an entry", () => {
    expect(renderProgressEntry(entry())).toBe(
      "### C — Log in\nDate: 2026-01-05 10:00 UTC\nIteration: 3\nVerdict: PASS\n---\n",
    );
  });

  test("with why, and what the generator said", () => {
    const text = renderProgressEntry(
      entry({ verdict: "REJECT", reason: "a stub\nin a.ts", summary: "I did it.\n---\n### X\n" }),
    );
    expect(text).toBe(
      "### C — Log in\nDate: 2026-01-05 10:00 UTC\nIteration: 3\nVerdict: REJECT\nReason: a stub in a.ts\n> I did it.\n> ---\n> ### X\n---\n",
    );
  });

  test("any entry is one entry when it is read again", () => {
    const part = fc.oneof(fc.constantFrom("\n---\n", "\n### X\n", "---", "# A"), anyText(6));
    const hostile = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(hostile, hostile, hostile, (title, reason, summary) => {
        const one = renderProgressEntry(entry({ story: { id: "A", title }, reason, summary }));
        const file = PROGRESS_HEADER + renderProgressEntry(entry()) + one + renderProgressEntry(entry());
        expect(lastEntries(file, 9, 100_000).match(/^### /gm)).toHaveLength(3);
        expect(lastEntries(file, 2, 100_000)).toMatch(/^### A — /);
      }),
    );
  });

  test.each([
    ["nothing", "", ""],
    ["only the header", PROGRESS_HEADER, ""],
    ["what a person wrote", "use pnpm\n---\n", "use pnpm"],
    ["lines of Windows", "### A\r\nx\r\n---\r\n### B\r\n---\r\n", "### A\nx\n\n### B"],
    ["an entry that is not closed", "### A\n---\n### B", "### A\n\n### B"],
  ])("%s", (_, text, wanted) => {
    expect(lastEntries(text, 5, 1_000)).toBe(wanted);
  });

  test("what does not fit is left out by whole entries, oldest first", () => {
    const file = ["a", "b", "c"].map((one) => `### ${one.repeat(40)}\n---\n`).join("");
    expect(lastEntries(file, 5, 100)).toBe(`### ${"b".repeat(40)}\n\n### ${"c".repeat(40)}`);
    expect(lastEntries(file, 1, 1_000)).toBe(`### ${"c".repeat(40)}`);
    expect(lastEntries(file, 5, 20)).toMatch(/^…c+$/);
  });
});
