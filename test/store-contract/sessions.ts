/** What is known of live conversations, by any process. */
import { expect, test } from "vitest";
import type { ProcessRef } from "../../src/core/base.ts";
import type { SessionRecord } from "../../src/ports/sessions.ts";
import type { UseWorld } from "./world.ts";

const DAY = 24 * 3600_000;

function record(session: string, client: ProcessRef, fields: Partial<SessionRecord> = {}): SessionRecord {
  return {
    version: 1,
    session,
    client,
    transcript: null,
    state: "idle",
    promptId: null,
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

function turn(id: string): SessionRecord["turn"] {
  const fields = { token: 1, deliveredAt: 1, promptId: "p", toolCalls: 0, end: null };
  return { id, loopId: "0000000a", ...fields };
}

export function sessionsContract(use: UseWorld): void {
  test("what one process writes, every other one reads whole", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    const client = await world.client("alive");
    expect(one.store.sessions.read("s-1")).toBeNull();
    expect(one.store.sessions.stamp("s-1")).toBeNull();
    const written = record("s-1", client, { state: "busy", said: "hello" });
    one.store.sessions.write(written);
    expect(one.store.sessions.read("s-1")).toEqual(written);
    await one.store.sessions.flush();
    await other.store.catchUp();
    expect(other.store.sessions.read("s-1")).toEqual(written);
    expect(other.store.sessions.list()).toEqual([written]);
  });

  test("the stamp changes with every write and with nothing else", async () => {
    const world = await use();
    const { store } = await world.open();
    const client = await world.client("alive");
    store.sessions.write(record("s-1", client));
    const before = store.sessions.stamp("s-1");
    expect(store.sessions.stamp("s-1")).toBe(before);
    store.sessions.write(record("s-1", client, { state: "busy" }));
    expect(store.sessions.stamp("s-1")).not.toBe(before);
  });

  test("a conversation is over when it says so, when its client is gone, or when nothing is known of it", async () => {
    const world = await use();
    const { store } = await world.open();
    store.sessions.write(record("open", await world.client("alive")));
    store.sessions.write(record("said-so", await world.client("alive"), { state: "over" }));
    store.sessions.write(record("killed", await world.client("gone")));
    expect(store.sessions.isOver("session:open")).toBe(false);
    for (const owner of ["session:said-so", "session:killed", "session:unknown", "runner:7"])
      expect(store.sessions.isOver(owner), owner).toBe(true);
  });

  test("who has a turn is found by the turn", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    const client = await world.client("alive");
    one.store.sessions.write(record("s-1", client, { turn: turn("0000000a-1") }));
    one.store.sessions.write(record("s-2", client));
    await one.store.sessions.flush();
    await other.store.catchUp();
    expect(other.store.sessions.deliveredTo("0000000a-1")).toBe("session:s-1");
    expect(other.store.sessions.deliveredTo("0000000a-2")).toBeNull();
  });

  test("records are removed long after the conversation was over, and never before", async () => {
    const world = await use();
    const { store } = await world.open();
    store.sessions.write(record("open", await world.client("alive")));
    store.sessions.write(record("over", await world.client("alive"), { state: "over" }));
    store.sessions.prune(world.now() + 13 * DAY);
    expect(store.sessions.list()).toHaveLength(2);
    store.sessions.prune(world.now() + 15 * DAY);
    await store.sessions.flush();
    expect(store.sessions.list().map(({ session }) => session)).toEqual(["open"]);
  });
}
