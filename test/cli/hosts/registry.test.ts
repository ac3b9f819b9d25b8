/** D8, D12: the registry of tasks from the command line. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  markBlockedCommand,
  markCompleteCommand,
  nextTaskCommand,
  type RegisterFlags,
  registerTaskCommand,
} from "../../../src/cli/hosts/registry.ts";
import type { BacklogTerms } from "../../../src/core/backlog/backlog.ts";
import { addBacklog } from "../../../src/engine/backlogs/backlogs.ts";
import { loadPrd } from "../../../src/store/files/prd-file.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { goalCreation, newGoal } from "../../store/fixtures/goals.ts";
import { creation, idOf, newTask } from "../../store/fixtures/tasks.ts";
import { aJob } from "../../support/goals/goals.ts";
import { listen } from "../../support/spoken.ts";

afterEach(() => void vi.unstubAllEnvs());

function setUp(prd?: object | string) {
  const root = mkdtempSync(join(tmpdir(), "loop registry "));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const path = join(root, ".loop", "prd.json");
  if (prd !== undefined) {
    mkdirSync(join(root, ".loop"));
    writeFileSync(path, typeof prd === "string" ? prd : JSON.stringify(prd));
  }
  const io = listen();
  const flags = { project: root };
  const json = { ...flags, json: true };
  const answer = <T>(): T => JSON.parse(io.stdout.splice(0).join("")) as T;
  const register = (words: readonly string[], more: RegisterFlags = {}) =>
    registerTaskCommand(words, { ...flags, ...more }, io);
  const stories = () => loadPrd(root)?.prd.stories ?? [];
  return { root, path, io, flags, json, answer, register, stories };
}

const TWO = {
  userStories: [
    { id: "US-001", title: "Store it" },
    { id: "US-002", title: "Show it", dependsOn: ["US-001"] },
  ],
};

describe("D12 register-task", () => {
  test("writes the story into prd.json and says so", async () => {
    const { io, register, stories } = setUp();
    expect(await register(["Store", "it"])).toBe(0);
    const more = {
      description: "As a user",
      criterion: ["It shows", "It stays"],
      check: ["tests=npm test", "cov=npm run -s cov >= 80"],
      dependsOn: ["us-001"],
      priority: "2",
      depth: "thorough",
    };
    await register(["UI-7", "Show it"], more);
    await register(["Both"], { dependsOn: ["US-001, UI-7"] });
    expect(io.stdout).toEqual([
      "Registered US-001: Store it.",
      "Registered UI-7: Show it. It waits for US-001.",
      "Registered US-002: Both. It waits for US-001, UI-7.",
    ]);
    expect(stories()[1]).toMatchObject({
      id: "UI-7",
      title: "Show it",
      description: "As a user",
      acceptanceCriteria: ["It shows", "It stays"],
      checks: ["tests=npm test", "cov=npm run -s cov >= 80"],
      dependsOn: ["US-001"],
      priority: 2,
      depth: "thorough",
    });
  });

  test.each([
    [["US-007", "Log in"], "US-007", "Log in"],
    [["t_12", "Log", "in"], "t_12", "Log in"],
    [["login", "Add a login"], "login", "Add a login"],
    [["Add", "login"], "US-001", "Add login"],
    [["Add a login"], "US-001", "Add a login"],
    [["Add", "a", "login page"], "US-001", "Add a login page"],
  ])("%j: the id is %s, the title %s", async (words, id, title) => {
    const { register, stories } = setUp();
    await register(words);
    expect(stories()).toMatchObject([{ id, title }]);
  });

  test("--json: the story and where the backlog stands", async () => {
    const { register, answer } = setUp(TWO);
    await register(["More"], { json: true });
    expect(answer()).toEqual({
      story: {
        id: "US-003",
        title: "More",
        description: "",
        acceptanceCriteria: [],
        checks: [],
        priority: null,
        dependsOn: [],
        passes: false,
        notes: "",
        rejections: 0,
        blocked: false,
        depth: null,
        tier: null,
        status: "open",
      },
      progress: { total: 3, passed: 0, blocked: 0, open: 3 },
    });
  });

  test.each<[readonly string[], RegisterFlags, RegExp]>([
    [[], {}, /^A story needs a title\.$/],
    [["US-001"], {}, /^A story needs a title\.$/],
    [[" "], {}, /^A story needs a title\.$/],
    [["x"], { priority: "high" }, /^--priority "high" is not a whole number of 1 or more\.$/],
    [["x"], { priority: "1e300" }, /is not a priority/],
    [["x"], { depth: "deep" }, /^--depth "deep" is not known; write one of: quick, standard, thorough\.$/],
    [["x"], { check: ["npm test"] }, /^--check 'npm test' has no "="/],
    [["x"], { check: ["a=true", "a=true"] }, /^There are two checks with the name "a"\.$/],
    [["x"], { criterion: [""] }, /^A criterion is empty\.$/],
    [["x"], { dependsOn: [","] }, /^--depends-on has an empty id/],
    [["x"], { dependsOn: ["US-009"] }, /^US-001 depends on US-009, which does not exist\.$/],
  ])("H5 %j %j is one sentence and makes no .loop", async (words, more, sentence) => {
    const { root, register } = setUp();
    await expect(register(words, more)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(sentence),
    });
    expect(existsSync(join(root, ".loop"))).toBe(false);
  });

  test("H5 an id that is taken is refused, with what it is", async () => {
    const { path, register } = setUp(TWO);
    await expect(register(["US-002", "Other"])).rejects.toMatchObject({
      code: "usage",
      message: "The story US-002 exists already: Show it.",
      hint: "See: loop help register-task",
    });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(TWO);
  });
});

describe("D12 mark-complete and mark-blocked", () => {
  test("the life of two stories", async () => {
    const { io, flags, json, answer, stories } = setUp(TWO);
    expect(await markBlockedCommand("us-001", { ...flags, reason: "no key" }, io)).toBe(0);
    expect(io.stdout.splice(0)).toEqual([
      "Marked US-001 blocked: Store it. To undo: loop mark-blocked US-001 --undo",
    ]);
    expect(stories()[0]).toMatchObject({ blocked: true, notes: "[BLOCKED] no key" });
    await markBlockedCommand("US-001", { ...flags, undo: true }, io);
    expect(io.stdout.splice(0)).toEqual(["Unblocked US-001: Store it."]);
    await markCompleteCommand("US-001", flags, io);
    expect(io.stdout.splice(0)).toEqual(["Marked US-001 complete: Store it. 1 of 2 stories have passed."]);
    await markCompleteCommand("US-002", json, io);
    expect(answer()).toMatchObject({ story: { status: "passed" }, progress: { passed: 2, open: 0 } });
    await expect(markCompleteCommand("US-002", flags, io)).rejects.toMatchObject({
      code: "usage",
      message: "US-002 has passed already.",
    });
  });

  test("H5 an unknown id names the known ones; two flags that contradict each other are refused", async () => {
    const { io, flags } = setUp(TWO);
    await expect(markBlockedCommand("US-009", flags, io)).rejects.toMatchObject({
      code: "usage",
      message: 'There is no story "US-009".',
      hint: "Stories: US-001, US-002",
    });
    const both = { ...flags, undo: true, reason: "x" };
    await expect(markBlockedCommand("US-001", both, io)).rejects.toMatchObject({ code: "usage" });
  });

  test("C2 a backlog with a fault is refused by name, as broken surroundings", async () => {
    const { io, flags, path } = setUp({ userStories: [{ id: "A", title: "a", dependsOn: ["A"] }] });
    for (const command of [markCompleteCommand("A", flags, io), nextTaskCommand(flags, io)])
      await expect(command).rejects.toMatchObject({
        code: "surroundings",
        message: `${path}: A depends on itself.`,
        hint: "Fix the file; it was not changed.",
      });
  });

  test("C2 a file that does not parse stops every command at once and stays", async () => {
    const { io, flags, path, register } = setUp('{"userStories":[{"id":"A"}]}');
    for (const command of [register(["x"]), markCompleteCommand("A", flags, io), nextTaskCommand(flags, io)])
      await expect(command).rejects.toMatchObject({
        code: "surroundings",
        message: `${path}: userStories[0].title: it is missing.`,
      });
    expect(readFileSync(path, "utf8")).toBe('{"userStories":[{"id":"A"}]}');
  });
});

describe("D12 next-task", () => {
  test("C3 C15 shows what is next and changes nothing; holdouts are shown to nobody", async () => {
    const first = {
      id: "US-001",
      title: "Store\u001b[31m it",
      description: "As a user",
      acceptanceCriteria: ["It stays"],
      checks: ["tests=npm test"],
      depth: "quick",
      notes: "[REJECTED] no test\n",
      holdouts: ["a secret"],
    };
    const { io, flags, json, answer, path } = setUp({ userStories: [TWO.userStories[1], first] });
    const before = readFileSync(path, "utf8");
    expect(await nextTaskCommand(flags, io)).toBe(0);
    expect(io.stdout.splice(0).join("\n").split("\n")).toEqual([
      "US-001: Store it",
      "  As a user",
      "  Depth: quick",
      "  - It stays",
      "  Check: tests=npm test",
      "  [REJECTED] no test",
    ]);
    expect(await nextTaskCommand(json, io)).toBe(0);
    const next = answer<{ story: object }>();
    expect(next).toMatchObject({
      story: { id: "US-001", status: "open" },
      reason: null,
      progress: { total: 2 },
    });
    expect(next.story).not.toHaveProperty("holdouts");
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  const all = (fields: object) => ({
    userStories: TWO.userStories.map((story) => ({ ...story, ...fields })),
  });
  test.each([
    [{ userStories: [] }, "There are no stories.", [], []],
    [all({ passes: true }), "All 2 stories have passed.", [], []],
    [
      all({ blocked: true }),
      "All 2 remaining stories are blocked: US-001, US-002.",
      ["US-001", "US-002"],
      [],
    ],
    [
      { userStories: [{ ...TWO.userStories[0], blocked: true }, TWO.userStories[1]] },
      "No story can start: US-002 waits for US-001; blocked: US-001.",
      ["US-001"],
      [{ id: "US-002", waitsFor: ["US-001"] }],
    ],
  ])("C16 nothing is left of %j: exit 3 and why", async (prd, reason, blocked, waiting) => {
    const { io, flags, json, answer } = setUp(prd);
    expect(await nextTaskCommand(flags, io)).toBe(3);
    expect([io.stdout, io.stderr]).toEqual([[], [reason]]);
    expect(await nextTaskCommand(json, io)).toBe(3);
    expect(answer()).toMatchObject({ story: null, reason, blocked, waiting });
  });

  test("H5 no prd.json is wrong use, and makes none", async () => {
    const { root, io, flags } = setUp();
    await expect(nextTaskCommand(flags, io)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(/^There are no stories here: .*prd\.json is missing\.$/),
      hint: 'Add a story: loop register-task "<title>"',
    });
    expect(existsSync(join(root, ".loop"))).toBe(false);
  });
});

describe("the agent never decides that it is done", () => {
  test.each([
    ["a goal", `${idOf(1)}-4`, `a turn of goal ${idOf(1)}`],
    ["a task, or of another project", "a1b2c3d4-123", "a turn of a loop"],
  ])("D8 B7 a turn of %s cannot mark anything", async (_, fire, where) => {
    const { root, io, flags, register, stories } = setUp(TWO);
    const store = new FolderStore(ensureLoopDir(root), { now: Date.now, say: () => {} });
    await store.commit(goalCreation(newGoal(idOf(1))));
    vi.stubEnv("LOOP_FIRE_ID", fire);
    const commands = [
      [markCompleteCommand("US-001", flags, io), "mark a story complete"],
      [markBlockedCommand("US-001", flags, io), "mark a story blocked"],
      [markBlockedCommand("US-001", { ...flags, undo: true }, io), "unblock a story"],
    ] as const;
    for (const [command, what] of commands)
      await expect(command).rejects.toMatchObject({
        code: "usage",
        message: `Only a person can ${what}: this was called from inside ${where}.`,
      });
    expect(stories()).toMatchObject([{ passes: false, blocked: false }, { passes: false }]);
    expect(await nextTaskCommand(flags, io)).toBe(0);
    expect(await register(["Found on the way"])).toBe(0);
  });

  test("D8 nor can a process of a turn that has cleaned its environment", async () => {
    const process_ = { pid: process.ppid, start: null };
    const fire = { ...aFire(), process: process_ };
    for (const commit of [
      goalCreation(newGoal(idOf(1), { job: aJob({ process: process_ }) })),
      creation(newTask(idOf(2), { fire })),
    ]) {
      const { root, io, flags, stories } = setUp(TWO);
      const store = new FolderStore(ensureLoopDir(root), { now: Date.now, say: () => {} });
      await store.commit(commit);
      await expect(markCompleteCommand("US-001", flags, io)).rejects.toThrow(/^Only a person can mark/);
      expect(stories()[0]?.passes).toBe(false);
    }
  });
});

test("C5 while the backlog is run nothing in it is changed: it would be put back", async () => {
  const { root, io, flags, register, stories } = setUp(TWO);
  const store = new FolderStore(ensureLoopDir(root), { now: Date.now, say: () => {} });
  await addBacklog(store, {} as BacklogTerms, stories(), null, Date.now(), () => "0badcafe");
  const before = stories();
  for (const command of [register(["one more"]), markCompleteCommand("US-001", flags, io)])
    await expect(command).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("The backlog is running (0badcafe)"),
    });
  expect(stories()).toEqual(before);
});

function aFire() {
  return {
    id: "00000002-1" as never,
    slot: 1,
    dueAt: 1,
    kind: "scheduled",
    token: 1,
    intendedAt: 1,
    startedAt: 1,
    wakeup: null,
  } as const;
}
