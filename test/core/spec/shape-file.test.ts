import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderCheck } from "../../../src/core/checks/kinds.ts";
import type { ProjectFacts } from "../../../src/core/spec/phrases.ts";
import { parseShapeFile } from "../../../src/core/spec/shape-file.ts";

const NODE: ProjectFacts = { packageManager: "npm", scripts: ["test"], files: ["package.json"] };

const NONE: ProjectFacts = { packageManager: null, scripts: [], files: [] };

const read = (text: string, facts = NONE) => {
  const shape = parseShapeFile(text, facts);
  if (shape.kind === "invalid") return shape.message;
  return [
    ...shape.criteria.map((criterion) => renderCheck(criterion)),
    ...shape.mustNot.map(({ name, command }) => `never ${name}: ${command}`),
  ];
};

const COMMAND = "tests pass: `npm test` exits 0";
const ASSUMED = "no check proves it (assumption); it blocks the end";

describe("B5 SHAPE.md as Markdown", () => {
  test("criteria, must not and verification", () => {
    const text = `# Shape of the login

Some prose, with a list that is nothing:
- not a criterion

## Criteria
- tests pass: \`npm test\`
- \`npm run lint\` passes
- coverage: \`npm run -s cov\` >= 80
- **UI renders** (observation)
- the code is simple — code review
- [ ] types check: npx tsc --noEmit
- \`parseUser\` returns null for empty input

### For later
1. it is fast

## Must not
- secrets in src: \`grep -rq SECRET src\`
- change the public API

## Verification
- it is fast: measurement \`npm run -s bench\` < 200
- \`parseUser\` returns null for empty input: \`npx vitest run parse\`

## Notes
- nothing either
`;
    expect(read(text)).toEqual([
      COMMAND,
      "npm run lint passes: `npm run lint` exits 0",
      "coverage: `npm run -s cov` prints a number >= 80",
      "UI renders: a second agent looks (weaker): UI renders",
      "the code is simple: a second agent reads the code (weaker): the code is simple",
      "types check: `npx tsc --noEmit` exits 0",
      "`parseUser` returns null for empty input: `npx vitest run parse` exits 0",
      "it is fast: `npm run -s bench` prints a number < 200",
      "never secrets in src: grep -rq SECRET src",
      "never change the public API: null",
    ]);
  });

  test("everything says that it comes from the file", () => {
    const shape = parseShapeFile("## Criteria\n- a: `b`\n## Must not\n- c\n", NONE);
    expect(shape).toEqual({
      kind: "ok",
      criteria: [{ name: "a", check: { kind: "command", command: "b" }, source: "shape" }],
      mustNot: [{ name: "c", command: null, source: "shape" }],
    });
  });

  test.each([
    ["- a", `a: ${ASSUMED}`],
    ["- a: assumption", `a: ${ASSUMED}`],
    ["- a (execution output)", `a: ${ASSUMED}`],
    ["- a: observation", "a: a second agent looks (weaker): a"],
    ["- a [code review]", "a: a second agent reads the code (weaker): a"],
    ["- a (`b`)", "a: `b` exits 0"],
    ["- a - `b`", "a: `b` exits 0"],
    ["- a: `b` == 0", "a: `b` prints a number == 0"],
    ["- a: `b`==0", "a: `b` prints a number == 0"],
    ["- a: `b >= 3`", "a: `b` prints a number >= 3"],
    ["- `b`", "b: `b` exits 0"],
    ["- `b` exits 0", "b exits 0: `b` exits 0"],
    ["- a: b c", `a: b c: ${ASSUMED}`],
    ["- a\n  goes on: `b`", "a goes on: `b` exits 0"],
  ])("%j is %j", (item, text) => {
    expect(read(`## Criteria\n${item}\n`)).toEqual([text]);
  });

  test("a long criterion has a short name, and a judge is asked all of it", () => {
    const long = `the page ${"really ".repeat(20)}renders`;
    const shape = parseShapeFile(`## Criteria\n- ${long} (observation)\n`, NONE);
    expect(shape).toMatchObject({ criteria: [{ check: { kind: "judge", question: long } }] });
    expect(shape.kind === "ok" && shape.criteria[0]?.name.length).toBeLessThanOrEqual(60);
  });

  test("a known phrase finds its command where the project has one", () => {
    expect(read("## Criteria\n- tests pass\n", NODE)).toEqual([COMMAND]);
    expect(read("## Criteria\n- tests pass: assumption\n", NODE)).toEqual([`tests pass: ${ASSUMED}`]);
    expect(read("## Criteria\n- lint is clean\n", NODE)).toEqual([`lint is clean: ${ASSUMED}`]);
  });
});

describe("B5 SHAPE.md as YAML", () => {
  test("keys in the front matter", () => {
    const text = `---
title: login
criteria:
  - tests pass
  - "UI renders"
  - name: cov
    command: npm run -s cov >= 80
    verification: measurement
mustNot: [delete files, "touch main"]
verification:
  UI renders: observation
  tests pass: execution output
---
# Text
- not an item
`;
    expect(read(text, NODE)).toEqual([
      COMMAND,
      "UI renders: a second agent looks (weaker): UI renders",
      "cov: `npm run -s cov` prints a number >= 80",
      "never delete files: null",
      "never touch main: null",
    ]);
  });

  test("verification in the order of the criteria, and a fence of YAML", () => {
    const text =
      "```yaml\ncriteria:\n- a\n- b\nverification: [observation, code review]\n```\n```js\ncriteria:\n- c\n```";
    expect(read(text)).toEqual([
      "a: a second agent looks (weaker): a",
      "b: a second agent reads the code (weaker): b",
    ]);
  });
});

describe("B5 what is wrong is said with its line", () => {
  test.each([
    ["", "SHAPE.md has no criteria"],
    ["just text\n- a list", "SHAPE.md has no criteria"],
    ["## Criteria\n- a\n- a\n", 'line 3: "a" appears twice'],
    ["## Must not\n- a\n- a\n", 'line 3: "a" appears twice'],
    ["## Criteria\n- a\n## Verification\n- a: hope\n", 'line 4: "hope" is not a way to verify'],
    [
      "## Criteria\n- a\n## Verification\n- b: observation\n",
      'line 4: "b: observation" belongs to no criterion',
    ],
    [
      "## Criteria\n- a\n## Verification\n- observation\n- review\n",
      'line 5: "review" belongs to no criterion',
    ],
    ["criteria:\n- name: a\n  verification: hope\n", 'line 2: "hope" is not a way to verify'],
    ["## Criteria\n- a: `b`\n## Verification\n- a: measurement\n", 'line 2: "a" is a measurement without'],
    ["## Criteria\n- a: `b >=80`\n", "line 2: "],
    ["## Must not\n- a: `b` >= 3\n", "line 2: a must-not item takes a command without a comparison"],
    ["## Criteria\n- __proto__: `b`\n", "line 2: the name __proto__"],
    [`## Criteria\n- ${"x".repeat(2000)}\n`, "line 2: the file is too large"],
    [
      `## Criteria\n${Array.from({ length: 201 }, (_, i) => `- c${i}`).join("\n")}`,
      "line 202: the file is too large",
    ],
  ])("%j", (text, message) => {
    expect(read(text)).toContain(message);
  });

  test("any text has an answer, in one line", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "## Criteria\n",
        "## Must not\n",
        "## Verification\n",
        "- ",
        "`",
        ": ",
        "\n",
        "a",
        "observation",
        ">= 3",
        "  ",
        "---\n",
        "criteria:\n",
      ),
      fc.string({ unit: "grapheme", maxLength: 10 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const shape = parseShapeFile(pieces.join(""), NODE);
        if (shape.kind === "invalid") expect(shape.message).toMatch(/^SHAPE\.md .*\.$/);
        else expect(new Set(shape.criteria.map(({ name }) => name)).size).toBe(shape.criteria.length);
      }),
      { numRuns: 500 },
    );
  });
});
