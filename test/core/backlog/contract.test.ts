import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CONTRACT_TEMPLATE,
  type Contract,
  draftContract,
  parseContract,
  renderContract,
} from "../../../src/core/backlog/prd/contract.ts";
import { anyText } from "../../support/any-text.ts";
import { aStory } from "./story-samples.ts";

const WHOLE = `# Contract: US-001 — Log in

## What Will Be Built
A form.

With two fields.

## Done Conditions
- [ ] the form is shown
- [x] a wrong password
  is refused
* and more

## Evaluation Criteria
1. run npm test
2) open the page

## Out of Scope
- none

## Key Files
src/login.ts: the form

## Dependencies
(none)
`;

describe("C2 a contract is read", () => {
  test("all six sections", () => {
    expect(parseContract(WHOLE)).toEqual({
      contract: {
        whatWillBeBuilt: "A form.\n\nWith two fields.",
        doneConditions: ["the form is shown", "a wrong password is refused", "and more"],
        evaluationCriteria: ["run npm test", "open the page"],
        outOfScope: [],
        keyFiles: ["src/login.ts: the form"],
        dependencies: [],
      },
      problems: [],
    });
  });

  test.each([
    [
      "other capitals and depths",
      WHOLE.replaceAll("## ", "#### ").replaceAll(/^#### .*$/gm, (h) => h.toUpperCase()),
    ],
    [
      "a colon, closing signs, lines of Windows",
      WHOLE.replaceAll(/^## (.*)$/gm, "## $1: ##").replaceAll("\n", "\r\n"),
    ],
    ["a comment", WHOLE.replace("A form.", "<!-- ## Out of Scope\n- x -->A form.")],
    ["a heading that is not ours", WHOLE.replace("## Out", "## History\n- first draft\n\n## Out")],
  ])("%s: the same", (_, text) => {
    expect(parseContract(text)).toEqual(parseContract(WHOLE));
  });

  test("a heading inside of a fence is none", () => {
    const text = WHOLE.replace("A form.", "```md\n## Out of Scope\n- not this\n```");
    expect(parseContract(text).contract).toMatchObject({
      whatWillBeBuilt: "```md\n## Out of Scope\n- not this\n```\n\nWith two fields.",
      outOfScope: [],
    });
  });

  test.each([
    ["nothing", "", 6],
    ["prose", "We will build a form.", 6],
    ["the empty template", CONTRACT_TEMPLATE, 3],
    ["one section missing", WHOLE.replace("## Key Files", "## Keys"), 1],
    ["no done condition", WHOLE.replace(/- \[ \] the form[\s\S]*and more/, "- none"), 1],
    ["a fence that is not closed", WHOLE.replace("A form.", "```"), 5],
  ])("%s: what is missing is said", (_, text, count) => {
    const { problems } = parseContract(text);
    expect(problems).toHaveLength(count);
    expect(problems.every((one) => /^The section ".+" is (?:missing|empty)\.$/.test(one))).toBe(true);
  });
});

describe("C2 a contract is written", () => {
  test("from what a story says; C15 without its hidden criteria", () => {
    const story = aStory("A", {
      title: "Log in",
      description: "A form.",
      acceptanceCriteria: ["it is shown"],
      checks: ["tests=npm test"],
      dependsOn: ["B"],
      holdouts: ["blank passwords are refused"],
    });
    const text = renderContract(story, draftContract(story));
    expect(text).toBe(`# Contract: A — Log in

## What Will Be Built
A form.

## Done Conditions
- [ ] it is shown

## Evaluation Criteria
- tests=npm test

## Out of Scope
- none

## Key Files
- none

## Dependencies
- B
`);
    expect(parseContract(text)).toEqual({ contract: draftContract(story), problems: [] });
  });

  test("a story of a title only is its own description", () => {
    expect(draftContract(aStory("A", { title: "Log in" })).whatWillBeBuilt).toBe("Log in");
  });

  const word = fc.constantFrom("login", "form", "a.ts", "`x`", "(1)", "--", "0", "é");
  const line = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => `it ${words.join(" ")}`);
  const lines = fc.array(line, { maxLength: 3 });

  test("plain words come back as they were", () => {
    fc.assert(
      fc.property(
        fc.record<Contract>({
          whatWillBeBuilt: line,
          doneConditions: lines,
          evaluationCriteria: lines,
          outOfScope: lines,
          keyFiles: lines,
          dependencies: lines,
        }),
        (contract) => {
          expect(parseContract(renderContract(aStory("A"), contract)).contract).toEqual(contract);
        },
      ),
    );
  });

  test("no text in one section begins, ends or hides another", () => {
    const hostile = fc
      .array(
        fc.oneof(
          fc.constantFrom(
            "## Out of Scope",
            "\n",
            "- x",
            "```",
            "~~~~",
            "<!--",
            "-->",
            "> ",
            "# A",
            "\n## Key Files\n",
          ),
          anyText(6),
        ),
        { maxLength: 6 },
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(hostile, hostile, hostile, (text, done, title) => {
        const contract: Contract = {
          whatWillBeBuilt: `what ${text}`,
          doneConditions: [`done ${done}`, "last"],
          evaluationCriteria: [`criterion ${done}`],
          outOfScope: ["scope"],
          keyFiles: [`file ${done}`],
          dependencies: ["dependency"],
        };
        const { contract: read, problems } = parseContract(renderContract({ id: "A", title }, contract));
        expect(problems).toEqual([]);
        expect(read.doneConditions).toHaveLength(2);
        expect(read).toMatchObject({ outOfScope: ["scope"], dependencies: ["dependency"] });
        expect([read.evaluationCriteria.length, read.keyFiles.length]).toEqual([1, 1]);
      }),
      { numRuns: 400 },
    );
  });
});
