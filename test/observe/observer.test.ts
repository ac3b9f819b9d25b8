/** The observer over every store there is: the same snapshot, the same changes, no gap. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Loop, LoopId } from "../../src/core/loop.ts";
import { type Change, Observer } from "../../src/observe/observer.ts";
import type { Store } from "../../src/ports/store.ts";
import { changeSchema, listSchema, snapshotSchema } from "../../src/schema/views.ts";
import { FolderStore } from "../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../src/store/folder/loop-dir.ts";
import { MemoryJournal } from "../../src/store/memory/memory-journal.ts";
import { MemoryStore } from "../../src/store/memory/memory-store.ts";
import { systemClock } from "../../src/system/clock.ts";
import { removeTempDirs, tempDir } from "../store/fixtures/temp-dir.ts";
import { aDoneGoal, aGoal, aJob, START } from "../support/goals/goals.ts";
import { every, MINUTE, task } from "../support/tasks.ts";
import { aBacklogAt } from "../support/turn-world.ts";

afterEach(removeTempDirs);

/** Two handles on one store, as two processes have them: one acts, the other watches. */
type Open = () => { readonly acting: Store; readonly watching: Store };

const STORES: readonly (readonly [string, Open])[] = [
  [
    "memory",
    () => {
      const journal = new MemoryJournal();
      const open = (name: string) => new MemoryStore({ journal, clock: systemClock, name });
      return { acting: open("a"), watching: open("b") };
    },
  ],
  [
    "folder",
    () => {
      const root = tempDir();
      ensureLoopDir(root);
      const dir = join(root, ".loop");
      mkdirSync(dir, { recursive: true });
      const open = () => new FolderStore(dir, { now: Date.now, say: () => {} });
      return { acting: open(), watching: open() };
    },
  ],
];

async function put(store: Store, loop: Loop): Promise<void> {
  const before = store.load(loop.id)?.version ?? 0;
  const event = { type: `${loop.kind}.created` } as never;
  const commit = { id: loop.id, loop: { ...loop, version: before + 1 }, event, effects: [], outcomes: [] };
  const result = await store.commit({ ...commit, expectedVersion: before, at: START, token: null });
  expect(result).toEqual({ kind: "committed" });
}

const id = (name: string) => name as LoopId;
const aTask = (name: string) => task(every(5 * MINUTE), { id: id(name) });
const job = {
  id: "job-1",
  phase: "generate",
  token: 1,
  nonce: "n",
  intendedAt: START,
  startedAt: START,
  process: null,
};
const aBacklog = (name: string) => aBacklogAt(name, job as never);

async function take(
  count: number,
  changes: AsyncGenerator<Change>,
  stop: AbortController,
): Promise<Change[]> {
  const taken: Change[] = [];
  for await (const change of changes) {
    taken.push(change);
    if (taken.length === count) stop.abort();
  }
  return taken;
}

describe.each(STORES)("over the %s store", (_, open) => {
  test("a snapshot has every loop of all three kinds, in one shape, as its schema says", async () => {
    const { acting, watching } = open();
    await put(acting, aTask("00000001"));
    await put(acting, aGoal({ id: id("00000002"), job: aJob() }));
    await put(acting, aBacklog("00000003"));
    await put(acting, aDoneGoal({ id: id("00000004") }));
    const snapshot = await new Observer(watching, systemClock, null).snapshot();
    expect(snapshotSchema.parse(JSON.parse(JSON.stringify(snapshot)))).toEqual(
      JSON.parse(JSON.stringify(snapshot)),
    );
    expect(snapshot.loops.map(({ kind, id, status }) => [kind, id, status]).sort()).toEqual([
      ["backlog", "00000003", "active"],
      ["goal", "00000002", "active"],
      ["goal", "00000004", "ended"],
      ["task", "00000001", "active"],
    ]);
    expect(snapshot.loops.find(({ kind }) => kind === "backlog")).toMatchObject({
      turns: [{ id: "job-1", kind: "generate", story: "US-1" }],
      done: 0,
      total: 1,
    });
    expect(snapshot.owner).toBeNull();
  });

  test("the listing has what has not ended, backlogs too", async () => {
    const { acting, watching } = open();
    await put(acting, aTask("00000001"));
    await put(acting, aDoneGoal({ id: id("00000004") }));
    await put(acting, aBacklog("00000003"));
    await watching.catchUp();
    const listing = new Observer(watching, systemClock, null).listing();
    const document = { $schema: "loopwright/schemas/list.json", version: 1, firing: true, ...listing };
    expect(listSchema.parse(document)).toEqual(document);
    expect(listing.tasks.map((one) => one.id)).toEqual(["00000001"]);
    expect(listing.goals).toEqual([]);
    expect(listing.backlogs).toEqual([
      expect.objectContaining({ id: "00000003", state: "working", passed: 0, total: 1, stories: ["US-1"] }),
    ]);
  });

  test("changes go on from a snapshot's cursor: nothing is left out, whoever commits", async () => {
    const { acting, watching } = open();
    await put(acting, aTask("00000001"));
    const observer = new Observer(watching, systemClock, null);
    const { cursor } = await observer.snapshot();
    await put(acting, aTask("00000002"));
    const stop = new AbortController();
    const taking = take(3, observer.changes({ after: cursor, signal: stop.signal }), stop);
    await put(acting, aGoal({ id: id("00000003") }));
    await put(watching, aTask("00000004"));
    const changes = await taking;
    for (const change of changes)
      expect(changeSchema.safeParse(JSON.parse(JSON.stringify(change))).success).toBe(true);
    expect(
      changes.map((change) => (change.kind === "change" ? [change.event, change.loop.id] : "reset")),
    ).toEqual([
      ["task.created", "00000002"],
      ["goal.created", "00000003"],
      ["task.created", "00000004"],
    ]);
    const last = changes.at(-1);
    const again = new AbortController();
    const rest = take(1, observer.changes({ after: last?.cursor ?? "", signal: again.signal }), again);
    await put(acting, aTask("00000005"));
    expect((await rest).map((change) => (change.kind === "change" ? change.loop.id : "reset"))).toEqual([
      "00000005",
    ]);
  });

  test("a cursor that the store does not know any more is answered with a fresh snapshot", async () => {
    const { acting, watching } = open();
    await put(acting, aTask("00000001"));
    const stop = new AbortController();
    const observer = new Observer(watching, systemClock, null);
    const [first] = await take(1, observer.changes({ after: "no such place", signal: stop.signal }), stop);
    expect(first).toMatchObject({ kind: "reset", snapshot: { loops: [{ id: "00000001" }] } });
  });

  test("a reader that is done leaves nothing running", async () => {
    const { watching } = open();
    const stop = new AbortController();
    const observer = new Observer(watching, systemClock, null);
    const taking = take(1, observer.changes({ signal: stop.signal }), stop);
    stop.abort();
    expect(await taking).toEqual([]);
  });
});

describe("the activity of a turn", () => {
  test("is told page by page until the turn has ended", async () => {
    const journal = new MemoryJournal();
    const store = new MemoryStore({ journal, clock: systemClock, name: "a" });
    const goal = aGoal({ id: id("00000001"), job: aJob() });
    await put(store, goal);
    const turn = { loopId: goal.id, turnId: goal.job?.id ?? "" };
    const observer = new Observer(store, systemClock, store.activity);
    store.activity.append(turn, [{ type: "text", text: "one" }]);
    const told: unknown[] = [];
    for await (const page of observer.activity(turn, { signal: AbortSignal.timeout(20_000) })) {
      told.push(...page.events);
      if (told.length === 1) store.activity.append(turn, [{ type: "tool", name: "Edit", detail: "a.ts" }]);
      if (told.length === 2) await put(store, { ...goal, job: null });
    }
    expect(told).toEqual([
      { type: "text", text: "one" },
      { type: "tool", name: "Edit", detail: "a.ts" },
    ]);
  });
});
