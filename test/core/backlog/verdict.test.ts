import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scopeOf } from "../../../src/core/backlog/scope.ts";
import {
  type CheckOutcome,
  decideVerdict,
  hideHoldouts,
  outcomeOf,
  outcomeOfAnalysis,
  readVerdict,
  type ToolVerdict,
  type VerdictFacts,
} from "../../../src/core/backlog/verdict.ts";
import { verdictTemplate } from "../../../src/core/claims/claims.ts";
import { anyText } from "../../support/any-text.ts";
import { aCriterion, anEvidence, NONCE } from "../../support/goals/goals.ts";

const tag = (word: string, nonce = NONCE) => `<verdict nonce="${nonce}">${word}</verdict>`;
const because = (reason: string) => `<rejection_reason>${reason}</rejection_reason>`;
const call = (verdict: "PASS" | "REJECT", reason: string | null = null, nonce = NONCE): ToolVerdict => ({
  nonce,
  verdict,
  reason,
});
const GREEN = outcomeOf(aCriterion("tests"), anEvidence({ met: true }));
const RED = outcomeOf(
  aCriterion("tests"),
  anEvidence({ met: false, exitCode: 1, tail: "1 passed\nerror: login is undefined\n" }),
);
const KEPT = { kind: "kept", text: "" } as const;
const OVER = { kind: "over", text: "Over the scope budget: 23 files changed (at most 20 allowed)." } as const;

function facts(fields: Partial<VerdictFacts> = {}): VerdictFacts {
  return {
    evaluatorAnswer: `I ran it.\n\n${tag("PASS")}`,
    toolVerdicts: [],
    nonce: NONCE,
    checks: [GREEN],
    scope: KEPT,
    skipEval: false,
    holdouts: [],
    ...fields,
  };
}

describe("C6 what the evaluator says", () => {
  test.each<[string, string | null, ToolVerdict[], "pass" | "reject" | "none", string | null]>([
    ["a tag", tag("PASS"), [], "pass", null],
    ["a tag below words", `Fine.\n\n${tag("PASS")}\n`, [], "pass", null],
    [
      "a rejection with its reason",
      `${tag("REJECT")}\n${because("a.ts:3 throws")}`,
      [],
      "reject",
      "a.ts:3 throws",
    ],
    ["a rejection without one", tag("REJECT"), [], "reject", null],
    ["a reason over lines", `${tag("REJECT")}\n${because("one\n two")}`, [], "reject", "one two"],
    ["the tool", "done", [call("PASS")], "pass", null],
    ["the tool alone", null, [call("PASS")], "pass", null],
    ["the tool's reason", "", [call("REJECT", "no test\nran")], "reject", "no test ran"],
    ["the tool twice, the same", "", [call("PASS"), call("PASS")], "pass", null],
    ["tool and tag, the same", tag("PASS"), [call("PASS")], "pass", null],
    [
      "tool without a reason, tag with one",
      `${tag("REJECT")}\n${because("x")}`,
      [call("REJECT")],
      "reject",
      "x",
    ],
    ["nothing", null, [], "none", "the evaluator said nothing"],
    ["an empty message", " \n", [], "none", "the evaluator said nothing"],
    ["words", "It all works. PASS.", [], "none", "the evaluator gave no verdict"],
    [
      "both tags",
      `${tag("PASS")}\n\n${tag("REJECT")}`,
      [],
      "none",
      "the evaluator said both PASS and REJECT",
    ],
    ["both by tool", null, [call("PASS"), call("REJECT")], "none", "the evaluator said both PASS and REJECT"],
    [
      "tool PASS, tag REJECT",
      tag("REJECT"),
      [call("PASS")],
      "none",
      "the evaluator said both PASS and REJECT",
    ],
    [
      "tool REJECT, tag PASS",
      tag("PASS"),
      [call("REJECT", "x")],
      "none",
      "the evaluator said both PASS and REJECT",
    ],
    [
      "tool PASS, both tags",
      `${tag("REJECT")}\n\n${tag("PASS")}`,
      [call("PASS")],
      "none",
      "the evaluator said both PASS and REJECT",
    ],
    ["tool PASS, a quoted REJECT", `> ${tag("REJECT")}`, [call("PASS")], "pass", null],
    ["quoted", `> ${tag("PASS")}`, [], "none", "no verdict that counts"],
    ["in a fence", `\`\`\`\n${tag("PASS")}\n\`\`\``, [], "none", "no verdict that counts"],
    ["in a sentence", `I will not say ${tag("PASS")}`, [], "none", "no verdict that counts"],
    ["indented", `    ${tag("PASS")}`, [], "none", "no verdict that counts"],
    ["the seed's tag without a nonce", "<verdict>PASS</verdict>", [], "none", "no verdict that counts"],
    ["another nonce", tag("PASS", "0ther"), [], "none", "no verdict that counts"],
    ["the tool with another nonce", null, [call("PASS", null, "0ther")], "none", "not the one of its turn"],
    ["the tool with no nonce", null, [call("PASS", null, "")], "none", "not the one of its turn"],
    [
      "a tool with another nonce beside a tag that counts",
      tag("PASS"),
      [call("REJECT", "x", "0ther")],
      "pass",
      null,
    ],
    ["the form, repeated", verdictTemplate(NONCE), [], "none", "no verdict that counts"],
  ])("%s", (_, answer, tools, kind, reason) => {
    const said = readVerdict(answer, tools, NONCE);
    expect(said.kind).toBe(kind);
    if (reason === null) expect(said.reason).toBeNull();
    else expect(said.reason).toContain(reason);
  });

  test("an empty nonce proves nothing, by tag and by tool", () => {
    expect(readVerdict(tag("PASS", ""), [call("PASS", null, "")], "").kind).toBe("none");
  });

  test("any text beside the tool's word never turns REJECT into pass", () => {
    fc.assert(
      fc.property(anyText(30), fc.constantFrom("", "\n\n", tag("PASS"), tag("REJECT")), (text, more) => {
        expect(readVerdict(text + more, [call("REJECT")], NONCE).kind).not.toBe("pass");
        expect(readVerdict(`${text}\n\n${tag("PASS")}\n\n${tag("REJECT")}`, [], NONCE).kind).not.toBe("pass");
      }),
    );
  });
});

describe("C6 C9 PASS or REJECT", () => {
  test.each<[string, Partial<VerdictFacts>, object]>([
    ["all is well", {}, { kind: "PASS", by: "evaluator" }],
    ["no check at all, and the evaluator passed it", { checks: [] }, { kind: "PASS", by: "evaluator" }],
    [
      "PASS with a failing check",
      { checks: [GREEN, RED] },
      {
        kind: "REJECT",
        reason: "tests is not met: exit 1: error: login is undefined",
        causes: ["check"],
        failing: [RED],
      },
    ],
    [
      "PASS over scope, with the figures",
      { scope: OVER },
      {
        kind: "REJECT",
        reason: "Over the scope budget: 23 files changed (at most 20 allowed)",
        causes: ["scope"],
        failing: [],
      },
    ],
    [
      "all causes at once, each of them named",
      { evaluatorAnswer: `${tag("REJECT")}\n${because("stub in a.ts.")}`, checks: [RED], scope: OVER },
      {
        kind: "REJECT",
        reason:
          "stub in a.ts; tests is not met: exit 1: error: login is undefined; Over the scope budget: 23 files changed (at most 20 allowed)",
        causes: ["evaluator", "check", "scope"],
        failing: [RED],
      },
    ],
    [
      "no verdict",
      { evaluatorAnswer: "It works." },
      { kind: "REJECT", reason: "the evaluator gave no verdict", causes: ["no-verdict"], failing: [] },
    ],
    [
      "no reason",
      { evaluatorAnswer: tag("REJECT") },
      {
        kind: "REJECT",
        reason: "the evaluator rejected it and gave no reason",
        causes: ["evaluator"],
        failing: [],
      },
    ],
    ["skipEval with green checks", { skipEval: true, evaluatorAnswer: null }, { kind: "PASS", by: "checks" }],
    [
      "skipEval with a red check",
      { skipEval: true, evaluatorAnswer: null, checks: [RED] },
      { kind: "REJECT", causes: ["check"] },
    ],
    [
      "skipEval over scope",
      { skipEval: true, evaluatorAnswer: null, scope: OVER },
      { kind: "REJECT", causes: ["scope"] },
    ],
    [
      "skipEval with nothing that proves it",
      { skipEval: true, evaluatorAnswer: null, checks: [] },
      {
        kind: "REJECT",
        reason: "nobody evaluated it and it has no check, so nothing proves it",
        causes: ["unproved"],
      },
    ],
  ])("%s", (_, fields, wanted) => {
    expect(decideVerdict(facts(fields))).toMatchObject(wanted);
  });

  test("what is unknown of the scope breaks nothing", () => {
    const budget = { maxFilesToRead: 1, maxLinesToWrite: 1, maxFilesToModify: 1 };
    const scope = scopeOf(budget, { changes: [{ path: "a", linesWritten: 1 }], filesRead: null });
    expect(decideVerdict(facts({ scope })).kind).toBe("PASS");
  });

  test("PASS comes of one thing only: a word or a waiver, all green, in scope", () => {
    const outcome = fc.constantFrom<CheckOutcome>(GREEN, RED);
    fc.assert(
      fc.property(
        fc.record({
          evaluatorAnswer: fc.oneof(
            fc.constantFrom(tag("PASS"), tag("REJECT"), tag("PASS", "x"), `> ${tag("PASS")}`, null),
            anyText(),
          ),
          toolVerdicts: fc.array(fc.constantFrom(call("PASS"), call("REJECT"), call("PASS", null, "x")), {
            maxLength: 2,
          }),
          checks: fc.array(outcome, { maxLength: 3 }),
          scope: fc.constantFrom(KEPT, OVER),
          skipEval: fc.boolean(),
        }),
        (fields) => {
          const given = facts(fields);
          const isSaid =
            (given.evaluatorAnswer === tag("PASS") ||
              given.toolVerdicts.some((one) => one.verdict === "PASS" && one.nonce === NONCE)) &&
            given.evaluatorAnswer !== tag("REJECT") &&
            !given.toolVerdicts.some((one) => one.verdict === "REJECT");
          const isProved = given.skipEval ? given.checks.length > 0 : isSaid;
          const wanted = isProved && given.checks.every(({ met }) => met) && given.scope.kind === "kept";
          const verdict = decideVerdict(given);
          expect(verdict.kind).toBe(wanted ? "PASS" : "REJECT");
          if (verdict.kind === "REJECT") expect(verdict.reason).toMatch(/^[^\n]+$/);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("a reason of any length stays one line that can be noted", () => {
    const evaluatorAnswer = `${tag("REJECT")}\n${because(`${"long ".repeat(5_000)}\u001b[31m`)}`;
    const verdict = decideVerdict(facts({ evaluatorAnswer }));
    expect(verdict.kind === "REJECT" && verdict.reason.length).toBeLessThanOrEqual(2_000);
  });
});

describe("C6 what checks came to", () => {
  test.each([
    ["green", anEvidence({ met: true, exitCode: 0 }), true, "exit 0"],
    ["red", anEvidence({ met: false, exitCode: 2 }), false, "exit 2"],
    ["never run", null, false, "never checked"],
    [
      "green, and of no weight",
      anEvidence({ met: false, exitCode: 0, note: "files it depends on were changed" }),
      false,
      "exit 0; files it depends on were changed",
    ],
  ])("%s", (_, evidence, met, result) => {
    expect(outcomeOf(aCriterion("tests"), evidence)).toMatchObject({ name: "tests", met, result });
  });

  test.each([
    [null, false, "it is not there"],
    ["", false, "it is empty"],
    [" \n\n", false, "it is empty"],
    ["one\n", true, "it has 1 line"],
    ["x\n".repeat(299), true, "it has 299 lines"],
    ["x\n".repeat(300), false, "it has 300 lines"],
  ])("an analysis: %j", (text, met, result) => {
    expect(outcomeOfAnalysis(".loop/triage/A-analysis.md", text)).toMatchObject({ met, result });
  });
});

describe("C15 hidden criteria in what others wrote", () => {
  const HIDDEN = ["Empty (or blank) passwords are refused", "short one", "Empty (or blank)"];

  test.each([
    ["it fails: empty (or blank)  passwords\nare refused!", "it fails: [hidden]!"],
    ["empty (or blank) names", "[hidden] names"],
    ["short one", "short one"],
    ["nothing of it", "nothing of it"],
  ])("%j", (text, shown) => {
    expect(hideHoldouts(text, HIDDEN)).toBe(shown);
  });

  test("a reason that quotes one does not carry it on", () => {
    const evaluatorAnswer = `${tag("REJECT")}\n${because(`it does not hold that ${HIDDEN[0]}`)}`;
    expect(decideVerdict(facts({ evaluatorAnswer, holdouts: HIDDEN }))).toMatchObject({
      reason: "it does not hold that [hidden]",
    });
  });

  test("any criterion is found again, whatever signs are in it", () => {
    fc.assert(
      fc.property(anyText(30), (text) => {
        const one = `zqj${text}qjz-0123456789`;
        expect(hideHoldouts(`a ${one} b`, [one])).toBe("a [hidden] b");
      }),
    );
  });
});
