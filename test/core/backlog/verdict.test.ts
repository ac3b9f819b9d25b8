import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ToolVerdict } from "../../../src/core/backlog/backlog.ts";
import { hideHoldouts, outcomeOfAnalysis, readVerdict } from "../../../src/core/backlog/verdict.ts";
import { verdictTemplate } from "../../../src/core/claims/claims.ts";
import { anyText } from "../../support/any-text.ts";
import { NONCE } from "../../support/goals/goals.ts";

const tag = (word: string, nonce = NONCE) => `<verdict nonce="${nonce}">${word}</verdict>`;
const because = (reason: string) => `<rejection_reason>${reason}</rejection_reason>`;
const call = (verdict: "PASS" | "REJECT", reason: string | null = null, nonce = NONCE): ToolVerdict => ({
  nonce,
  verdict,
  reason,
});
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
    ["a tag without a nonce", "<verdict>PASS</verdict>", [], "none", "no verdict that counts"],
    ["another nonce", tag("PASS", "0ther"), [], "none", "no verdict that counts"],
    [
      "the tool with another nonce",
      null,
      [call("PASS", null, "0ther")],
      "none",
      "does not belong to its turn",
    ],
    ["the tool with no nonce", null, [call("PASS", null, "")], "none", "does not belong to its turn"],
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

describe("C6 the analysis of an exploration", () => {
  test.each([
    [null, false, "the file does not exist"],
    ["", false, "the file is empty"],
    [" \n\n", false, "the file is empty"],
    ["one\n", true, "the file has 1 line"],
    ["x\n".repeat(299), true, "the file has 299 lines"],
    ["x\n".repeat(300), false, "the file has 300 lines"],
  ])("%j", (text, met, result) => {
    expect(outcomeOfAnalysis(text)).toMatchObject({ met, result });
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

  test("any criterion is found again, whatever signs are in it", () => {
    fc.assert(
      fc.property(anyText(30), (text) => {
        const one = `zqj${text}qjz-0123456789`;
        expect(hideHoldouts(`a ${one} b`, [one])).toBe("a [hidden] b");
      }),
    );
  });
});
