/** C2: backlogs of other tools. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { archiveName } from "../../../src/core/backlog/prd/archive.ts";
import { importPrdMarkdown } from "../../../src/core/backlog/prd/import-prd-md.ts";
import { type ImportResult, importRalph } from "../../../src/core/backlog/prd/import-ralph.ts";
import { parsePrd } from "../../../src/schema/prd.ts";
import { aStory } from "./story-samples.ts";

function taken(result: ImportResult) {
  if (result.kind === "refused") throw new Error(result.message);
  const parsed = parsePrd(result.content);
  if (parsed.kind === "invalid") throw new Error(parsed.message);
  return { ...result, prd: parsed.prd };
}

describe("C2 Ralph's prd.json", () => {
  test("its stories with fewer fields, and its header", () => {
    const { prd, remarks } = taken(
      importRalph({
        project: "MyApp",
        branchName: "ralph/priorities",
        description: "Priorities",
        userStories: [
          {
            id: "US-001",
            title: "Store it",
            acceptanceCriteria: ["Migrates"],
            priority: 1,
            passes: true,
            notes: "",
          },
          { id: "US-002", title: "Show it", priority: 2, passes: false },
        ],
      }),
    );
    expect([prd.project, prd.branchName, remarks]).toEqual(["MyApp", "ralph/priorities", []]);
    expect(prd.stories).toEqual([
      aStory("US-001", { title: "Store it", acceptanceCriteria: ["Migrates"], priority: 1, passes: true }),
      aStory("US-002", { title: "Show it", priority: 2 }),
    ]);
  });

  test.each<[string, unknown, object, readonly string[]]>([
    [
      "numbers as ids",
      { id: 7, title: "x", dependencies: [] },
      { id: "7" },
      ["The field dependencies was read as dependsOn."],
    ],
    ["dependsOn of numbers", { id: "A", title: "x", dependsOn: ["A-0", 3] }, { dependsOn: ["A-0", "3"] }, []],
    [
      "other names",
      { id: "A", name: "x", blocked_by: "B", criteria: "- [ ] one\n* two\n" },
      { title: "x", dependsOn: ["B"], acceptanceCriteria: ["one", "two"] },
      [
        "The field name was read as title.",
        "The field criteria was read as acceptanceCriteria.",
        "The field blocked_by was read as dependsOn.",
      ],
    ],
    [
      "a feature without id and title",
      {
        category: "functional",
        description: "Log in\nwith a password",
        steps: ["Open", "Type"],
        passes: false,
      },
      { id: "US-001", title: "Log in", acceptanceCriteria: ["Open", "Type"] },
      ["The field steps was read as acceptanceCriteria.", "Stories without an id got a number."],
    ],
  ])("%s", (_, story, fields, remarks) => {
    const result = taken(importRalph([story]));
    expect(result.prd.stories[0]).toMatchObject(fields);
    expect(result.remarks).toEqual(remarks);
  });

  test("keys that we do not know stay", () => {
    const { content } = taken(importRalph({ team: 3, tasks: [{ id: "A", title: "a", estimate: 5 }] }));
    expect(content).toEqual({ team: 3, userStories: [{ id: "A", title: "a", estimate: 5 }] });
  });

  test.each<[unknown, string]>([
    [null, "it has no list of stories; name it userStories, stories, tasks or features"],
    [{ userStories: {} }, "it has no list of stories; name it userStories, stories, tasks or features"],
    [{ userStories: [] }, "its list of stories is empty"],
    [[{ title: "x" }, "y"], "story 2 is not an object"],
  ])("H5 %j is refused", (content, message) => {
    expect(importRalph(content)).toEqual({ kind: "refused", message });
  });

  test("H5 anything at all has an answer", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (content) => {
        const result = importRalph(content);
        if (result.kind === "ok") expect(result.content.userStories.length).toBeGreaterThan(0);
      }),
    );
  });
});

const PRD_MD = `# PRD: Login

Users can log in.

## Tasks

### T-001: Store the user
<!-- id: T-001, blockedBy: [], parallel: true -->
As a developer I store it.

- [ ] Migration runs
- [x] \`npm test\` passes <!-- twice -->

\`\`\`md
### T-999: an example
- [ ] not a criterion
\`\`\`

### T-002: Show the login
<!--
id: T-002
blockedBy: [T-001]
parallel: false
-->
- [x] It shows

#### Notes
Small.

### T-003 - Both
<!-- {"id":"T-003","blockedBy":["T-001","T-002"]} -->

## Later
- [ ] not of a task
`;

describe("C2 PRD.md with tasks", () => {
  test("heading, comment, text and criteria; their order is the priority", () => {
    const { prd, remarks } = taken(importPrdMarkdown(PRD_MD));
    expect([prd.project, prd.content.description]).toEqual(["Login", "Users can log in."]);
    expect(remarks).toEqual([
      "The field parallel is kept but not used; dependsOn decides which stories run in parallel.",
    ]);
    expect(prd.stories).toEqual([
      aStory("T-001", {
        title: "Store the user",
        description: "As a developer I store it.\n\n```md\n### T-999: an example\n- [ ] not a criterion\n```",
        acceptanceCriteria: ["Migration runs", "`npm test` passes"],
        priority: 1,
      }),
      aStory("T-002", {
        title: "Show the login",
        description: "Small.",
        acceptanceCriteria: ["It shows"],
        priority: 2,
        dependsOn: ["T-001"],
        passes: true,
      }),
      aStory("T-003", { title: "Both", priority: 3, dependsOn: ["T-001", "T-002"] }),
    ]);
    expect(prd.content.userStories.map(({ parallel }) => parallel)).toEqual([true, false, undefined]);
  });

  test.each([
    ["blockedBy: T-001, T-002", ["T-001", "T-002"]],
    ["id: T-3 | blockedBy: T-001 | parallel: yes", ["T-001"]],
    ["blocked_by=T-001; parallel=no", ["T-001"]],
    ['blockedBy: ["T-001", "T-002"]', ["T-001", "T-002"]],
    ["blockedBy: none", []],
    ["dependsOn: T-002", ["T-002"]],
    ["see the design: page 3", []],
  ])("the comment %s", (comment, dependsOn) => {
    const { prd } = taken(importPrdMarkdown(`### T-3: x\r\n<!-- ${comment} -->\r\n`));
    expect(prd.stories[0]?.dependsOn).toEqual(dependsOn);
  });

  test.each([
    ["# Only words", 'it has no task; write headings such as "### T-001: Store the user"'],
    ["### T-001:", "T-001 in line 1 has no title"],
    ["\n### T-001: x\n<!-- id: T-002 -->", "T-001 in line 2 has the id T-002 in its comment"],
    ["### T-001: x\n<!-- id: T-001", "the comment in line 2 has no end"],
    [
      "### T-001: x\n<!-- {id: 1} -->",
      'the comment of T-001 in line 1 is neither JSON nor "key: value" pairs',
    ],
    [
      "### T-001: x\n<!-- parallel: maybe -->",
      "T-001 in line 1 has parallel: maybe, which is neither true nor false",
    ],
  ])("H5 %j is refused by name", (text, message) => {
    expect(importPrdMarkdown(text)).toEqual({ kind: "refused", message });
  });

  test("H5 anything at all has an answer", () => {
    const piece = fc.constantFrom(
      "### T-1: a\n",
      "<!--",
      "-->",
      "id: T-1",
      "- [ ] c\n",
      "```\n",
      "# x\n",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
        expect(["ok", "refused"]).toContain(importPrdMarkdown(pieces.join("")).kind);
      }),
    );
  });
});

describe("C10 the name of an archive", () => {
  const at = Date.UTC(2026, 10, 5, 23, 59);
  test.each([
    ["loop/login", 1, "2026-11-05-loop-login"],
    ["../../etc", 1, "2026-11-05-etc"],
    ["", 2, "2026-11-05-backlog-2"],
    [null, 1, "2026-11-05-backlog"],
    ["ünï", 1, "2026-11-05-n"],
  ])("of %j, number %d", (branch, count, name) => {
    expect(archiveName(branch, at, count)).toBe(name);
  });

  test("H4 is a plain name whatever the branch is called", () => {
    fc.assert(
      fc.property(fc.string(), (branch) => {
        expect(archiveName(branch, at)).toMatch(/^2026-11-05-[A-Za-z0-9_][A-Za-z0-9._-]*$/);
      }),
    );
  });
});
