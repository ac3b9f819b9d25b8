import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Check, Goal, Verdict, Verification } from "../../../src/core/goal/goal.ts";
import { cleanLine, cleanText } from "../../../src/core/text/clean.ts";
import { renderVerdictBox, verdictOf } from "../../../src/core/text/goal/verdict-box.ts";
import { columnsOf, cutTo, fitTo } from "../../../src/core/text/width.ts";
import { anyText } from "../../support/any-text.ts";
import { aCriterion, aDoneGoal, aGoal, anEvidence, aReceipt, START } from "../../support/goals/goals.ts";

const CHECKS: readonly [Check, Verification][] = [
  [{ kind: "command", command: "npm test" }, "execution output"],
  [{ kind: "measure", command: "npm run coverage", comparison: ">=", target: 80 }, "measurement"],
  [{ kind: "judge", question: "Does the page render?" }, "observation"],
  [{ kind: "review", question: "Is every route refactored?" }, "code review"],
  [{ kind: "assumption" }, "assumption"],
];

/** A loop that is done by these kinds of verification. */
function doneBy(kinds: readonly Verification[], overrides: Partial<Goal> = {}): Goal {
  const found = kinds.map((kind) => CHECKS.find(([, verification]) => verification === kind));
  const criteria = found.map((pair, i) => aCriterion(`c${i}`, pair && { check: pair[0] }));
  const evidence = Object.fromEntries(
    kinds.map((verification, i) => [
      `c${i}`,
      anEvidence({ verification, met: verification !== "assumption" }),
    ]),
  );
  return aDoneGoal({ criteria, evidence, ...overrides });
}

const cancelled = { status: "cancelled", reason: "a person", at: START, verdict: null, notes: [] } as const;
const baseline = { tree: "t", protectedDigest: "d", protectedCount: 1, isGit: true };

describe("the verdict", () => {
  test.each<[string, Goal, Verdict]>([
    ["everything was run", doneBy(["execution output", "execution output"]), "SHIP"],
    ["run, measured and looked at", doneBy(["execution output", "measurement", "observation"]), "SHIP"],
    ["easy to undo in minutes", doneBy(["execution output"], { reversibility: "2B" }), "SHIP"],
    ["code was only read", doneBy(["execution output", "code review"]), "MONITOR"],
    ["hard to undo", doneBy(["execution output"], { reversibility: "1" }), "MONITOR"],
    [
      "accepted change of a test",
      doneBy(["measurement"], { accepted: [{ path: "a", hash: "h" }] }),
      "MONITOR",
    ],
    ["green before", doneBy(["execution output"], { baseline: { ...baseline, green: ["c0"] } }), "MONITOR"],
    ["an assumption", doneBy(["execution output", "assumption"]), "RESEARCH"],
    ["no criteria", doneBy([]), "RESEARCH"],
    ["cancelled, although all is green", doneBy(["execution output"], { end: cancelled }), "RESEARCH"],
    [
      "a check is red",
      aGoal({ evidence: { tests: anEvidence({ met: false }), lint: anEvidence() } }),
      "RESEARCH",
    ],
    ["nothing was checked", aGoal(), "RESEARCH"],
  ])("B15 %s", (_, goal, verdict) => {
    expect(verdictOf(goal)).toBe(verdict);
    expect(renderVerdictBox(goal)).toContain(` ${verdict} `);
  });
});

describe("the verdict box", () => {
  test("B15 says what was verified and how, and what a person can do", () => {
    const goal = doneBy(["execution output", "execution output", "measurement"], {
      receipts: [aReceipt({ checkpoint: 2 })],
      baseline: { ...baseline, green: ["c1"] },
    });
    expect(renderVerdictBox(goal)).toMatchInlineSnapshot(`
      "╭─ 🟢 SHIP ─────────────────────────────────────────╮
      │ Verified: execution output ×2, measurement ×1     │
      │ Checklist: 3/3 criteria verified                  │
      │ Run or measured: 3/3 · Type 2A · 9pt              │
      ├───────────────────────────────────────────────────┤
      │ ↳ Alt: loop rollback b7c1d2e3 puts the files back │
      │ ↳ Risk: c1 was green before any work              │
      ╰───────────────────────────────────────────────────╯"
    `);
  });

  test("B15 a loop that is far from done says what is missing", () => {
    const criteria = [...aGoal().criteria, aCriterion("fast enough", { check: { kind: "assumption" } })];
    const evidence = { tests: anEvidence({ met: false }), lint: anEvidence() };
    expect(renderVerdictBox(aGoal({ criteria, evidence, reversibility: "1" }))).toMatchInlineSnapshot(`
      "╭─ 🔴 RESEARCH ──────────────────────────────────────────────────────────╮
      │ Verified: execution output ×1                                          │
      │ Checklist: 1/3 criteria verified                                       │
      │ Run or measured: 1/3 · Type 1 · 9pt                                    │
      ├────────────────────────────────────────────────────────────────────────┤
      │ ↳ Alt: git diff shows the work; there is no checkpoint to roll back to │
      │ ↳ Risk: fast enough is assumed, nothing checks it                      │
      │ ↳ Risk: tests is not met                                               │
      │ ↳ Risk: it takes hours or more to undo                                 │
      ╰────────────────────────────────────────────────────────────────────────╯"
    `);
  });

  test("B15 the right border lines up with wide letters, pictures, joined pictures and marks", () => {
    const name = "検査 👨‍👩‍👧 ok ✔️ é 👍🏽 🇩🇪 한글 ｆｕｌｌ";
    const goal = aDoneGoal({
      criteria: [aCriterion(name)],
      evidence: { [name]: anEvidence() },
      baseline: { ...baseline, green: [name] },
    });
    expect(renderVerdictBox(goal)).toMatchInlineSnapshot(`
      "╭─ 🟡 MONITOR ─────────────────────────────────────────────────────────────╮
      │ Verified: execution output ×1                                            │
      │ Checklist: 1/1 criteria verified                                         │
      │ Run or measured: 1/1 · Type 2A · 9pt                                     │
      ├──────────────────────────────────────────────────────────────────────────┤
      │ ↳ Alt: git diff shows the work; there is no checkpoint to roll back to   │
      │ ↳ Risk: 検査 👨👩👧 ok ✔ é 👍 🇩🇪 한글 ｆｕｌｌ was green before any work │
      ╰──────────────────────────────────────────────────────────────────────────╯"
    `);
  });

  test("B15 every line of the box has the same width, whatever the names are, and none is wider than 80", () => {
    const letter = fc.constantFrom(
      "a",
      " ",
      "検",
      "한",
      "ｆ",
      "ｱ",
      "🟢",
      "👨‍👩‍👧",
      "👍🏽",
      "🇩🇪",
      "✔️",
      "e\u0301",
      "\n",
      "\u001b[1m",
    );
    const name = fc.oneof(anyText(), fc.string({ unit: letter, maxLength: 90 }));
    fc.assert(
      fc.property(name, name, (first, path) => {
        const goal = aDoneGoal({
          criteria: [aCriterion(first)],
          evidence: { [first]: anEvidence() },
          baseline: { ...baseline, green: [first] },
          accepted: [{ path, hash: null }],
        });
        const widths = renderVerdictBox(goal).split("\n").map(columnsOf);
        expect(new Set(widths).size).toBe(1);
        expect(widths[0]).toBeLessThanOrEqual(80);
      }),
    );
  });
});

describe("columns of a terminal", () => {
  test.each<[string, number]>([
    ["plain", 5],
    ["検査", 4],
    ["ｆｕ", 4],
    ["ｱｲ", 2],
    ["한글", 4],
    ["🟢", 2],
    ["🇩🇪", 2],
    ["e\u0301", 1],
    ["✓ ✗ ⏸ ⚠ → │", 11],
    ["⏳", 2],
  ])("%s takes %d", (text, columns) => {
    expect(columnsOf(text)).toBe(columns);
  });

  test("a cut never goes through a wide letter", () => {
    expect(cutTo("検査検査", 6)).toBe("検査…");
    expect(fitTo("検査検査", 7)).toBe("検査検…");
    expect(fitTo("検査検査", 6)).toBe("検査… ");
    expect(fitTo("ab", 4)).toBe("ab  ");
  });
});

describe("text from outside", () => {
  test.each<[string, string]>([
    ["\u001b[1;31mred\u001b[0m", "red"],
    ["\u001b]8;;https://evil\u0007link\u001b]8;;\u0007", "link"],
    ["\u001b]0;not closed, and it goes on", "�]0;not closed, and it goes on"],
    ["a\u202eb\u200bc", "a�b�c"],
    ["na\u200dme", "na�me"],
    ["👨\u200d👩", "👨\u200d👩"],
    ["می\u200cخواهم", "می\u200cخواهم"],
    ["a\r\nb\rc\u2028d\u0085e\u000bf", "a\nb\nc\nd\ne\nf"],
    ["\ud800 alone", "� alone"],
    ["tab\tkept\n", "tab\tkept\n"],
    ["\u{e0041}tag", "�tag"],
  ])("H5 %j is shown as %j", (text, shown) => {
    expect(cleanText(text)).toBe(shown);
  });

  test("H5 nothing that moves a cursor or hides survives, and cleaning twice is cleaning once", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const clean = cleanText(text);
        expect(clean).not.toMatch(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(cleanText(clean)).toBe(clean);
        expect(cleanLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });
});
