/** D12 `loop route`: what would become of a stop, told by the real command, with the folder as it was afterwards. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Goal, JobId } from "../../../src/core/goal/goal.ts";
import type { Fire, FireId } from "../../../src/core/loop.ts";
import type { SessionRecord } from "../../../src/ports/sessions.ts";
import type { Commit } from "../../../src/ports/store.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { createSessions } from "../../../src/store/folder/session-records.ts";
import { procStart } from "../../../src/system/process.ts";
import { goalCreation, newGoal } from "../../store/fixtures/goals.ts";
import { creation, idOf, newTask } from "../../store/fixtures/tasks.ts";
import { hashTree, makeProject, type RunOptions } from "../../support/cli.ts";
import { aJob, START } from "../../support/goals/goals.ts";
import { runHere } from "../../support/here.ts";

const HERE = { pid: process.pid, start: procStart(process.pid) };
const ID = idOf(1);
const OURS = { session: "session:s1" } as const;

interface RouteJson {
  readonly decision: "allow" | "go-on";
  readonly row: string;
  readonly word: string | null;
  readonly message: string | null;
  readonly loop: string | null;
  readonly session: string | null;
  readonly next: { readonly kind: string; readonly text: string } | null;
  readonly facts: Readonly<Record<string, unknown>>;
}

async function setUp(...goals: readonly Goal[]) {
  const cwd = makeProject();
  const dir = ensureLoopDir(cwd);
  const store = new FolderStore(dir, { now: Date.now, say: () => {} });
  for (const goal of goals) await store.commit(goalCreation(goal));
  return { cwd, dir, store };
}

const goal = (fields: Partial<Goal> = {}) => newGoal(ID, { ...OURS, ...fields });

/** Everything in and around the project, with the moments at which folders changed: a lock would be seen. */
function stateOf(cwd: string): object {
  const at = (path: string) => statSync(path, { throwIfNoEntry: false, bigint: true })?.mtimeNs;
  return {
    tree: hashTree(dirname(cwd)),
    moments: [cwd, join(cwd, ".loop"), join(cwd, ".loop", "sessions")].map(at),
  };
}

async function textOf(cwd: string, args: readonly string[] = [], env: RunOptions["env"] = {}) {
  const before = stateOf(cwd);
  const result = await runHere(["route", ...args], { cwd, env });
  expect(stateOf(cwd), "nothing is changed").toEqual(before);
  return result;
}

async function routeOf(cwd: string, args: readonly string[] = [], env: RunOptions["env"] = {}) {
  const { code, stdout, stderr } = await textOf(cwd, [...args, "--json"], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as RouteJson;
}

function recordOf(fields: Partial<SessionRecord> = {}): SessionRecord {
  return {
    version: 1,
    session: "s1",
    client: HERE,
    transcript: null,
    state: "idle",
    promptId: "p1",
    isSomeoneWaiting: false,
    taken: 0,
    blocks: 0,
    turn: null,
    spans: [],
    directive: null,
    offset: 0,
    said: null,
    ...fields,
  };
}

const TURN = {
  id: `${ID}-2`,
  loopId: ID,
  token: 1,
  deliveredAt: START,
  promptId: "p1",
  toolCalls: 0,
  end: null,
} as const;

function aFire(token: number): Fire {
  const id = `${idOf(2)}-1` as FireId;
  const when = { slot: START, dueAt: START, intendedAt: START, startedAt: START };
  return { ...when, id, token, kind: "scheduled", process: null, wakeup: null };
}

const pause = { code: "budget", reason: "$25 are used", goOn: `loop continue ${ID}` } as const;
const gate = { kind: "G1", question: "Proceed?", details: [], askedAt: START, answerBy: null } as const;
const cancelled = { status: "cancelled", reason: "not needed", verdict: null, notes: [], at: START } as const;
const LATER = Date.UTC(2100, 0, 1);

describe("D12 D3 the row that decides", () => {
  test.each<[string, Partial<Goal>, readonly string[], string, string | null]>([
    ["a goal of another session", { session: "session:s2" }, ["--session", "s1"], "not this session's", null],
    ["a goal of no session", { session: null }, [], "not this session's", null],
    ["one that has ended", { status: "ended", end: cancelled }, [], "ended", "CANCELLED"],
    [
      "one that is paused",
      { status: "paused", pause: { ...pause, evidence: [], at: START } },
      [],
      "paused",
      "BUDGET_EXHAUSTED",
    ],
    ["one that asks", { gate }, [], "waits for an answer", "WAITING"],
    ["one that sleeps", { waitUntil: LATER, waitReason: "quota" }, [], "sleeps", "WAITING"],
  ])("%s: the stop is allowed", async (_what, fields, args, row, word) => {
    const { cwd } = await setUp(goal(fields));
    const route = await routeOf(cwd, args);
    expect(route).toMatchObject({ decision: "allow", row, word, loop: ID, next: null });
    expect(route.message === null).toBe(word === null);
  });

  test("no .loop, and none is made", async () => {
    const cwd = makeProject();
    expect(await routeOf(cwd)).toMatchObject({
      decision: "allow",
      row: "no loop",
      word: null,
      message: null,
      loop: null,
      session: null,
      facts: { broken: null, loop: null, lease: null, conversation: null },
    });
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("A20 loops are switched off here", async () => {
    const { cwd } = await setUp(goal());
    const route = await routeOf(cwd, [], { LOOP_DISABLE_SCHEDULER: "1" });
    expect(route).toMatchObject({ row: "switched off", message: expect.stringContaining("LOOP_DISABLE") });
  });

  test("its own goal at work goes on", async () => {
    const { cwd } = await setUp(goal());
    expect(await routeOf(cwd)).toMatchObject({
      decision: "go-on",
      row: "verify",
      word: null,
      message: null,
      loop: ID,
      session: "s1",
      next: { kind: "turn", text: "iteration 1/10: Find the failing test" },
      facts: { loop: { session: "session:s1", status: "active", isBusy: false } },
    });
  });

  test("a journal that cannot be read lets it go", async () => {
    const { cwd, dir } = await setUp(goal());
    rmSync(join(dir, "journal.jsonl"));
    mkdirSync(join(dir, "journal.jsonl"));
    const route = await routeOf(cwd, ["--session", "s1"]);
    expect(route).toMatchObject({ decision: "allow", row: "broken state", loop: null, session: "s1" });
    expect(route.facts.broken).toMatch(/Cannot read .*journal\.jsonl/);
  });

  test("H2 so does a .loop that came from somewhere else", async () => {
    const { cwd, dir } = await setUp(goal());
    cpSync(dir, `${dir}.copy`, { recursive: true });
    rmSync(dir, { recursive: true });
    cpSync(`${dir}.copy`, dir, { recursive: true });
    writeFileSync(join(dir, "origin"), `${"0".repeat(64)}\n`);
    const route = await routeOf(cwd);
    expect(route).toMatchObject({ decision: "allow", row: "broken state", loop: ID });
    expect(route.message).toContain("loop trust");
  });
});

describe("D12 D6 who holds the lease", () => {
  const held = async (owner: string, fields: Partial<Goal> = {}, holder = HERE) => {
    const made = await setUp(goal(fields));
    const lease = {
      owner,
      pid: holder.pid,
      procStart: holder.start,
      host: hostname(),
      acquiredAt: Date.now(),
    };
    await made.store.acquire(lease, made.store.lastToken());
    return made;
  };

  test.each<[string, (token: number) => Commit]>([
    ["a fire", (token) => creation(newTask(idOf(2), { fire: aFire(token) }))],
    ["a goal of its own", () => goalCreation(newGoal(idOf(2), { createdAt: 0, session: "runner:r1" }))],
  ])("another runner that is at work on %s: LOCK_CONFLICT, with its name", async (_what, work) => {
    const { cwd, store } = await held("runner:r1");
    await store.commit(work(store.lastToken()));
    const route = await routeOf(cwd);
    expect(route).toMatchObject({ decision: "allow", row: "lock conflict", word: "LOCK_CONFLICT" });
    expect(route.message).toContain("runner:r1 works in this folder");
    expect(route.facts).toMatchObject({ otherOwner: "runner:r1", lease: { pid: process.pid, isKept: true } });
  });

  test("another runner that has nothing to do gives it up: it goes on", async () => {
    const { cwd } = await held("runner:r1");
    const lease = { owner: "runner:r1", isKept: false };
    expect(await routeOf(cwd)).toMatchObject({ row: "verify", facts: { otherOwner: null, lease } });
    expect((await textOf(cwd)).stdout).toContain("gives the lease up on request");
  });

  test("this conversation itself, or one whose process is gone: it goes on", async () => {
    const own = await held("session:s1");
    expect(await routeOf(own.cwd)).toMatchObject({ row: "verify", facts: { otherOwner: null } });
    const gone = await held("runner:r1", {}, { pid: process.pid, start: "another boot" });
    expect(await routeOf(gone.cwd)).toMatchObject({
      row: "verify",
      facts: { otherOwner: null, lease: null },
    });
  });

  test("a question is put whoever holds it, as the stop hook does", async () => {
    const { cwd, store } = await held("runner:r1", { gate });
    await store.commit(creation(newTask(idOf(2), { fire: aFire(store.lastToken()) })));
    expect(await routeOf(cwd)).toMatchObject({
      row: "waits for an answer",
      facts: { otherOwner: "runner:r1" },
    });
  });
});

describe("D12 what is known of the conversation", () => {
  test("D2 the person waits, by the record and by the transcript", async () => {
    const { cwd, dir } = await setUp(goal());
    createSessions(dir).write(recordOf({ isSomeoneWaiting: true }));
    expect(await routeOf(cwd)).toMatchObject({ row: "a person waits", facts: { isSomeoneWaiting: true } });
    const transcript = join(dirname(cwd), "transcript.jsonl");
    const queued = { type: "queue-operation", operation: "enqueue", content: "wait" };
    writeFileSync(transcript, `${JSON.stringify(queued)}\n`);
    createSessions(dir).write(recordOf({ transcript }));
    expect(await routeOf(cwd)).toMatchObject({ row: "a person waits" });
    createSessions(dir).write(recordOf({ transcript, offset: readFileSync(transcript).length }));
    expect(await routeOf(cwd)).toMatchObject({ row: "verify", facts: { isSomeoneWaiting: false } });
  });

  test("its own turn: the stop ends it, and the checks are named", async () => {
    const job = aJob({ id: TURN.id as JobId });
    const { cwd, dir } = await setUp(goal({ job, jobs: 2 }));
    createSessions(dir).write(recordOf({ turn: TURN, state: "busy" }));
    expect(await routeOf(cwd)).toMatchObject({
      row: "verify",
      next: { kind: "checks", text: expect.stringMatching(/turn 00000001-2 ends.*tests, lint/) },
      facts: { conversation: { state: "busy", isOpen: true, turn: TURN.id } },
    });
  });

  test("near the client's own limit it is let go, when somebody can wake it", async () => {
    const { cwd, dir } = await setUp(goal());
    createSessions(dir).write(recordOf({ blocks: 7 }));
    expect(await routeOf(cwd)).toMatchObject({ decision: "go-on", facts: { conversation: { blocks: 7 } } });
    writeFileSync(join(dir, "sessions", `monitor-${process.pid}`), JSON.stringify(HERE));
    const route = await routeOf(cwd);
    expect(route).toMatchObject({
      decision: "allow",
      row: "near the client's limit",
      next: { kind: "turn" },
    });
    expect(route.message).toContain("goes on in a moment");
    expect(await routeOf(cwd, [], { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0" })).toMatchObject({ row: "verify" });
  });

  test.each<[string, Partial<Goal>, string, RegExp]>([
    [
      "checks",
      { phase: { kind: "checking", round: "extra", from: { kind: "working" } } },
      "checks",
      /^the engine runs the checks: tests, lint$/,
    ],
    [
      "a look before any work",
      { baseline: null, phase: { kind: "survey", next: "working" } },
      "checks",
      /before any work/,
    ],
    ["a plan", { needsPlan: true, steps: [], phase: { kind: "planning" } }, "turn", /plans the steps/],
    ["a question", { phase: { kind: "approval" } }, "question", /Decomposed into 3 steps/],
    ["a pause, after its warning", { iteration: 10 }, "pause", /10 of 10 iterations/],
    ["a turn, after its warning", { iteration: 8 }, "turn", /^iteration 9\/10/],
  ])("what comes next: %s", async (_what, fields, kind, text) => {
    const { cwd } = await setUp(goal(fields));
    expect((await routeOf(cwd)).next).toEqual({ kind, text: expect.stringMatching(text) });
  });
});

describe("D12 which conversation", () => {
  test("the one that is named, else this one, else that of the newest goal that is bound to one", async () => {
    const [first, second] = [goal(), newGoal(idOf(2), { session: "session:s2", createdAt: START + 1 })];
    const third = newGoal(idOf(3), { createdAt: START + 2 });
    const { cwd } = await setUp(first, second, third);
    expect(await routeOf(cwd)).toMatchObject({ session: "s2", loop: idOf(2) });
    expect(await routeOf(cwd, [], { LOOP_SESSION: "s1" })).toMatchObject({ session: "s1", loop: ID });
    const env = { LOOP_SESSION: "s2" };
    expect(await routeOf(cwd, ["--session", "s1"], env)).toMatchObject({ session: "s1", loop: ID });
    expect(await routeOf(cwd, ["--session", "session:s1"])).toMatchObject({ session: "s1", row: "verify" });
  });

  test.each([["../x"], [""], ["a b"]])("F1 --session %j is refused with one sentence", async (name) => {
    const cwd = makeProject();
    const { code, stdout, stderr } = await textOf(cwd, ["--session", name]);
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toMatch(/^loop: --session needs .*\n$/);
  });

  test("for people: the decision, the facts one per line, and what comes next", async () => {
    const { cwd, dir } = await setUp(goal());
    createSessions(dir).write(recordOf());
    const { code, stdout } = await textOf(cwd);
    expect(code).toBe(0);
    expect(stdout).toBe(`Goes on (verify): the stop is blocked, and goal ${ID} continues in the conversation.
  session: s1, idle, no loop turn
  state: readable
  goal: ${ID}, active, of this session
  loops here: on
  lease: no running process holds it
  a person is waiting: no
Next: iteration 1/10: Find the failing test
`);
  });
});
