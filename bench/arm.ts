/**
 * 100,000 tasks in one process: what one costs from its creation until the engine has it armed, what it occupies, and
 * whether a look of the engine costs more when more tasks wait.
 */
import { closeSync, fsyncSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createTask } from "../src/core/task/decide-task.ts";
import { addTask } from "../src/engine/tasks/tasks.ts";
import type { Store } from "../src/ports/store.ts";
import { encodeEntry } from "../src/store/journal/entry.ts";
import { claimOrigin } from "../src/store/signed/origin.ts";
import { MemoryJournal, MemoryStore } from "../src/testing.ts";
import { startTicking, type Ticking } from "./engine.ts";
import { draftOf, farAway, idOf, openStore, tempProject } from "./project.ts";
import { isQuick, median, report } from "./report.ts";

const MANY = 100_000;
const FEW = 1_000;
const ON_DISK = isQuick ? 500 : 2_000;
const LIMIT = 1.5;
const START = Date.UTC(2026, 0, 5, 10);

await createInMemory();
await createOnDisk();
await tickInMemory();
await tickOnDisk();

/** Everything but the disk: the decision, the line, the fold, the engine's look, the heap. */
async function createInMemory(): Promise<void> {
  const store = memoryStore();
  const ticking = await startTicking(store, START);
  const before = heap();
  const batches: number[] = [];
  for (let n = 0; n < MANY; ) {
    const startedAt = performance.now();
    for (const end = n + FEW; n < end; n++) await createAndArm(store, ticking, n);
    batches.push((performance.now() - startedAt) / FEW);
  }
  const bytes = (heap() - before) / MANY;
  // after the measurement, so that nothing of it is garbage by then
  await stopAll(ticking);
  const [first, last] = [median(batches.slice(0, 10)), median(batches.slice(-10))];
  report({
    name: "create to armed, 100,000 in memory",
    figure: `${(median(batches) * 1000).toFixed(1)} µs, ${Math.round(bytes)} bytes per task`,
    ratio: last / first,
    peer: "last 10,000 : first 10,000",
  });
}

/** Each is on disk before the answer: the price is the fsync. */
async function createOnDisk(): Promise<void> {
  const { dir } = tempProject();
  const store = openStore(dir);
  const ticking = await startTicking(store, Date.now());
  const ours: number[] = [];
  const bare: number[] = [];
  const fd = openSync(join(dir, "bare"), "a");
  const line = "x".repeat(900);
  for (let n = 0; n < ON_DISK; n++) {
    let startedAt = performance.now();
    await createAndArm(store, ticking, n);
    ours.push(performance.now() - startedAt);
    startedAt = performance.now();
    writeSync(fd, line);
    fsyncSync(fd);
    bare.push(performance.now() - startedAt);
  }
  closeSync(fd);
  await stopAll(ticking);
  report({
    name: `create to armed, ${ON_DISK.toLocaleString("en")} on disk`,
    figure: `${(median(ours) * 1000).toFixed(0)} µs per task`,
    ratio: median(ours) / median(bare),
    peer: `write + fsync: ${(median(bare) * 1000).toFixed(0)} µs`,
  });
}

async function tickInMemory(): Promise<void> {
  const few = memoryStore();
  const many = memoryStore();
  for (let n = 0; n < FEW; n++) await create(few, n);
  for (let n = 0; n < MANY; n++) await create(many, n);
  const [ours, peer] = await compareTicks(
    await startTicking(many, START),
    await startTicking(few, START),
    2_000,
  );
  reportTicks("a look, in memory", ours, peer);
}

/** The same with the real store, opened on a journal of that many tasks. */
async function tickOnDisk(): Promise<void> {
  const few = openStore(journalOf(FEW));
  const path = journalOf(MANY);
  const before = heap();
  const startedAt = performance.now();
  const many = openStore(path);
  const manyTicking = await startTicking(many, START);
  const openMs = performance.now() - startedAt;
  const bytes = (heap() - before) / MANY;
  report({
    name: "open and arm 100,000 from disk",
    figure: `${openMs.toFixed(0)} ms, ${Math.round(bytes)} bytes per task`,
    ratio: null,
    peer: "-",
  });
  const [ours, peer] = await compareTicks(manyTicking, await startTicking(few, START), 500);
  reportTicks("a look, real store", ours, peer);
}

/** An engine that runs holds its timers and watches, and with them this process. */
async function stopAll(...all: readonly Ticking[]): Promise<void> {
  for (const { engine } of all) await engine.stop("the bench is over");
}

async function compareTicks(many: Ticking, few: Ticking, perBatch: number): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let batch = -5; batch < 40; batch++) {
    const pair = [many, few] as const;
    for (const which of batch % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const startedAt = performance.now();
      for (let n = 0; n < perBatch; n++) await pair[which].tick();
      if (batch >= 0) times[which].push((performance.now() - startedAt) / perBatch);
    }
  }
  await stopAll(many, few);
  return [median(times[0]), median(times[1])];
}

function reportTicks(name: string, ours: number, peer: number): void {
  report({
    name: `${name}, 100,000 not due`,
    figure: `${(ours * 1000).toFixed(2)} µs`,
    ratio: ours / peer,
    peer: `1,000 not due: ${(peer * 1000).toFixed(2)} µs, limit ${LIMIT}`,
    limit: LIMIT,
  });
}

async function createAndArm(store: Store, ticking: Ticking, n: number): Promise<void> {
  await create(store, n);
  await ticking.tick();
}

async function create(store: Store, n: number): Promise<void> {
  await addTask(store, draftOf(n, farAway(n, START)), MANY, START, () => idOf(n));
}

function memoryStore(): MemoryStore {
  const journal = new MemoryJournal();
  journal.json = false;
  journal.maxLines = 16;
  const clock = { now: () => START, wake: () => ({ cancel: () => {} }) };
  return new MemoryStore({ journal, clock, name: "bench" });
}

/** A journal as that many creations would have left it, without their fsyncs. */
function journalOf(count: number): string {
  const { dir } = tempProject();
  const signer = claimOrigin(dir);
  const lines: string[] = [];
  for (let n = 0; n < count; n++) {
    const { loop, effects, outcomes } = createTask({ ...draftOf(n, farAway(n, START)), id: idOf(n) }, START);
    const event = { type: "task.created" } as const;
    const common = {
      v: 1,
      w: `bench.${n}`,
      at: START,
      type: "loop",
      id: loop.id,
      ver: 1,
      token: null,
    } as const;
    lines.push(encodeEntry({ ...common, max: MANY, event, effects, outcomes, loop }, signer));
  }
  writeFileSync(join(dir, "journal.jsonl"), lines.join(""), { mode: 0o600 });
  return dir;
}

function heap(): number {
  if (globalThis.gc === undefined) throw new Error("run with --expose-gc (npm run bench does)");
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
