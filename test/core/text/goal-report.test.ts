import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Goal } from "../../../src/core/goal/goal.ts";
import { renderReportMarkdown } from "../../../src/core/text/goal/goal-report.ts";
import { renderReceiptLine, renderReceipts } from "../../../src/core/text/goal/receipt.ts";
import { columnsOf } from "../../../src/core/text/width.ts";
import { anyText } from "../../support/any-text.ts";
import {
  aCriterion,
  aDoneGoal,
  aGoal,
  anEvidence,
  aReceipt,
  aStep,
  NOTHING_SPENT,
  START,
} from "../../support/goals/goals.ts";

const worked = (overrides: Partial<Goal> = {}): Goal =>
  aDoneGoal({
    iteration: 2,
    spent: { costUsd: 1.3, tokens: 45_800, timeMs: 252_000, unpriced: 1 },
    receipts: [
      aReceipt({
        kind: "plan",
        iteration: 0,
        step: null,
        checksMs: 0,
        filesChanged: 0,
        files: [],
        moved: [],
      }),
      aReceipt(),
      aReceipt({
        iteration: 2,
        step: "修正する: fix the root cause of everything that fails",
        charged: false,
        costUsd: null,
        inputTokens: null,
        outputTokens: null,
        failure: { class: "quota", reason: "usage limit reached", resetsAt: START },
      }),
      aReceipt({
        iteration: 2,
        step: "Fix the root cause",
        moved: ["tests ✓", "coverage 71 → 84 ✓"],
        checkpoint: 2,
      }),
    ],
    ...overrides,
  });

describe("receipts in the terminal", () => {
  test("B16 one line per turn and the total; what the agent did not tell is said", () => {
    expect(renderReceipts(worked())).toMatchInlineSnapshot(`
      "#         Step             Time         Tokens  Cost     Files  Checks moved
      plan      –                1m 35s       23k     $0.42    0      no check moved
      1         Find the faili…  1m 35s + 4s  23k     $0.42    2      lint ✓
      2 (free)  修正する: fix …  1m 35s + 4s  –       unknown  2      failed (quota):…
      2         Fix the root c…  1m 35s + 4s  23k     $0.42    2      tests ✓, covera…
      Total     2 iterations     6m 33s       46k     $1.30
      1 turn: cost not reported by the agent"
    `);
  });

  test("B16 no line is wider than the terminal: steps and what moved give way, figures never", () => {
    for (const columns of [80, 100, 140])
      for (const line of renderReceipts(worked(), columns).split("\n"))
        expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    const narrow = renderReceipts(worked(), 40);
    expect(narrow).toContain("1m 35s + 4s");
    expect(narrow).toContain("unknown");
    expect(renderReceipts(worked(), 300)).toContain("tests ✓, coverage 71 → 84 ✓");
  });

  test("B16 nothing has ended yet", () => {
    expect(renderReceipts(aGoal())).toBe("No turn has ended yet.");
  });

  test("B16 a single turn in a line", () => {
    expect(renderReceiptLine(aReceipt())).toBe(
      "1 Find the failing test: 1m 35s + 4s, 23k tokens, $0.42, 2 files changed, lint ✓",
    );
  });
});

describe("the report", () => {
  test("B16 B17 has the spec, the end, the verdict, the evidence, the steps and the receipts", () => {
    const goal = worked({
      accepted: [{ path: "test/api/token.test.ts", hash: "9b1c2d3e4f5a6b7c" }],
      steps: [aStep("Find the failing test", "done"), aStep("Retry", "replaced"), aStep("Fix it", "done")],
    });
    expect(renderReportMarkdown(goal)).toMatchInlineSnapshot(`
      "# Loop b7c1d2e3

      \`\`\`text
      Fix the flaky tests in test/api so that npm test passes. No new dependencies.
      \`\`\`

      ## How it ended

      **done**, 2026-01-05 10:10 UTC: \`every criterion is proved and the agent signalled the end\`

      ## Verdict

      \`\`\`text
      ╭─ 🟡 MONITOR ─────────────────────────────────────────────────────────────────╮
      │ Verified: execution output ×2                                                │
      │ Checklist: 2/2 criteria verified                                             │
      │ Run or measured: 2/2 · Type 2A · 9pt                                         │
      ├──────────────────────────────────────────────────────────────────────────────┤
      │ ↳ Alt: loop rollback b7c1d2e3 puts the files back                            │
      │ ↳ Risk: checks depend on test/api/token.test.ts, and a person accepted its … │
      ╰──────────────────────────────────────────────────────────────────────────────╯
      \`\`\`

      ## Risks

      - \`checks depend on test/api/token.test.ts, and a person accepted its change\`

      ## Criteria

      | Criterion | Check | Verified by | Met | Evidence |
      | --- | --- | --- | --- | --- |
      | \`tests\` | \`npm test\` | execution output | ✓ | exit 0, 2026-01-05 10:02 UTC, took 4s, tree \`3f9a2b7c41\` |
      | \`lint\` | \`npm run lint\` | execution output | ✓ | exit 0, 2026-01-05 10:02 UTC, took 4s, tree \`3f9a2b7c41\` |

      ### \`tests\`

      \`\`\`text
      12 passed
      \`\`\`

      ### \`lint\`

      \`\`\`text
      12 passed
      \`\`\`

      ## Steps

      2 of 2 done

      - [x] \`Find the failing test\`
      - [ ] \`Retry\` (replaced)
      - [x] \`Fix it\`

      ## Receipts

      | # | Step | Agent | Checks | Tokens | Cost | Files | Moved | Checkpoint |
      | --- | --- | --- | --- | --- | --- | --- | --- | --- |
      | plan | – | 1m 35s | 0s | 23k | $0.42 | 0 | – | – |
      | 1 | \`Find the failing test\` | 1m 35s | 4s | 23k | $0.42 | 2 | \`lint ✓\` | – |
      | 2 (free) | \`修正する: fix the root cause of everything that fails\` | 1m 35s | 4s | – | unknown | 2 | \`failed (quota): usage limit reached\` | – |
      | 2 | \`Fix the root cause\` | 1m 35s | 4s | 23k | $0.42 | 2 | \`tests ✓, coverage 71 → 84 ✓\` | \`2\` |

      Total: 2 iterations of 10, $1.30 of $25 (1 turn: cost not reported by the agent), 46k tokens, 4m 12s.

      ## Accepted changes of protected files

      - \`test/api/token.test.ts 9b1c2d3e4f\`
      "
    `);
  });

  test.each<[string, Partial<Goal>, string]>([
    [
      "paused",
      {
        status: "paused",
        pause: {
          code: "budget",
          reason: "it is spent",
          evidence: ["a"],
          goOn: "loop continue b7",
          at: START,
        },
      },
      "**paused** (budget) since 2026-01-05 10:00 UTC: `it is spent`\n\nGo on with `loop continue b7`",
    ],
    [
      "asking",
      {
        gate: {
          kind: "G3",
          question: "All criteria met. Confirm done?",
          details: [],
          askedAt: START,
          answerBy: null,
        },
      },
      '**waits for a person** (G3) since 2026-01-05 10:00 UTC: `All criteria met. Confirm done?`\n\nAnswer with `loop approve b7c1d2e3` or `loop reject b7c1d2e3 "why"`',
    ],
    ["waiting", { waitUntil: START, waitReason: "quota" }, "**waits** until 2026-01-05 10:00 UTC: `quota`"],
    ["at work", {}, "**active**"],
  ])("B16 a loop that is %s says so", (_, overrides, words) => {
    expect(renderReportMarkdown(aGoal(overrides))).toContain(`## How it stands\n\n${words}`);
  });

  test("B7 changes of protected files that nobody accepted are listed", () => {
    const protectedChanges = [
      { path: "test/a.test.ts", change: "changed", hash: "1", criteria: ["tests"] },
      { path: "test/b.test.ts", change: "deleted", hash: null, criteria: ["tests"] },
    ] as const;
    const accepted = [{ path: "test/a.test.ts", hash: "1" }];
    const report = renderReportMarkdown(aGoal({ protectedChanges, accepted }));
    expect(report).toContain("nobody accepted yet\n\n- `test/b.test.ts (deleted; tests)`\n");
  });

  test("B12 a cost that nobody told is not written as a number", () => {
    const goal = worked({ spent: { ...NOTHING_SPENT, unpriced: 3 } });
    expect(renderReportMarkdown(goal)).toContain("unknown of $25 (3 turns: cost not reported by the agent)");
  });
});

describe("Markdown from outside", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "`",
      "``",
      "```",
      "````\n",
      "|",
      "\\|",
      "\\\\|",
      "\n",
      "\r",
      "\u2028",
      "# H\n",
      "[x](y)",
      "<b>",
      "@name",
      "~~~\n",
    ),
    anyText(8),
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(""));

  const goals = fc
    .record({ spec: text, name: text, command: text, tail: text, reason: text, step: text })
    .map((found) =>
      aDoneGoal({
        spec: found.spec,
        criteria: [aCriterion(found.name, { check: { kind: "command", command: found.command } })],
        evidence: {
          [found.name]: anEvidence({ tail: found.tail, note: found.reason, tree: aGoal().tree ?? "" }),
        },
        steps: [aStep(found.step)],
        receipts: [aReceipt({ step: found.step, moved: [found.name], notes: [found.reason] })],
        end: { status: "failed", reason: found.reason, at: START, verdict: null, notes: [found.reason] },
      }),
    );

  /** What is left when fences and code spans are taken away, as a reader of Markdown does it. */
  function outsideCode(markdown: string): string {
    const kept: string[] = [];
    let open: string | null = null;
    for (const line of markdown.split("\n")) {
      const ticks: string | undefined = /^ {0,3}(`{3,})(?:text)?\s*$/.exec(line)?.[1];
      if (open === null && ticks !== undefined) open = ticks;
      else if (open !== null && ticks !== undefined && ticks.length >= open.length && !line.includes("text"))
        open = null;
      else if (open === null) kept.push(line.replaceAll(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g, "CODE"));
    }
    expect(open).toBeNull();
    return kept.join("\n");
  }

  const OURS = outsideCode(renderReportMarkdown(aDoneGoal()));

  test("B16 never leaves its fence or its code span", () => {
    fc.assert(
      fc.property(goals, (goal) => {
        const rest = outsideCode(renderReportMarkdown(goal));
        expect(rest).not.toMatch(/[`@<]|\[x\]\(|~~~/);
        expect(
          rest.match(/^#+ .*$/gm)?.filter((line) => !/^#+ (?:[A-Z][\w ]+|CODE)$/.test(line)) ?? [],
        ).toEqual([]);
      }),
    );
    expect(OURS).toContain("# Loop b7c1d2e3");
  });

  test("B16 never adds a cell or a row to a table", () => {
    fc.assert(
      fc.property(goals, (goal) => {
        const rows = renderReportMarkdown(goal)
          .split("\n")
          .filter((line) => line.startsWith("| "));
        // A bar counts unless an odd number of backslashes stands before it; code spans do not protect it.
        const cells = rows.map((row) => [...row.matchAll(/(?<!\\)(?:\\\\)*\|/g)].length - 1);
        const first = cells[0];
        expect([5, 9]).toContain(first);
        expect(new Set(cells)).toEqual(new Set([5, 9]));
        expect(rows).toHaveLength(6);
      }),
    );
  });
});
