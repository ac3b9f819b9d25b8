/** Entries in the order of commits, cursors that never skip anything in silence, loops that ended, receipts. */
import { expect, test } from "vitest";
import type { HistoryEntry, HistoryPage, HistoryQuery } from "../../src/ports/history.ts";
import type { Store } from "../../src/ports/store.ts";
import { goalChange, goalCreation, lifeOf, newGoal } from "../store/fixtures/goals.ts";
import { creation, ending, idOf, increment, newTask } from "../store/fixtures/tasks.ts";
import { incrementTo, taskOf } from "./loops.ts";
import type { UseWorld } from "./world.ts";

const A = idOf(0xa);
const B = idOf(0xb);

type Page = Extract<HistoryPage, { kind: "page" }>;

async function read(store: Store, query?: HistoryQuery): Promise<Page> {
  const page = await store.history.read(query);
  if (page.kind !== "page") throw new Error(page.kind);
  return page;
}

function stepsOf(entries: readonly HistoryEntry[]): string[] {
  return entries.map(({ loopId, version }) => `${loopId}@${version}`);
}

export function historyContract(use: UseWorld): void {
  test("an empty store has an empty history, and its end is a cursor", async () => {
    const { store } = await (await use()).open();
    const page = await read(store);
    expect(page).toMatchObject({ entries: [], isEnd: true });
    const end = await store.history.end();
    await store.commit(creation(newTask(A)));
    for (const after of [end, page.next])
      expect(stepsOf((await read(store, { after })).entries)).toEqual([`${A}@1`]);
  });

  test("entries are the commits that counted, in their order, with all that was committed", async () => {
    const world = await use();
    const [one, other] = [await world.open(), await world.open()];
    await one.store.commit(creation(newTask(A)));
    await one.store.commit(creation(newTask(A)));
    await other.store.commit(creation(newTask(B)));
    await one.store.acquire(one.bid(), 0);
    const step = increment(taskOf(one.store), "of the owner", 1);
    await one.store.commit(step);
    const { entries } = await read(other.store);
    expect(stepsOf(entries)).toEqual([`${A}@1`, `${B}@1`, `${A}@2`]);
    const { event, outcomes, at, loop, token } = step;
    expect(entries[2]).toMatchObject({ loopId: A, version: 2, event, outcomes, at, loop, token });
  });

  test("a reader that follows with its cursor sees every entry once", async () => {
    const world = await use();
    const [writer, reader] = [await world.open(), await world.open()];
    await writer.store.commit(creation(newTask(A)));
    const seen: string[] = [];
    let after: string | undefined;
    for (let round = 0; round < 6; round++) {
      const page = await read(reader.store, after === undefined ? {} : { after });
      seen.push(...stepsOf(page.entries));
      after = page.next;
      await incrementTo(writer.store);
      if (round % 2 === 0) await incrementTo(writer.store);
    }
    seen.push(...stepsOf((await read(reader.store, { after: after ?? "" })).entries));
    expect(seen).toEqual(stepsOf((await read(writer.store)).entries));
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("pages of any size make up the whole, and each entry's cursor leads to the next", async () => {
    const { store } = await (await use()).open();
    await store.commit(creation(newTask(A)));
    for (let n = 0; n < 6; n++) await incrementTo(store);
    const { entries: all } = await read(store);
    for (const limit of [1, 2, 3, 7, 8]) {
      const pages: HistoryEntry[] = [];
      for (let after: string | undefined; ; ) {
        const page = await read(store, { limit, ...(after === undefined ? {} : { after }) });
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        pages.push(...page.entries);
        after = page.next;
        if (page.isEnd) break;
      }
      expect(stepsOf(pages)).toEqual(stepsOf(all));
    }
    for (const [index, { cursor }] of all.entries())
      expect(stepsOf((await read(store, { after: cursor })).entries)).toEqual(stepsOf(all.slice(index + 1)));
  });

  test("by loop and by time", async () => {
    const { store } = await (await use()).open();
    const at = (loop: typeof A, time: number) => ({ ...creation(newTask(loop)), at: time });
    await store.commit(at(A, 1_000));
    await store.commit(at(B, 2_000));
    await store.commit({ ...increment(taskOf(store, A)), at: 3_000 });
    expect(stepsOf((await read(store, { loopId: A })).entries)).toEqual([`${A}@1`, `${A}@2`]);
    expect(stepsOf((await read(store, { since: 2_000 })).entries)).toEqual([`${B}@1`, `${A}@2`]);
    expect(stepsOf((await read(store, { until: 2_000 })).entries)).toEqual([`${A}@1`]);
    expect(stepsOf((await read(store, { loopId: A, since: 2_000, until: 4_000 })).entries)).toEqual([
      `${A}@2`,
    ]);
    // what a filter leaves out lies before the cursor all the same
    const { next, isEnd } = await read(store, { loopId: B });
    expect(isEnd).toBe(true);
    expect((await read(store, { after: next })).entries).toEqual([]);
  });

  test("a cursor is good in every process, also after a crash and while the store tidies up", async () => {
    const world = await use();
    const first = await world.open();
    await first.store.commit(creation(newTask(A)));
    const cursor = await first.store.history.end();
    await first.crash();
    const { store } = await world.open();
    for (let n = 0; n < 60; n++) await incrementTo(store);
    const expected = Array.from({ length: 60 }, (_, n) => `${A}@${n + 2}`);
    expect(stepsOf((await read(store, { after: cursor })).entries)).toEqual(expected);
    expect(stepsOf((await read((await world.open()).store, { after: cursor })).entries)).toEqual(expected);
  });

  test("a cursor whose entries were dropped says so, and the present end goes on", async () => {
    const world = await use();
    const { store } = await world.open();
    await store.commit(creation(newTask(A)));
    const old = await store.history.end();
    for (let n = 0; n < 60; n++) await incrementTo(store);
    await world.dropOldHistory();
    expect(await store.history.read({ after: old })).toEqual({ kind: "too-old" });
    expect(await (await world.open()).store.history.read({ after: old })).toEqual({ kind: "too-old" });
    const end = await store.history.end();
    await incrementTo(store);
    expect(stepsOf((await read(store, { after: end })).entries)).toEqual([`${A}@62`]);
    expect(taskOf((await world.open()).store).version).toBe(62);
  });

  test("a text that is no cursor of this store is too old", async () => {
    const { store } = await (await use()).open();
    await store.commit(creation(newTask(A)));
    for (const after of ["", "x", "999.1.00000000", "-1"])
      expect(await store.history.read({ after })).toEqual({ kind: "too-old" });
  });

  test("a loop that ended stays readable, and is listed as it was last", async () => {
    const world = await use();
    const { store } = await world.open();
    await store.commit(creation(newTask(A)));
    await store.commit(creation(newTask(B)));
    await store.commit(ending(taskOf(store, A)));
    const other = await world.open();
    expect(other.store.load(A)).toBeUndefined();
    expect(stepsOf((await read(other.store, { loopId: A })).entries)).toEqual([`${A}@1`, `${A}@2`]);
    const loops = await other.store.history.everyLoop();
    expect(loops.map(({ id, status }) => `${id} ${status}`)).toEqual([`${A} ended`, `${B} active`]);
  });

  test("receipts of goals by loop and time, also of a goal that ended", async () => {
    const world = await use();
    const { store, bid } = await world.open();
    await store.acquire(bid(), 0);
    let goal = newGoal(A);
    await store.commit(goalCreation(goal));
    for (const event of lifeOf(A)) {
      const commit = goalChange(goal, event);
      expect(await store.commit(commit)).toEqual({ kind: "committed" });
      goal = commit.loop;
    }
    expect(goal.status).toBe("ended");
    const receipts = await (await world.open()).store.history.receipts({ loopId: A });
    expect(receipts).toEqual(goal.receipts.map((receipt) => ({ kind: "goal", loopId: A, receipt })));
    expect(receipts).not.toEqual([]);
    const { startedAt } = goal.receipts[0] ?? { startedAt: 0 };
    expect(await store.history.receipts({ until: startedAt })).toEqual([]);
    expect(await store.history.receipts({ since: startedAt })).toHaveLength(receipts.length);
    expect(await store.history.receipts({ loopId: B })).toEqual([]);
  });
}
