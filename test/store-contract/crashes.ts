/** A process may die between any two of its writes. What it was told stands; what it was not told stands or does not. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Loop } from "../../src/core/loop.ts";
import type { Store } from "../../src/ports/store.ts";
import { creation, idOf, increment, newTask } from "../store/fixtures/tasks.ts";
import { incrementTo, taskOf } from "./loops.ts";
import type { Handle, StoreWorld, UseWorld } from "./world.ts";

const A = idOf(0xa);
const B = idOf(0xb);

interface State {
  readonly loops: readonly Loop[];
  readonly token: number | null;
  readonly lastToken: number;
}

function stateOf(store: Store): State {
  const loops = [...store.loops()].sort((one, other) => (one.id < other.id ? -1 : 1));
  return { loops, token: store.lease()?.token ?? null, lastToken: store.lastToken() };
}

/** The steps of an owner's life, each with the state that it leaves. */
const STEPS: readonly ((handle: Handle, world: StoreWorld) => Promise<unknown>)[] = [
  ({ store, bid }) => store.acquire(bid(), 0),
  ({ store }) => store.commit(creation(newTask(A))),
  ({ store }) => store.commit(increment(taskOf(store), "under the token", 1)),
  ({ store }) => store.commit(creation(newTask(B))),
  ({ store }) => store.published?.publish() ?? Promise.resolve(),
  ({ store }, world) => store.heartbeat({ ...leaseOf(store) }, world.now()),
  ({ store }) => store.commit(increment(taskOf(store, B), "a person's")),
  ({ store }, world) => store.release(1, world.now()),
];

function leaseOf(store: Store) {
  const lease = store.lease();
  if (lease === null) throw new Error("no lease");
  return lease;
}

/** What a life without a crash leaves after each of its steps. */
async function statesWithoutCrash(world: StoreWorld): Promise<readonly State[]> {
  const handle = await world.open();
  const states = [stateOf(handle.store)];
  for (const step of STEPS) {
    await step(handle, world);
    states.push(stateOf(handle.store));
  }
  return states;
}

export function crashContract(use: UseWorld): void {
  test("a crash between any two writes leaves a state that a life without a crash had", async () => {
    const expected = await statesWithoutCrash(await use());
    for (let writes = 0; ; writes++) {
      const world = await use();
      const handle = await world.open();
      let told = 0;
      const died = await world.dieAfter(writes, handle, async () => {
        for (const step of STEPS) {
          await step(handle, world);
          told += 1;
        }
      });
      await handle.crash();
      const { store } = await world.open();
      const there = stateOf(store);
      const possible = died ? expected.slice(told, told + 2) : expected.slice(-1);
      expect(possible, `after ${writes} writes`).toContainEqual(there);
      await livesOn(world, store);
      if (!died) return expect(writes, "the store did write").toBeGreaterThanOrEqual(STEPS.length - 2);
    }
  });

  test("a handle that died in the middle keeps nobody else from going on", async () => {
    const world = await use();
    const [dying, other] = [await world.open(), await world.open()];
    await other.store.commit(creation(newTask(A)));
    await dying.store.catchUp();
    await world.dieAfter(0, dying, async () => {
      await dying.store.commit(increment(taskOf(dying.store)));
    });
    await dying.crash();
    expect(await incrementTo(other.store)).toBe(0);
    expect(taskOf((await world.open()).store)).toEqual(taskOf(other.store));
  });

  test("whatever several processes do and however they die, a new one sees what the others see", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 25 }), async (commands) => {
        const world = await use();
        const handles = [await world.open(), await world.open()];
        for (const { who, what, id } of commands) {
          const handle = handles[who] as Handle;
          if (what === "crash") {
            await handle.crash();
            handles[who] = await world.open();
          } else await obey(world, handle, what, idOf(id));
        }
        const fresh = stateOf((await world.open()).store);
        for (const { store } of handles) {
          await store.catchUp();
          expect(stateOf(store)).toEqual(fresh);
        }
      }),
      { numRuns: 25 },
    );
  });
}

const command = fc.record({
  who: fc.integer({ min: 0, max: 1 }),
  what: fc.constantFrom("create", "change", "catchUp", "acquire", "release", "crash"),
  id: fc.integer({ min: 1, max: 3 }),
});

async function obey(world: StoreWorld, { store, bid }: Handle, what: string, id: typeof A): Promise<void> {
  const token = store.lease()?.token ?? null;
  const task = store.load(id);
  switch (what) {
    case "create":
      await store.commit(creation(newTask(id), 3));
      return;
    case "change":
      if (task?.kind === "task") await store.commit(increment(task, what, token));
      return;
    case "catchUp":
      return store.catchUp();
    case "acquire":
      await store.acquire(bid(), store.lastToken());
      return;
    case "release":
      if (token !== null) await store.release(token, world.now());
  }
}

/** The next process can do all that there is to do. */
async function livesOn(world: StoreWorld, store: Store): Promise<void> {
  const other = await world.open();
  const before = store.lastToken();
  const lease = await other.store.acquire(other.bid(), before);
  expect(lease?.token).toBe(before + 1);
  if (other.store.load(A) === undefined)
    expect(await other.store.commit(creation(newTask(A)))).toEqual({ kind: "committed" });
  await incrementTo(other.store);
  await store.catchUp();
  expect(stateOf(store)).toEqual(stateOf(other.store));
}
