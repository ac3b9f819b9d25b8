import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { LoopId } from "../../../src/core/loop.ts";
import { createHookAgent } from "../../../src/hosts/conversation/hooks/hook-agent.ts";
import { Seat } from "../../../src/hosts/conversation/seat.ts";
import { ABANDONED, type Turn } from "../../../src/ports/agent.ts";
import { createSessions } from "../../../src/store/folder/session-records.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";
import { until } from "../../support/until.ts";

afterEach(removeTempDirs);

const SESSION = "5d2f7a10-aaaa-4bbb-8ccc-0123456789ab";
const CLIENT = { pid: 4711, start: "boot-1" };
const NEVER = new AbortController().signal;

function open(dir: string, parts: Partial<ConstructorParameters<typeof Seat>[0]> = {}): Seat {
  return new Seat({
    sessions: createSessions(dir),
    session: SESSION,
    client: CLIENT,
    now: () => 1_000,
    ...{ costUsd: () => 0.25, onChange: () => {} },
    ...parts,
  });
}

function aTurn(id: string, token = 1): Turn {
  return {
    ...{ id, loopId: "a1b2c3d4" as LoopId, token, text: "do it", deadlineAt: 0, env: {}, conversation: null },
    budgetUsd: null,
  };
}

/** A turn that is in the conversation. */
async function withTurn(dir: string, id = "a1b2c3d4-1"): Promise<Seat> {
  const seat = open(dir);
  const offered = seat.offer("p-1", NEVER);
  expect(seat.deliver(aTurn(id), "do it")).toBe(true);
  expect(await offered).toBe("do it");
  return seat;
}

describe("E1 a turn goes out with the answer to a hook, and only with one", () => {
  test("nothing is delivered while no hook waits", () => {
    const dir = tempDir();
    const seat = open(dir);
    expect(seat.isWaiting).toBe(false);
    expect(seat.deliver(aTurn("a1b2c3d4-1"), "do it")).toBe(false);
    expect(seat.record).toMatchObject({ state: "idle", turn: null });
    expect(createSessions(dir).read(SESSION)).toBeNull();
  });

  test("one hook gets one turn, and the record has it before the hook is answered", async () => {
    const dir = tempDir();
    const seat = open(dir);
    const offered = seat
      .offer("p-1", NEVER)
      .then((answer) => ({ answer, record: createSessions(dir).read(SESSION) }));
    expect(seat.isWaiting).toBe(true);
    expect(seat.deliver(aTurn("a1b2c3d4-1", 7), "do it")).toBe(true);
    expect(seat.deliver(aTurn("a1b2c3d4-2", 7), "and this")).toBe(false);
    const { answer, record } = await offered;
    expect(answer).toBe("do it");
    expect(record).toMatchObject({
      state: "busy",
      promptId: "p-1",
      client: CLIENT,
      turn: { id: "a1b2c3d4-1", token: 7, promptId: "p-1", toolCalls: 0, end: null, deliveredAt: 1_000 },
    });
  });

  test("a second hook takes the place of the first, which is told that nothing comes", async () => {
    const seat = open(tempDir());
    const first = seat.offer("p-1", NEVER);
    const second = seat.offer("p-2", NEVER);
    expect(await first).toBeNull();
    seat.deliver(aTurn("a1b2c3d4-1"), "do it");
    expect(await second).toBe("do it");
    expect(seat.record.turn?.promptId).toBe("p-2");
  });

  test("a hook that is cut off, before or while it waits, gets nothing and is in nobody's way", async () => {
    const seat = open(tempDir());
    const esc = new AbortController();
    const offered = seat.offer("p-1", esc.signal);
    esc.abort();
    expect(await offered).toBeNull();
    expect(seat.isWaiting).toBe(false);
    expect(await seat.offer("p-1", esc.signal)).toBeNull();
    expect(seat.deliver(aTurn("a1b2c3d4-1"), "do it")).toBe(false);
  });

  test("a withdrawn offer is nothing", async () => {
    const seat = open(tempDir());
    const offered = seat.offer("p-1", NEVER);
    seat.withdrawOffer();
    expect(await offered).toBeNull();
    seat.withdrawOffer();
  });

  test("whoever listens hears of an offer and of every change", async () => {
    let heard = 0;
    const seat = open(tempDir(), { onChange: () => (heard += 1) });
    void seat.offer("p-1", NEVER);
    expect(heard).toBe(1);
    seat.update({ blocks: 1 });
    expect(heard).toBe(2);
    seat.withdrawOffer();
  });
});

describe("E1 a turn ends once", () => {
  test("its first end stands", async () => {
    const seat = await withTurn(tempDir());
    seat.end({ kind: "ok", answer: "done", toolCalls: 2 });
    seat.end({ kind: "interrupted", reason: "too late" });
    expect(seat.record.turn?.end).toEqual({ kind: "ok", answer: "done", toolCalls: 2 });
  });

  test("a turn is forgotten by its own id only", async () => {
    const seat = await withTurn(tempDir());
    seat.forget("a1b2c3d4-9");
    expect(seat.record.turn?.id).toBe("a1b2c3d4-1");
    seat.forget("a1b2c3d4-1");
    expect(seat.record.turn).toBeNull();
    seat.end({ kind: "interrupted", reason: "none is there" });
    expect(seat.record.turn).toBeNull();
  });

  test("who watches is asked again at every change, until there is an answer or it is cut off", async () => {
    const seat = await withTurn(tempDir());
    const esc = new AbortController();
    const looks: string[] = [];
    const end = seat.watch(() => {
      looks.push("look");
      return seat.record.turn?.end ?? null;
    }, NEVER);
    const cut = seat.watch(() => null, esc.signal);
    seat.update({ blocks: 1 });
    seat.end({ kind: "interrupted", reason: "you stopped it" });
    expect(await end).toEqual({ kind: "interrupted", reason: "you stopped it" });
    expect(looks).toHaveLength(3);
    seat.update({ blocks: 2 });
    expect(looks).toHaveLength(3);
    esc.abort();
    expect(await cut).toBeNull();
  });
});

describe("B20 what is in the record outlives the process", () => {
  test("the next process of the same client goes on from it", async () => {
    const dir = tempDir();
    const before = await withTurn(dir);
    before.update({ blocks: 3, directive: "first the test", said: "[LOOP] x" });
    expect(open(dir).record).toEqual(before.record);
  });

  test("in another process of the client the turn that ran is over, and nothing else is taken over but what was said", async () => {
    const dir = tempDir();
    const before = await withTurn(dir);
    before.update({ blocks: 3, transcript: "/t.jsonl", said: "[LOOP] x" });
    const { record } = open(dir, { client: { pid: 4711, start: "boot-2" } });
    expect(record).toMatchObject({
      state: "idle",
      blocks: 0,
      promptId: null,
      transcript: "/t.jsonl",
      said: "[LOOP] x",
      turn: { id: "a1b2c3d4-1", end: { kind: "interrupted" } },
    });
  });

  test("an end that was there before the client went stays as it is", async () => {
    const dir = tempDir();
    const before = await withTurn(dir);
    before.end({ kind: "ok", answer: "done", toolCalls: 0 });
    const { record } = open(dir, { client: { pid: 99, start: null } });
    expect(record.turn?.end).toEqual({ kind: "ok", answer: "done", toolCalls: 0 });
  });

  test("D6 what another process of the conversation wrote counts, and is not written over", async () => {
    const dir = tempDir();
    const server = open(dir);
    server.update({ state: "idle" });
    const hook = await withTurn(dir);
    expect(server.record).toMatchObject({ state: "busy", turn: { id: "a1b2c3d4-1", end: null } });
    server.update({ blocks: 1 });
    expect(hook.record).toMatchObject({ blocks: 1, state: "busy", turn: { id: "a1b2c3d4-1" } });
    hook.end({ kind: "interrupted", reason: "its conversation ended" });
    hook.update({ state: "over" });
    server.forget("a1b2c3d4-1");
    expect(createSessions(dir).read(SESSION)).toMatchObject({ state: "over", turn: null, blocks: 1 });
  });

  test("a record of another client of the same conversation is not taken for our own", () => {
    const dir = tempDir();
    const mine = open(dir);
    mine.update({ blocks: 2 });
    open(dir, { client: { pid: 99, start: "boot-9" } }).update({ blocks: 7 });
    expect(mine.record).toMatchObject({ blocks: 2, client: CLIENT });
  });

  test("a record that was removed under it does no harm", () => {
    const dir = tempDir();
    const seat = open(dir);
    seat.update({ blocks: 2 });
    rmSync(join(dir, "sessions"), { recursive: true });
    expect(seat.record.blocks).toBe(2);
    seat.update({ said: "x" });
    expect(createSessions(dir).read(SESSION)).toMatchObject({ blocks: 2, said: "x" });
    chmodSync(join(dir, "sessions"), 0o700);
  });
});

describe("H1 a turn in the conversation as an agent's", () => {
  const control = () => ({ signal: NEVER, onStarted: () => {} });
  const agentOf = (seat: Seat, dir: string) =>
    createHookAgent({
      seat,
      dir,
      wake: async () => false,
      processes: { name: "processes", run: neverRun, reconcile: async () => ({ kind: "never" }) },
    });

  test("its end is there for the next process until another turn is delivered: who read it may have died", async () => {
    const dir = tempDir();
    const seat = open(dir);
    void seat.offer("p-1", NEVER);
    const end = agentOf(seat, dir).run(aTurn("a1b2c3d4-1"), control());
    await until(() => seat.record.turn, "it is delivered");
    seat.end({ kind: "ok", answer: "done", toolCalls: 2 });
    expect(await end).toMatchObject({ kind: "ok", answer: "done", activity: { toolCalls: 2 } });
    for (const next of [open(dir), open(dir)]) {
      const fate = await agentOf(next, dir).reconcile(aTurn("a1b2c3d4-1"), control());
      expect(fate).toMatchObject({ kind: "ended", end: { kind: "ok", answer: "done" } });
    }
    expect(await agentOf(seat, dir).reconcile(aTurn("a1b2c3d4-1", 2), control())).toEqual({ kind: "never" });
  });

  test.each([
    ["the same one", SESSION, "as before"],
    ["another one", "00000000-0000-4000-8000-000000000000", "all there is to know"],
  ])("B20 a loop that went on in %s before is told as much as it needs", async (_, id, told) => {
    const dir = tempDir();
    const seat = open(dir);
    const handed = seat.offer("p-1", NEVER);
    const turn = { ...aTurn("a1b2c3d4-1"), text: "as before", textIfFresh: "all there is to know" };
    const stop = new AbortController();
    const conversation = { id, costUsd: null };
    const end = agentOf(seat, dir).run({ ...turn, conversation }, { ...control(), signal: stop.signal });
    expect(await handed).toContain(told);
    stop.abort();
    await end;
  });

  test("a turn that is not wanted any more is let go; one that was abandoned stays for the next process", async () => {
    for (const [reason, id] of [
      [undefined, undefined],
      [ABANDONED, "a1b2c3d4-1"],
    ] as const) {
      const dir = tempDir();
      const seat = open(dir);
      const stop = new AbortController();
      void seat.offer("p-1", NEVER);
      const end = agentOf(seat, dir).run(aTurn("a1b2c3d4-1"), { ...control(), signal: stop.signal });
      await until(() => seat.record.turn, "it is delivered");
      stop.abort(reason);
      expect(await end).toMatchObject({ kind: "cancelled" });
      expect(seat.record.turn?.id).toBe(id);
    }
  });

  test("B13 a wake-up that nobody took is an outage, and nothing is in the conversation", async () => {
    const dir = tempDir();
    const seat = open(dir);
    const end = await agentOf(seat, dir).run(aTurn("a1b2c3d4-1"), control());
    expect(end).toMatchObject({ kind: "failed", failure: { class: "outage" } });
    expect(seat.record.turn).toBeNull();
  });
});

function neverRun(): Promise<never> {
  throw new Error("nothing is started here");
}

test("J7 the record of a conversation has no secret of the agent", async () => {
  vi.stubEnv("DEPLOY_TOKEN", "q8Zr41xW-secret");
  onTestFinished(() => void vi.unstubAllEnvs());
  const dir = tempDir();
  const seat = await withTurn(dir);
  seat.end({ kind: "ok", answer: "it is q8Zr41xW-secret", toolCalls: 0 });
  expect(open(dir).record.turn?.end).toMatchObject({ answer: "it is [masked: DEPLOY_TOKEN]" });
});
