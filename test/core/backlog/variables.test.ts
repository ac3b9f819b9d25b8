import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillVariables, VARIABLES } from "../../../src/core/backlog/prompts/variables.ts";

const VALUES = { MODE: "fix", ITERATION: "3", STORY_TITLE: "Log in", EMPTY: "" };

describe("C4 variables of prompts", () => {
  test.each([
    ["no variable", "no variable"],
    ["", ""],
    ["{{MODE}}", "fix"],
    ["{{MODE}}{{ITERATION}}", "fix3"],
    ["a {{MODE}}\nb {{ITERATION}} c {{MODE}}\n", "a fix\nb 3 c fix\n"],
    ["{{ MODE }} and {{\tITERATION\t}}", "fix and 3"],
    ["[{{EMPTY}}]", "[]"],
    ["{ {MODE} } {MODE} }} {", "{ {MODE} } {MODE} }} {"],
    ["\\{{MODE}} is written so", "{{MODE}} is written so"],
    ["a \\{{ github.ref }}", "a {{ github.ref }}"],
    ["{{MODE}}\\{{MODE}}{{MODE}}", "fix{{MODE}}fix"],
    ["C:\\{{MODE}}", "C:{{MODE}}"],
    ["C:\\ {{MODE}}", "C:\\ fix"],
  ])("%j becomes %j", (text, filled) => {
    expect(fillVariables(text, VALUES)).toEqual({ kind: "ok", text: filled });
  });

  test.each([
    ["{{FOO}}", 1, "there is no variable {{FOO}}; write \\{{ for the braces themselves"],
    ["{{MODE}}\n\n  {{FOO}} {{BAR}}", 3, "there is no variable {{FOO}}"],
    ["{{mode}}", 1, "there is no variable {{mode}}; write {{MODE}}"],
    ["\n{{story title}}", 2, "write {{STORY_TITLE}}"],
    ["{{story-title}}", 1, "write {{STORY_TITLE}}"],
    ["{{}}", 1, "there is no variable {{}}"],
    ["{{constructor}}", 1, "there is no variable {{constructor}}"],
    ["{{__proto__}}", 1, "there is no variable"],
    ["{{{MODE}}}", 1, "there is no variable {{{MODE}}"],
    ["style={{color: 1}}", 1, "there is no variable {{color: 1}}"],
    ["a\n{{MODE}\nb}}", 2, "{{MODE} is not closed by }}"],
    ["{{MODE", 1, "{{MODE is not closed by }}"],
    ["{{", 1, "{{ is not closed by }}"],
    [`{{${"x".repeat(100)}}}`, 1, `there is no variable {{${"x".repeat(39)}…}}`],
  ])("%j is an error that names it and its line", (text, line, message) => {
    const result = fillVariables(text, VALUES);
    expect(result).toMatchObject({ kind: "wrong", line });
    expect(result.kind === "wrong" && result.message).toContain(message);
  });

  test("the published variables are known", () => {
    const published =
      "MAX_FILES_TO_READ MAX_LINES_TO_WRITE MAX_FILES_TO_MODIFY MODE ITERATION MAX_ITERATIONS LOOP_DIR PROJECT_ROOT CURRENT_STORY_ID PRE_GENERATOR_SHA";
    expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining(published.split(" ")));
  });

  const piece = fc.constantFrom("{{", "}}", "{", "}", "\\", "\n", "A", "B", " ", "{{A}}", "{{B}}", "$&");

  test("a value goes in verbatim, once: what looks like a variable in it stays", () => {
    fc.assert(
      fc.property(
        fc.array(piece).map((all) => all.join("")),
        (value) => {
          expect(fillVariables("<{{A}}|{{B}}>", { A: value, B: "b" })).toEqual({
            kind: "ok",
            text: `<${value}|b>`,
          });
        },
      ),
    );
  });

  test("whatever the text: no braces come out but those that were escaped, or it is refused by line", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((all) => all.join("")),
        (text) => {
          const result = fillVariables(text, { A: "1", B: "2" });
          if (result.kind === "wrong") {
            expect(text.split("\n")[result.line - 1]).toContain("{{");
            return;
          }
          // a brace beside an escaped pair makes no pair of its own: with a letter in its place none comes out
          const marked = fillVariables(text.replaceAll("\\{{", "§"), { A: "1", B: "2" });
          if (marked.kind === "wrong") throw new Error(marked.message);
          expect(marked.text).not.toContain("{{");
          expect(result.text).toBe(marked.text.replaceAll("§", "{{"));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("H1 a long text is filled in no time", () => {
    const text = "{{A}} x\n".repeat(100_000);
    const started = process.hrtime.bigint();
    expect(fillVariables(text, { A: "1" }).kind).toBe("ok");
    expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(2_000);
  });
});
