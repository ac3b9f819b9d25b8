/** One owner at a time, fenced by its token. */
import { expect, test } from "vitest";
import { SILENT_AFTER_MS } from "../../src/ports/lease.ts";
import { creation, idOf, increment, newTask } from "../store/fixtures/tasks.ts";
import { taskOf } from "./loops.ts";
import type { Handle, UseWorld } from "./world.ts";

const A = idOf(0xa);

async function acquire({ store, bid }: Handle, expectedToken = store.lastToken()) {
  const lease = await store.acquire(bid(), expectedToken);
  if (lease === null) throw new Error("somebody else was first");
  return lease;
}

export function leaseContract(use: UseWorld): void {
  test("nobody holds the lease of a new store", async () => {
    const { store } = await (await use()).open();
    expect(store.lease()).toBeNull();
    expect(store.lastToken()).toBe(0);
    expect(store.leaseAsked()).toBeNull();
  });

  test("of many that want it at once one gets it, and all see whom", async () => {
    const world = await use();
    const handles = await Promise.all(Array.from({ length: 5 }, () => world.open()));
    const leases = await Promise.all(handles.map(({ store, bid }) => store.acquire(bid(), 0)));
    const [winner] = leases.filter((lease) => lease !== null);
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
    expect(winner?.token).toBe(1);
    for (const { store } of handles) {
      await store.catchUp();
      expect(store.lease()).toEqual(winner);
    }
  });

  test("a token that was seen too long ago gets nothing", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    await acquire(one);
    expect(await other.store.acquire(other.bid(), 0)).toBeNull();
    expect(other.store.lease()?.token).toBe(1);
  });

  test("two owners: after a takeover nothing of the first one counts", async () => {
    const world = await use();
    const [first, second] = [await world.open(), await world.open()];
    await first.store.commit(creation(newTask(A)));
    const old = await acquire(first);
    await second.store.catchUp();
    const current = await acquire(second);
    expect(current.token).toBe(old.token + 1);
    const stale = increment(taskOf(first.store), "stale", old.token);
    expect(await first.store.commit(stale)).toEqual({ kind: "fenced" });
    expect(await first.store.release(old.token, world.now())).toBe(false);
    await second.store.catchUp();
    expect(second.store.lease()).toEqual(current);
    const fresh = increment(taskOf(second.store), "fresh", current.token);
    expect(await second.store.commit(fresh)).toEqual({ kind: "committed" });
    await first.store.catchUp();
    expect(taskOf(first.store).prompt).toBe("fresh");
  });

  test("events of an owner need the current token; a person's need none", async () => {
    const world = await use();
    const { store, bid } = await world.open();
    await store.commit(creation(newTask(A)));
    const due = { type: "task.due", token: 1, awakeSince: 0 } as const;
    expect(await store.commit({ ...increment(taskOf(store)), event: due })).toEqual({ kind: "fenced" });
    await store.acquire(bid(), 0);
    expect(await store.commit({ ...increment(taskOf(store)), event: due, token: 1 })).toEqual({
      kind: "committed",
    });
    expect(await store.commit(increment(taskOf(store)))).toEqual({ kind: "committed" });
  });

  test("what was released can be had again, under a token that was never given out", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    const { token } = await acquire(one);
    expect(await one.store.release(token, world.now())).toBe(true);
    expect(await one.store.release(token, world.now())).toBe(false);
    await other.store.catchUp();
    expect(other.store.lease()).toBeNull();
    expect(other.store.lastToken()).toBe(1);
    await other.store.commit(creation(newTask(A)));
    const late = increment(taskOf(other.store), "late", token);
    expect(await other.store.commit(late)).toEqual({ kind: "fenced" });
    expect((await acquire(other)).token).toBe(2);
  });

  test("a holder that gives signs of life is alive, one that stops is not", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    const lease = await acquire(one);
    await other.store.catchUp();
    expect(other.store.holderState(lease, world.now())).toBe("alive");
    await world.advance(SILENT_AFTER_MS - 1_000);
    const beatAt = world.now();
    await one.store.heartbeat(lease, beatAt);
    await world.advance(2_000);
    await other.store.catchUp();
    expect(other.store.holderState(lease, world.now())).toBe("alive");
    expect(other.store.heartbeatAt(lease)).toBe(beatAt);
    await world.advance(SILENT_AFTER_MS);
    expect(other.store.holderState(lease, world.now())).not.toBe("alive");
  });

  test("a holder that crashed is not alive, at the latest when it was silent for too long", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    const lease = await acquire(one);
    await one.crash();
    await world.advance(SILENT_AFTER_MS + 1_000);
    await other.store.catchUp();
    expect(["gone", "silent"]).toContain(other.store.holderState(lease, world.now()));
    expect((await acquire(other)).token).toBe(2);
  });

  test("the sign of life of a holder that lost the lease says nothing about the new one", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    const old = await acquire(one);
    await other.store.catchUp();
    const current = await acquire(other);
    await one.store.catchUp();
    await world.advance(60_000);
    const beatAt = world.now();
    await other.store.heartbeat(current, beatAt);
    await world.advance(60_000);
    await one.store.heartbeat(old, world.now());
    await other.store.catchUp();
    expect(other.store.heartbeatAt(current)).toBe(beatAt);
  });

  test("the holder hears who asks for the lease", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    await acquire(one);
    const bid = other.bid();
    other.store.askForLease(bid);
    await one.store.catchUp();
    expect(one.store.leaseAsked()).toEqual(bid);
  });
}
