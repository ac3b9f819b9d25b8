/** Compare-and-set, limits, what others committed, watch. */
import { expect, test } from "vitest";
import type { Task } from "../../src/core/loop.ts";
import type { LoopStore } from "../../src/ports/loops.ts";
import { creation, ending, idOf, increment, newTask } from "../store/fixtures/tasks.ts";
import { asTask } from "../support/only-tasks.ts";
import type { UseWorld } from "./world.ts";

const A = idOf(0xa);
const B = idOf(0xb);

export function taskOf(store: LoopStore, id = A): Task {
  const task = asTask(store.load(id));
  if (task === undefined) throw new Error(`there is no ${id}`);
  return task;
}

/** As every caller does it: read, decide, commit, and once more after a conflict. */
export async function incrementTo(store: LoopStore, id = A): Promise<number> {
  for (let conflicts = 0; ; conflicts++) {
    const { kind } = await store.commit(increment(taskOf(store, id)));
    if (kind === "committed") return conflicts;
    if (kind !== "conflict") throw new Error(kind);
  }
}

export function loopsContract(use: UseWorld): void {
  test("what was committed is there for this handle, for others and for those that open later", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    expect(await one.store.commit(creation(newTask(A)))).toEqual({ kind: "committed" });
    expect(one.store.load(A)).toEqual(newTask(A));
    await other.store.catchUp();
    expect([...other.store.loops()]).toEqual([newTask(A)]);
    expect([...(await world.open()).store.loops()]).toEqual([newTask(A)]);
  });

  test("of two decisions on one version one counts, and the loser sees which", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    await one.store.commit(creation(newTask(A)));
    await other.store.catchUp();
    const decisions = [increment(taskOf(one.store), "first"), increment(taskOf(other.store), "second")];
    expect(await one.store.commit(decisions[0] as (typeof decisions)[0])).toEqual({ kind: "committed" });
    expect(await other.store.commit(decisions[1] as (typeof decisions)[0])).toEqual({ kind: "conflict" });
    expect(taskOf(other.store)).toMatchObject({ prompt: "first", version: 2 });
  });

  test("a loop is created once, and never on a version that is not the next", async () => {
    const { store } = await (await use()).open();
    await store.commit(creation(newTask(A)));
    expect(await store.commit(creation(newTask(A)))).toEqual({ kind: "conflict" });
    const skipping = increment({ ...taskOf(store), version: 2 });
    expect(await store.commit(skipping)).toEqual({ kind: "conflict" });
    expect(taskOf(store).version).toBe(1);
  });

  test("many handles at once: no step is lost and none counts twice", async () => {
    const world = await use();
    const handles = await Promise.all(Array.from({ length: 4 }, () => world.open()));
    await handles[0]?.store.commit(creation(newTask(A)));
    await Promise.all(handles.map(({ store }) => store.catchUp()));
    const rounds = 8;
    await Promise.all(
      handles.map(async ({ store }) => {
        for (let round = 0; round < rounds; round++) await incrementTo(store);
      }),
    );
    const last = taskOf((await world.open()).store);
    expect(last).toMatchObject({ streak: 4 * rounds, version: 1 + 4 * rounds });
  });

  test("the limit of live tasks holds for all handles together", async () => {
    const world = await use();
    const handles = await Promise.all(Array.from({ length: 6 }, () => world.open()));
    const results = await Promise.all(
      handles.map(({ store }, n) => store.commit(creation(newTask(idOf(n)), 4))),
    );
    expect(results.filter(({ kind }) => kind === "committed")).toHaveLength(4);
    expect(results.filter(({ kind }) => kind === "full")).toEqual([
      { kind: "full", live: 4 },
      { kind: "full", live: 4 },
    ]);
    const { store } = await world.open();
    await store.commit(ending([...store.loops()][0] as Task));
    expect(await store.commit(creation(newTask(idOf(9)), 4))).toEqual({ kind: "committed" });
  });

  test("a task that ended does not come back by a late decision", async () => {
    const world = await use();
    const [one, late] = [await world.open(), await world.open()];
    await one.store.commit(creation(newTask(A)));
    await late.store.catchUp();
    const lateDecision = increment(taskOf(late.store));
    await one.store.commit(ending(taskOf(one.store)));
    expect(await late.store.commit(lateDecision)).toEqual({ kind: "conflict" });
    expect(late.store.load(A)).toBeUndefined();
    expect([...(await world.open()).store.loops()]).toEqual([]);
  });

  test("refresh names what changed since the last refresh, whoever changed it", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    await other.store.refresh();
    await one.store.commit(creation(newTask(A)));
    await other.store.commit(creation(newTask(B)));
    // a catch-up in between does not take the news away
    await other.store.catchUp();
    expect([...(await other.store.refresh())].sort()).toEqual([A, B]);
    expect(await other.store.refresh()).toEqual([]);
  });

  test("watch tells of commits of other handles until it is stopped", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    let silenced = 0;
    const stopFirst = other.store.watch(() => {
      silenced += 1;
    });
    stopFirst();
    const before = silenced;
    let stop: () => void = () => {};
    const news = new Promise<void>((resolve) => {
      stop = other.store.watch(() => {
        void other.store.catchUp().then(() => {
          if (other.store.load(A) !== undefined) resolve();
        });
      });
    });
    await one.store.commit(creation(newTask(A)));
    await world.until(news);
    stop();
    expect(silenced).toBe(before);
  });

  test("a store that nobody harmed has no faults and is in its place", async () => {
    const world = await use();
    const { store } = await world.open();
    await store.commit(creation(newTask(A)));
    expect(store.faults()).toEqual([]);
    expect(store.isInPlace()).toBe(true);
    expect(store.takeForged()).toEqual([]);
  });
}
