/**
 * Real processes on one folder, with segments so small that somebody seals one all the time, killed at any moment.
 * Short by default; `LOOP_TEST_LONG=1` for the long form.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { LoopEntry } from "../../../src/store/journal/entry.ts";
import { Journal } from "../../../src/store/journal/journal.ts";
import { claimOrigin } from "../../../src/store/signed/origin.ts";
import { asTask } from "../../support/only-tasks.ts";
import { until } from "../../support/until.ts";
import { loopLinesIn } from "../fixtures/lines.ts";
import { killStores, removeBundle, type StoreProcess, spawnStore } from "../fixtures/spawn-store.ts";
import { creation, idOf, newTask } from "../fixtures/tasks.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

const isLong = Boolean(process.env.LOOP_TEST_LONG);
const WRITERS = isLong ? 6 : 4;
const COUNT = isLong ? 5_000 : 600;
const KILLS = isLong ? 300 : 16;
const ROUNDS = isLong ? 200 : 30;
const TIMEOUT = isLong ? 1_200_000 : 60_000;
const SHARED = [idOf(1), idOf(2)];
const TINY = { segmentBytes: 4_000, keptSegments: 1_000_000 };

afterEach(async () => {
  await killStores();
  removeTempDirs();
});
afterAll(removeBundle);

function acknowledged(writers: readonly StoreProcess[]): string[] {
  return writers.flatMap(({ said }) => said.map((message) => String(message.did)));
}

/** Every commit builds on the one before: versions without a hole, the counter with them. */
function expectNoLostUpdate(dir: string, entries: readonly LoopEntry[]): void {
  const versions = new Map<string, number>();
  for (const { id, ver, loop } of entries) {
    expect(ver).toBe((versions.get(id) ?? 0) + 1);
    expect(asTask(loop).streak).toBe(ver - 1);
    versions.set(id, ver);
  }
  const journal = new Journal(dir, TINY);
  journal.refresh();
  expect(
    Object.fromEntries([...journal.state.loops.values()].map(({ id, version }) => [id, version])),
  ).toEqual(Object.fromEntries(versions));
}

async function expectAllAgree(processes: readonly StoreProcess[]): Promise<void> {
  const views = await Promise.all(processes.map((one) => one.ask({ op: "counters" })));
  for (const view of views) expect(view.counters).toEqual(views[0]?.counters);
}

describe("several processes write at once", () => {
  test(
    "A12 H1 nothing is lost and nothing doubled while segments are sealed all the time",
    async () => {
      const dir = tempDir();
      const writers = await Promise.all(Array.from({ length: WRITERS }, () => spawnStore({ dir, ...TINY })));
      await Promise.all(
        writers.map((writer, n) =>
          writer.ask({ op: "write", name: `w${n}`, ids: [...SHARED, idOf(16 + n)], count: COUNT }),
        ),
      );
      const entries = loopLinesIn(dir);
      const prompts = entries.map(({ loop }) => asTask(loop).prompt);
      expect(acknowledged(writers)).toHaveLength(WRITERS * COUNT);
      expect([...prompts].sort()).toEqual(acknowledged(writers).sort());
      for (const { said } of writers) {
        const mine = said.map((message) => String(message.did));
        const own = new Set(mine);
        expect(prompts.filter((prompt) => own.has(prompt))).toEqual(mine);
      }
      expectNoLostUpdate(dir, entries);
      await expectAllAgree(writers);
      const late = await spawnStore({ dir, ...TINY });
      await expectAllAgree([...writers, late]);
      // who writes to a loop of his own never hears of a conflict, however often he lands behind a seal
      const answers = await Promise.all(
        writers.map((writer, n) =>
          writer.ask({ op: "write", name: `own${n}`, ids: [idOf(16 + n)], count: COUNT / 4 }),
        ),
      );
      expect(answers).toEqual(writers.map(() => ({ conflicts: 0 })));
      await expectAllAgree([...writers, late]);
      const view = await late.ask({ op: "counters" });
      expect(view.generation).toBeGreaterThan(COUNT / 10);
      expect(view.damaged).toBe(0);
    },
    TIMEOUT,
  );

  test(
    "H1 SIGKILL at any moment: what was acknowledged is there once, and at most one more per kill",
    async () => {
      const dir = tempDir();
      const everyone: StoreProcess[] = [];
      let kills = 0;
      const runWriter = async (n: number): Promise<void> => {
        for (let life = 0; kills < KILLS; life++) {
          const writer = await spawnStore({ dir, ...TINY });
          everyone.push(writer);
          writer.tell({
            op: "write",
            name: `w${n}.${life}`,
            ids: [...SHARED, idOf(16 + n)],
            count: 1_000_000,
          });
          const enough = 1 + Math.floor(Math.random() * 40);
          await until(() => writer.said.length >= enough, "the writer wrote", 60_000);
          await writer.kill();
          kills += 1;
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, n) => runWriter(n)));
      const entries = loopLinesIn(dir);
      const prompts = entries.map(({ loop }) => asTask(loop).prompt);
      const told = acknowledged(everyone);
      expect(new Set(prompts).size).toBe(prompts.length);
      expect(told.filter((prompt) => !new Set(prompts).has(prompt))).toEqual([]);
      expect(prompts.length - told.length).toBeLessThanOrEqual(kills);
      expectNoLostUpdate(dir, entries);
      const witnesses = await Promise.all([spawnStore({ dir, ...TINY }), spawnStore({ dir, ...TINY })]);
      expect(await witnesses[0]?.ask({ op: "increment", id: idOf(1) })).toEqual({ kind: "committed" });
      await expectAllAgree(witnesses);
    },
    TIMEOUT,
  );
});

test("A9 H1 of the very first commits, before there is a journal, none is told the wrong thing", {
  timeout: TIMEOUT,
}, async () => {
  for (let round = 0; round < (isLong ? 40 : 3); round++) {
    const dir = tempDir();
    const setup = { dir, segmentBytes: 100, keptSegments: 1_000 };
    const processes = await Promise.all(Array.from({ length: 6 }, () => spawnStore(setup)));
    await Promise.all(processes.map((one) => one.ask({ op: "counters" })));
    const ids = processes.flatMap((_, n) => [idOf(n), idOf(100 + n)]);
    const answers = await Promise.all(ids.map((id, n) => processes[n % 6]?.ask({ op: "create", id })));
    expect(answers).toEqual(ids.map(() => ({ kind: "committed" })));
    expect(loopLinesIn(dir)).toHaveLength(ids.length);
    await killStores();
  }
});

test("H1 a line that ran into somebody's torn line is written again", { timeout: TIMEOUT }, async () => {
  const dir = tempDir();
  claimOrigin(dir);
  const journal = new Journal(dir);
  journal.append({ type: "loop", ver: 1, ...entryOf() });
  const tear = `const fs = require("node:fs"); const fd = fs.openSync(process.argv[1], "a");
    for (;;) { fs.writeSync(fd, "torn"); fs.fsyncSync(fd); }`;
  const vandal = spawn(process.execPath, ["-e", tear, join(dir, "journal.jsonl")]);
  const isGone = once(vandal, "exit");
  try {
    const writer = await spawnStore({ dir, segmentBytes: 1e9 });
    expect(await writer.ask({ op: "write", name: "w", ids: SHARED, count: COUNT })).toEqual({ conflicts: 0 });
    expect(await writer.ask({ op: "counters" })).toMatchObject({ counters: { [idOf(1)]: COUNT / 2 } });
  } finally {
    vandal.kill("SIGKILL");
    await isGone;
  }
  const late = new Journal(dir);
  late.refresh();
  expect(late.state.damaged).toBeGreaterThan(COUNT / 10);
  expectNoLostUpdate(dir, loopLinesIn(dir));
});

test(
  "D6 of eight processes that take the lease at once exactly one gets it, and the one before is fenced",
  async () => {
    const dir = tempDir();
    claimOrigin(dir);
    new Journal(dir).append({ type: "loop", ver: 1, ...entryOf() });
    const processes = await Promise.all(Array.from({ length: 8 }, () => spawnStore({ dir, ...TINY })));
    await Promise.all(processes.map((one) => one.ask({ op: "counters" })));
    let holder: StoreProcess | null = null;
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all(
        processes.map((one) => one.ask({ op: "acquire", expectedToken: round })),
      );
      const winners = processes.filter((_, n) => answers[n]?.lease !== null);
      expect(winners).toHaveLength(1);
      const [winner] = winners;
      expect(answers[processes.indexOf(winner as StoreProcess)]?.lease).toMatchObject({
        token: round + 1,
        pid: winner?.pid,
      });
      expect(await winner?.ask({ op: "increment", id: idOf(1), token: round + 1 })).toEqual({
        kind: "committed",
      });
      if (holder !== null)
        expect(await holder.ask({ op: "increment", id: idOf(1), token: round })).toEqual({ kind: "fenced" });
      holder = winner ?? null;
    }
    expect(await holder?.ask({ op: "counters" })).toMatchObject({
      counters: { [idOf(1)]: ROUNDS },
      lastToken: ROUNDS,
    });
  },
  TIMEOUT,
);

function entryOf() {
  const { id, loop, event, effects, outcomes, at, token } = creation(newTask(idOf(1)));
  return { id, loop, event, effects, outcomes, at, token };
}
