/**
 * A13 H1 a journal that lost something is never taken for the whole. 1,000 times the files of a journal are cut, thinned
 * out, flipped or rolled back. After each, every loop is as it was, or the store says that it is held.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Loop, LoopId } from "../../../src/core/loop.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { asTask } from "../../support/only-tasks.ts";
import { runs } from "../../support/runs.ts";
import { creation, ending, idOf, increment, NOW, newTask } from "../fixtures/tasks.ts";
import { fastTempDir, removeTempDirs } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const TRIALS = runs(1_000);
const LOOPS = [1, 2, 3, 4, 5].map(idOf);

/** A generator of numbers from a seed, so that a failure can be repeated. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % sides;
  };
}

type Files = ReadonlyMap<string, Buffer>;

function filesIn(dir: string): Files {
  const names = readdirSync(dir).filter((name) => /^journal.*\.jsonl$/.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(dir, name))]));
}

function put(dir: string, files: Files): void {
  for (const name of filesIn(dir).keys()) if (!files.has(name)) rmSync(join(dir, name));
  for (const [name, bytes] of files) writeFileSync(join(dir, name), bytes);
}

type Harm = (files: Files, roll: (sides: number) => number, past: readonly Files[]) => Files;

const one = (files: Files, roll: (sides: number) => number): [string, Buffer] =>
  [...files][roll(files.size)] as [string, Buffer];

/** What disks, editors, backups, git and attackers do. */
const HARMS: Readonly<Record<string, Harm>> = {
  "the newest file is cut": (files, roll) => {
    const [name, bytes] = [...files].at(-1) as [string, Buffer];
    return new Map([...files, [name, bytes.subarray(0, roll(bytes.length))]]);
  },
  "any file is cut": (files, roll) => {
    const [name, bytes] = one(files, roll);
    return new Map([...files, [name, bytes.subarray(0, roll(bytes.length))]]);
  },
  "a line is removed": (files, roll) => {
    const [name, bytes] = one(files, roll);
    const lines = bytes.toString("latin1").split("\n");
    lines.splice(roll(lines.length - 1), 1);
    return new Map([...files, [name, Buffer.from(lines.join("\n"), "latin1")]]);
  },
  "a bit is flipped": (files, roll) => {
    const [name, bytes] = one(files, roll);
    const flipped = Buffer.from(bytes);
    const at = roll(bytes.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << roll(8));
    return new Map([...files, [name, flipped]]);
  },
  "two lines change places": (files, roll) => {
    const [name, bytes] = one(files, roll);
    const lines = bytes.toString("latin1").split("\n");
    const at = roll(Math.max(1, lines.length - 2));
    lines.splice(at, 2, lines[at + 1] ?? "", lines[at] ?? "");
    return new Map([...files, [name, Buffer.from(lines.join("\n"), "latin1")]]);
  },
  "a file is removed": (files, roll) => {
    const [name] = one(files, roll);
    return new Map([...files].filter(([other]) => other !== name));
  },
  "all files are as they were before": (_, roll, past) => past[roll(past.length)] ?? new Map(),
  "all files are gone": () => new Map(),
};

async function live(dir: string): Promise<{ past: Files[]; truth: Map<LoopId, Loop | undefined> }> {
  const open = () => new FolderStore(dir, { now: () => NOW, say: () => {}, segmentBytes: 6_000 });
  const past: Files[] = [];
  const store = open();
  for (const id of LOOPS) await store.commit(creation(newTask(id)));
  for (let n = 0; n < 60; n++) {
    const id = LOOPS[n % 4] as LoopId;
    const task = asTask(store.load(id));
    if (task !== undefined) await store.commit(n === 50 ? ending(task) : increment(task, `step ${n}`));
    past.push(filesIn(dir));
  }
  return { past: past.slice(0, -1), truth: new Map(LOOPS.map((id) => [id, open().load(id)])) };
}

test("A13 H1 J5 of 1,000 harmed journals none is silently older than it was", async () => {
  const dir = join(fastTempDir(), ".loop");
  mkdirSync(dir);
  const { past, truth } = await live(dir);
  const whole = filesIn(dir);
  expect(whole.size).toBeGreaterThan(2);
  const silent: string[] = [];
  let held = 0;
  const names = Object.keys(HARMS);
  for (let trial = 0; trial < TRIALS; trial++) {
    const roll = dice(trial + 1);
    const harm = names[trial % names.length] ?? "";
    put(dir, HARMS[harm]?.(whole, roll, past) ?? whole);
    const store = new FolderStore(dir, { now: () => NOW, say: () => {} });
    const said = new Set(
      store
        .faults()
        .flatMap((fault) => (fault.kind === "held" ? fault.loops : []))
        .map(({ id }) => id),
    );
    for (const [id, loop] of truth) {
      const now = store.load(id);
      if (said.has(id)) expect(now, "a held loop does not run").toBeUndefined();
      else if (JSON.stringify(now) !== JSON.stringify(loop)) silent.push(`${trial} ${harm}: ${id}`);
    }
    held += said.size;
  }
  expect(silent).toEqual([]);
  expect(held).toBeGreaterThan(TRIALS / 2);
  put(dir, whole);
  expect(new FolderStore(dir, { now: () => NOW, say: () => {} }).faults()).toEqual([]);
});

test("A13 what a person says counts: the loops run on from what is left", async () => {
  const dir = join(fastTempDir(), ".loop");
  mkdirSync(dir);
  const { past } = await live(dir);
  put(dir, past[10] ?? new Map());
  const store = new FolderStore(dir, { now: () => NOW, say: () => {} });
  expect(store.faults()).toEqual([expect.objectContaining({ kind: "held" })]);
  store.journal.acceptPast();
  const after = new FolderStore(dir, { now: () => NOW, say: () => {} });
  expect(after.faults()).toEqual([]);
  const task = asTask(after.load(LOOPS[0] as LoopId));
  expect(task?.streak).toBeLessThan(10);
  expect(await after.commit(increment(task ?? newTask(LOOPS[0] as LoopId)))).toEqual({ kind: "committed" });
  expect(new FolderStore(dir, { now: () => NOW, say: () => {} }).faults()).toEqual([]);
});
