/** D12 `loop setup-loop | teardown-loop`: a goal bound to a conversation by hand, through the real command. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/goal/goal.ts";
import type { SessionRecord } from "../../../src/ports/sessions.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { createSessions } from "../../../src/store/folder/session-records.ts";
import { procStart } from "../../../src/system/process.ts";
import { goalCreation, newGoal } from "../../store/fixtures/goals.ts";
import { idOf } from "../../store/fixtures/tasks.ts";
import { hashTree, loopJson, makeProject, runLoop } from "../../support/cli.ts";
import { CHECK, SPEC } from "../../support/goals/goal-cli.ts";
import { aJob, START } from "../../support/goals/goals.ts";
import { runHere } from "../../support/here.ts";

const HERE = { pid: process.pid, start: procStart(process.pid) };
/** A client that was there. */
const GONE = { pid: spawnSync("true").pid, start: "then" };
const SETUP = ["setup-loop", "--session", "s1", ...CHECK] as const;
const ID = idOf(1);
const TURN = `${ID}-2`;

interface GoalJson {
  readonly id: string;
  readonly session: string | null;
  readonly status: string;
  readonly limits: { readonly iterations: number };
}

function recordOf(loopId: string, client: SessionRecord["client"]): SessionRecord {
  const turn = {
    id: TURN,
    loopId,
    token: 1,
    deliveredAt: START,
    promptId: "p1",
    toolCalls: 3,
    end: null,
  };
  return {
    version: 1,
    session: "s1",
    client,
    transcript: null,
    state: "busy",
    promptId: "p1",
    ...{
      isSomeoneWaiting: false,
      taken: 0,
      blocks: 2,
      turn,
      spans: [],
      directive: null,
      offset: 4,
      said: "x",
    },
  } as const;
}

/** A goal whose turn is in a conversation; its client is gone unless it is said. */
async function withTurn(client: SessionRecord["client"] = GONE) {
  const cwd = makeProject();
  const dir = ensureLoopDir(cwd);
  const store = new FolderStore(dir, { now: Date.now, say: () => {} });
  const job = aJob({ id: TURN as JobId, process: client });
  await store.commit(goalCreation(newGoal(ID, { session: "session:s1", job, jobs: 2 })));
  createSessions(dir).write(recordOf(ID, client));
  return { cwd, dir, store };
}

describe("D12 setup-loop", () => {
  test("makes a goal of that conversation, with the flags of until, and runs nothing", async () => {
    const cwd = makeProject();
    const { code, stdout, stderr } = await runHere([...SETUP, "--iterations", "3", SPEC], { cwd });
    expect(code).toBe(0);
    const id = /^Goal ([0-9a-f]+)\./.exec(stdout)?.[1];
    expect(stdout).toContain("The goal is bound to session:s1. It continues when that conversation stops.\n");
    expect(stderr).toContain("No open conversation with this id");
    const goal = await loopJson<GoalJson>(["status"], { cwd });
    expect(goal).toMatchObject({
      id,
      session: "session:s1",
      status: "in_progress",
      limits: { iterations: 3 },
    });
    expect(await loopJson(["route"], { cwd })).toMatchObject({ decision: "go-on", loop: id, session: "s1" });
  });

  test("as JSON it is one object, and an agent need not be there", async () => {
    const cwd = makeProject();
    const made = await loopJson(["setup-loop", "--session", "session:s2", ...CHECK, "--detach", SPEC], {
      cwd,
    });
    expect(made).toEqual({
      type: "loop.created",
      loop: expect.stringMatching(/^[0-9a-f]{8}$/),
      session: "session:s2",
    });
  });

  test("B2 a vague spec and a dry run make nothing", async () => {
    const cwd = makeProject();
    expect((await runHere(["setup-loop", "--session", "s1", "improve it"], { cwd })).code).toBe(5);
    const { code, stdout } = await runHere([...SETUP, "--dry-run", SPEC], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain("Would start");
    expect(stdout).not.toContain("It is bound");
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test.each([
    ["no session", ["setup-loop", ...CHECK, SPEC]],
    ["a session that leads elsewhere", ["setup-loop", "--session", "../s1", ...CHECK, SPEC]],
    ["a flag that is about running it", [...SETUP, "--notify-cmd", "true", SPEC]],
    ["no spec", ["setup-loop", "--session", "s1"]],
  ])("F1 refuses %s and makes nothing", async (_what, args) => {
    const cwd = makeProject();
    const { code, stdout, stderr } = await runLoop(args, { cwd });
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toMatch(/^loop: [^\n]+\n(?: {2}[^\n]+\n)?$/);
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("B19 not from inside a turn", async () => {
    const cwd = makeProject();
    const { code, stderr } = await runHere([...SETUP, SPEC], { cwd, env: { LOOP_FIRE_ID: "a1-2" } });
    expect({ code, stderr }).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("Only a person can set"),
    });
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });
});

describe("D12 teardown-loop", () => {
  test("cancels the goal, keeps its state and takes the turn out of the conversation", async () => {
    const { cwd, dir, store } = await withTurn();
    const { code, stdout } = await runHere(["teardown-loop"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`Cancelled goal ${ID}. Its state is kept`);
    expect(stdout).toContain(`Removed turn ${TURN} from session:s1.`);
    expect(createSessions(dir).read("s1")).toEqual({
      ...recordOf(ID, GONE),
      turn: null,
    });
    await store.catchUp();
    expect(store.load(ID)).toMatchObject({ status: "ended", job: null, end: { status: "cancelled" } });
    expect((await runHere(["report", ID], { cwd })).stdout).toContain(ID);
    expect(await loopJson(["route"], { cwd })).toMatchObject({ row: "ended", word: "CANCELLED" });
  });

  test("the turn of another loop stays where it is", async () => {
    const { cwd, dir } = await withTurn();
    createSessions(dir).write(recordOf(idOf(2), HERE));
    const answer = await loopJson(["teardown-loop", ID], { cwd });
    expect(answer).toMatchObject({ id: ID, status: "cancelled", forgotten: null, session: "session:s1" });
    expect(createSessions(dir).read("s1")?.turn?.loopId).toBe(idOf(2));
  });

  test("an open conversation that nobody acts for just now is not waited for", async () => {
    const { cwd, dir, store } = await withTurn(GONE);
    createSessions(dir).write(recordOf(ID, HERE));
    expect(await loopJson(["teardown-loop"], { cwd })).toMatchObject({
      status: "cancelled",
      forgotten: TURN,
    });
    expect(createSessions(dir).read("s1")).toMatchObject({ turn: null, client: HERE });
    expect(store.lease()).toBeNull();
  });

  test("a conversation that leads is left to keep its own record", async () => {
    const { cwd, dir, store } = await withTurn();
    const lease = { owner: "session:s1", pid: HERE.pid, procStart: HERE.start, host: hostname() };
    await store.acquire({ ...lease, acquiredAt: Date.now() }, store.lastToken());
    expect(await loopJson(["teardown-loop"], { cwd })).toMatchObject({ status: "cancelled" });
    expect(createSessions(dir).read("s1")?.turn?.id).toBe(TURN);
  });

  test("B19 not from inside the turn, whose client is among those who started it", async () => {
    const { cwd } = await withTurn(HERE);
    const before = hashTree(cwd);
    for (const env of [{}, { LOOP_FIRE_ID: TURN }]) {
      // a process of its own: the turn's client must be its ancestor
      const { code, stderr } = await runLoop(["teardown-loop"], { cwd, env });
      expect({ code, stderr }).toMatchObject({
        code: 64,
        stderr: expect.stringContaining("Only a person can tear"),
      });
    }
    expect(hashTree(cwd)).toBe(before);
  });

  test.each([[[]], [["ffff"]]])(
    "F1 %j where there is no such goal: one sentence, nothing made",
    async (words) => {
      const cwd = makeProject();
      const { code, stderr } = await runHere(["teardown-loop", ...words], { cwd });
      expect(code).toBe(64);
      expect(stderr).toMatch(/^loop: [^\n]+\n(?: {2}[^\n]+\n)?$/);
      expect(existsSync(join(cwd, ".loop"))).toBe(false);
    },
  );
});
