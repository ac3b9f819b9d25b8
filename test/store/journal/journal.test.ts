import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Goal } from "../../../src/core/goal/goal.ts";
import type { LoopId, Task } from "../../../src/core/loop.ts";
import { LoopError } from "../../../src/errors.ts";
import type { Commit } from "../../../src/ports/store.ts";
import { JOURNAL_VERSION } from "../../../src/store/journal/entry.ts";
import { Journal, type JournalOptions } from "../../../src/store/journal/journal.ts";
import { aJob } from "../../support/goals/goals.ts";
import { asTask, asTasks } from "../../support/only-tasks.ts";
import { endedGoal, goalChange, goalCreation, lifeOf, newGoal } from "../fixtures/goals.ts";
import { lineIn, loopLinesIn } from "../fixtures/lines.ts";
import { creation, ending, idOf, increment, NOW, newTask, wantedLease } from "../fixtures/tasks.ts";
import { fastTempDir, removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const A = idOf(1);
const B = idOf(2);
const TINY: JournalOptions = { segmentBytes: 2_000, keptSegments: 1_000, keptBytes: 64_000_000 };

function entryOf({ expectedVersion, maxLive, ...rest }: Commit) {
  const max = maxLive === undefined ? {} : { max: maxLive };
  return { type: "loop" as const, ver: expectedVersion + 1, ...rest, ...max };
}

function commit(journal: Journal, wanted: Commit): string {
  return journal.append(entryOf(wanted)).kind;
}

function bump(journal: Journal, id: LoopId): string {
  journal.refresh();
  const task = asTask(journal.state.loops.get(id));
  return commit(journal, task === undefined ? creation(newTask(id)) : increment(task));
}

function opened(dir: string, options: Partial<JournalOptions> = {}): Journal {
  const journal = new Journal(dir, options);
  journal.refresh();
  return journal;
}

function counters(dir: string): Record<string, number> {
  return Object.fromEntries(asTasks(opened(dir).state.loops.values()).map(({ id, streak }) => [id, streak]));
}

function journalsIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.startsWith("journal"));
}

function segments(dir: string): string[] {
  const number = (name: string) => Number(/\d+/.exec(name)?.[0] ?? 1);
  return journalsIn(dir).sort((a, b) => number(a) - number(b));
}

function pathOf(dir: string, generation = 1): string {
  return join(dir, generation === 1 ? "journal.jsonl" : `journal.${generation}.jsonl`);
}

/** A journal with several segments; the newest has lines behind its snapshot. */
function rotated(dir: string, options: Partial<JournalOptions> = TINY): Journal {
  const journal = opened(dir, options);
  for (let n = 0; n < 20; n++) bump(journal, A);
  expect(journal.position.generation).toBeGreaterThan(2);
  while (readFileSync(pathOf(dir, journal.position.generation), "utf8").split("\n").length < 4)
    bump(journal, A);
  return journal;
}

function goalThatEnded(id: LoopId, at: number): Goal {
  const goal = endedGoal(id);
  if (goal.end === null) throw new Error("it has not ended");
  return { ...goal, end: { ...goal.end, at } };
}

describe("append and refresh", () => {
  test("A9 what was committed is there for a process that starts afterwards", () => {
    const dir = tempDir();
    const journal = opened(dir);
    expect(commit(journal, creation(newTask(A, { prompt: "a\nb\u2028 \ud800 ~" })))).toBe("committed");
    expect(opened(dir).state.loops).toEqual(journal.state.loops);
    expect(asTask(journal.state.loops.get(A))?.prompt).toBe("a\nb\u2028 \ud800 ~");
    expect(statSync(pathOf(dir)).mode & 0o777).toBe(0o600);
  });

  test("A12 two on one folder see each other, and refresh names what changed", () => {
    const dir = tempDir();
    const one = opened(dir);
    const other = opened(dir);
    bump(one, A);
    expect(other.refresh()).toEqual([A]);
    expect(other.refresh()).toEqual([]);
    bump(other, A);
    bump(other, B);
    expect(one.refresh()).toEqual(expect.arrayContaining([A, B]));
    expect(one.state).toEqual(other.state);
  });

  test("A12 of two decisions on one version one counts; the other is told, and sees why", () => {
    const dir = tempDir();
    const one = opened(dir);
    bump(one, A);
    const other = opened(dir);
    const task = one.state.loops.get(A) as Task;
    expect(commit(one, increment(task, "one"))).toBe("committed");
    expect(commit(other, increment(task, "other"))).toBe("conflict");
    expect(asTask(other.state.loops.get(A))?.prompt).toBe("one");
  });

  test("what is refused leaves nothing in the file", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    const { size } = statSync(pathOf(dir));
    expect(commit(journal, creation(newTask(A)))).toBe("conflict");
    expect(commit(journal, increment(newTask(A), "x", 5))).toBe("fenced");
    expect(commit(journal, creation(newTask(B), 1))).toBe("full");
    expect(statSync(pathOf(dir)).size).toBe(size);
  });

  test("a reader does not take a line before its newline is there", () => {
    const dir = tempDir();
    const reader = opened(dir);
    const line = lineIn(dir, { v: 1, w: "x", ...entryOf(creation(newTask(A))) });
    for (const byte of Buffer.from(line)) {
      expect(reader.refresh()).toEqual([]);
      appendFileSync(pathOf(dir), Buffer.from([byte]));
    }
    expect(reader.refresh()).toEqual([A]);
    expect(reader.state.damaged).toBe(0);
  });

  test("a line of a newer version stops it with a sentence, and nothing is taken twice", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    const other = opened(dir);
    bump(other, A);
    appendFileSync(pathOf(dir), lineIn(dir, { v: JOURNAL_VERSION + 1, w: "x", at: NOW, type: "seal" }));
    expect(() => journal.refresh()).toThrow(LoopError);
    expect(() => journal.refresh()).toThrow(/newer version/);
    expect(() => bump(journal, A)).toThrow(/newer version/);
    expect(asTask(journal.state.loops.get(A))?.streak).toBe(1);
  });

  test("time: an append and a refresh cost the same in a journal of 20,000 loops", {
    timeout: 60_000,
  }, () => {
    const dir = fastTempDir();
    const loops = Array.from({ length: 20_000 }, (_, n) => newTask(idOf(n + 10)));
    const snapshot = { v: 1, w: "x", at: 0, type: "snapshot", lastToken: 0, lease: null, loops } as const;
    writeFileSync(pathOf(dir), lineIn(dir, snapshot));
    const big = opened(dir);
    const small = opened(fastTempDir());
    const spent = (journal: Journal): number => {
      const times: number[] = [];
      for (let n = 0; n < 60; n++) {
        const start = performance.now();
        bump(journal, A);
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b)[30] ?? 0;
    };
    expect(big.state.loops.size).toBe(20_000);
    spent(small);
    // a fold of all loops, or a read of the whole file, would cost some 100 ms
    expect(spent(big)).toBeLessThan(spent(small) + 10);
  });
});

describe("H1 torn and damaged lines", () => {
  test("a last line that was cut at any byte is void; the lines before survive and the next append works", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    bump(journal, B);
    const before = statSync(pathOf(dir)).size;
    bump(journal, A);
    const whole = readFileSync(pathOf(dir));
    for (let length = before; length < whole.length; length++) {
      writeFileSync(pathOf(dir), whole.subarray(0, length));
      const after = opened(dir);
      expect(asTask(after.state.loops.get(A))?.streak, `cut at ${length}`).toBe(0);
      expect(bump(after, B)).toBe("committed");
      // also where nothing but the newline was missing: nobody was told that it counts
      expect(counters(dir), `cut at ${length}`).toEqual({ [A]: 0, [B]: 1 });
    }
  });

  test("a torn line in the middle costs that line only", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    appendFileSync(pathOf(dir), '{"v":1,"w":"zz","type":"loop","id":"0000');
    expect(bump(journal, A)).toBe("committed");
    expect(bump(journal, B)).toBe("committed");
    expect(readFileSync(pathOf(dir), "utf8").split("\n")[1]).toBe(
      '{"v":1,"w":"zz","type":"loop","id":"0000~',
    );
    expect(counters(dir)).toEqual({ [A]: 1, [B]: 0 });
    expect(opened(dir).state.damaged).toBe(1);
  });

  test("any single byte damaged: no crash, other loops whole, the next append works, all processes agree", () => {
    const dir = tempDir();
    const journal = opened(dir);
    const loops = [A, B, idOf(3)];
    for (let n = 0; n < 2; n++) for (const id of loops) bump(journal, id);
    const whole = readFileSync(pathOf(dir));
    const lines = whole.toString("latin1").split("\n");
    for (let at = 0; at < whole.length; at += 7) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x20;
      writeFileSync(pathOf(dir), damaged);
      const hit = whole.subarray(0, at).toString("latin1").split("\n").length - 1;
      // a lost newline costs two lines
      const isHit = (n: number): boolean => n === hit || (whole[at] === 0x0a && n === hit + 1);
      const expected = new Map<string, number>();
      for (let n = 0; n < lines.length - 1; n++)
        if (!isHit(n)) expected.set(loops[n % 3] ?? "", n < 3 ? 0 : 1);
      const after = opened(dir);
      const found = new Map(
        asTasks(after.state.loops.values()).map(({ id, streak }) => [String(id), streak]),
      );
      expect(found, `byte ${at}`).toEqual(expected);
      expect(bump(after, A)).toBe("committed");
      expect(opened(dir).state).toEqual(after.state);
    }
  });

  test("a damaged lease line does not shut out the owner, and gives its token to nobody else", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    const start = statSync(pathOf(dir)).size;
    const lease = { ...wantedLease(), token: 1 };
    expect(journal.append({ type: "lease", at: NOW, lease }).kind).toBe("committed");
    expect(commit(journal, increment(journal.state.loops.get(A) as Task, "x", 1))).toBe("committed");
    const bytes = readFileSync(pathOf(dir));
    bytes[start + 5] = 0x58;
    writeFileSync(pathOf(dir), bytes);
    const late = opened(dir);
    expect(late.state).toMatchObject({ lastToken: 1, lease: { token: 1 } });
    expect(late.append({ type: "lease", at: NOW, lease }).kind).toBe("fenced");
    expect(late.append({ type: "lease", at: NOW, lease: { ...lease, token: 2 } }).kind).toBe("committed");
    journal.refresh();
    expect(journal.state.lastToken).toBe(2);
  });

  test("a stale decision does not revive a deleted loop, in a damaged journal across a rotation", () => {
    const dir = tempDir();
    const late = opened(dir, TINY);
    bump(late, A);
    const stale = late.state.loops.get(A) as Task;
    const other = opened(dir, TINY);
    commit(other, ending(stale));
    while (other.position.generation === 1) bump(other, B);
    appendFileSync(pathOf(dir, other.position.generation), "damaged\n");
    expect(commit(late, increment(asTask(increment(stale).loop)))).toBe("conflict");
    expect(opened(dir).state.loops.has(A)).toBe(false);
  });
});

describe("rotation", () => {
  test("segments follow each other, the state stays the same, the history is whole", () => {
    const dir = tempDir();
    const journal = rotated(dir);
    const { streak = 0 } = asTask(journal.state.loops.get(A)) ?? {};
    expect(segments(dir).length).toBe(journal.position.generation);
    expect(opened(dir).state.loops).toEqual(journal.state.loops);
    const versions = loopLinesIn(dir).map(({ ver }) => ver);
    expect(versions).toEqual(Array.from({ length: streak + 1 }, (_, n) => n + 1));
    for (const name of segments(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  });

  test("A12 one that stayed behind reads through all seals", () => {
    const dir = tempDir();
    const late = opened(dir, TINY);
    bump(late, B);
    rotated(dir);
    expect(late.refresh()).toContain(A);
    expect(late.state.loops).toEqual(opened(dir).state.loops);
    expect(bump(late, B)).toBe("committed");
  });

  test("H1 a crash between seal and snapshot: whoever comes next makes the snapshot", () => {
    const dir = tempDir();
    const journal = opened(dir);
    const witness = opened(dir);
    bump(journal, A);
    appendFileSync(pathOf(dir), lineIn(dir, { v: 1, w: "x", at: NOW, type: "seal" }));
    const behind = lineIn(dir, { v: 1, w: "y", ...entryOf(creation(newTask(B))) });
    appendFileSync(pathOf(dir), behind);
    expect(counters(dir)).toEqual({ [A]: 0 });
    expect(segments(dir)).toEqual(["journal.jsonl", "journal.2.jsonl"]);
    expect(bump(journal, A)).toBe("committed");
    expect(bump(witness, A)).toBe("committed");
    expect(counters(dir)).toEqual({ [A]: 2 });
  });

  test("at a seal the next line goes into the next segment", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    // the release of a lease is not repeated by anybody: it must not get lost at a seal
    journal.append({ type: "lease", at: NOW, lease: { ...wantedLease(), token: 1 } });
    appendFileSync(pathOf(dir), lineIn(dir, { v: 1, w: "x", at: NOW, type: "seal" }));
    expect(journal.append({ type: "release", at: NOW, token: 1 }).kind).toBe("committed");
    expect(opened(dir).state.lease).toBeNull();
  });

  test("A13 a damaged snapshot is rebuilt from the segment before", () => {
    const dir = tempDir();
    const journal = rotated(dir);
    const newest = pathOf(dir, journal.position.generation);
    const bytes = readFileSync(newest);
    for (const at of [0, 10, bytes.indexOf(0x0a) - 2]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x04;
      writeFileSync(newest, damaged);
      const after = opened(dir, TINY);
      expect(after.state.loops).toEqual(journal.state.loops);
      expect(after.state.damaged).toBe(1);
    }
    const after = opened(dir, TINY);
    expect(bump(after, A)).toBe("committed");
    expect(opened(dir, TINY).state.loops).toEqual(after.state.loops);
  });

  test("H1 a damaged seal keeps nobody in the old segment", () => {
    const dir = tempDir();
    const behind = opened(dir, TINY);
    bump(behind, B);
    const { generation } = rotated(dir).position;
    for (let n = 1; n < generation; n++) {
      const bytes = readFileSync(pathOf(dir, n));
      bytes[bytes.length - 5] = 0x58;
      writeFileSync(pathOf(dir, n), bytes);
    }
    expect(behind.refresh()).toContain(A);
    expect(behind.position.generation).toBe(generation);
    expect(behind.state.loops).toEqual(opened(dir).state.loops);
  });

  test("a snapshot that came late (no hard links) does not take back what others wrote before it", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    appendFileSync(pathOf(dir), lineIn(dir, { v: 1, w: "x", at: NOW, type: "seal" }));
    writeFileSync(pathOf(dir, 2), "");
    expect(bump(journal, A)).toBe("committed");
    const loops = [newTask(A)];
    appendFileSync(
      pathOf(dir, 2),
      lineIn(dir, { v: 1, w: "x", at: 0, type: "snapshot", lastToken: 0, lease: null, loops }),
    );
    expect(bump(journal, A)).toBe("committed");
    expect(counters(dir)).toEqual({ [A]: 2 });
  });

  test("only so many closed segments are kept", () => {
    const dir = tempDir();
    const journal = rotated(dir, { ...TINY, keptSegments: 2 });
    const { generation } = journal.position;
    expect(segments(dir)).toEqual(
      [generation - 2, generation - 1, generation].map((n) => `journal.${n}.jsonl`),
    );
    expect(opened(dir).state.loops).toEqual(journal.state.loops);
  });

  test("only so many bytes of closed segments are kept, the newest ones and always the last", () => {
    const dir = tempDir();
    const sizes = (names: readonly string[]) => names.map((name) => statSync(join(dir, name)).size);
    const journal = rotated(dir, { ...TINY, keptBytes: 8_000 });
    const { generation } = journal.position;
    const closed = segments(dir).slice(0, -1);
    expect(closed.length).toBeGreaterThan(1);
    expect(closed.at(-1)).toBe(`journal.${generation - 1}.jsonl`);
    expect(closed).toEqual(closed.map((_, n) => `journal.${generation - closed.length + n}.jsonl`));
    expect(sizes(closed).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(8_000);
    expect(opened(dir).state.loops).toEqual(journal.state.loops);
    const little = tempDir();
    const last = rotated(little, { ...TINY, keptBytes: 1 }).position.generation;
    expect(segments(little)).toEqual([last - 1, last].map((n) => `journal.${n}.jsonl`));
  });

  test("one that slept until its segment was retired finds the new one and leaves no stray file", () => {
    const dir = tempDir();
    const sleeper = opened(dir, TINY);
    bump(sleeper, B);
    const { generation } = rotated(dir, { ...TINY, keptSegments: 1 }).position;
    expect(bump(sleeper, B)).toBe("committed");
    expect(sleeper.position.generation).toBeGreaterThanOrEqual(generation);
    expect(segments(dir)).not.toContain("journal.jsonl");
  });

  test("a segment that a person deleted in the middle splits nobody off", () => {
    const dir = tempDir();
    const behind = opened(dir, TINY);
    bump(behind, B);
    const other = opened(dir, TINY);
    while (other.position.generation < 2) bump(other, A);
    bump(other, idOf(9));
    const { generation } = rotated(dir).position;
    rmSync(pathOf(dir, 2));
    expect(behind.refresh()).toContain(idOf(9));
    expect(behind.position.generation).toBe(generation);
    expect(existsSync(pathOf(dir, 2))).toBe(false);
  });

  test("other names are no segments", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    for (const name of ["journal.1.jsonl", "journal.07.jsonl", "journal.x.jsonl", "journal.9.jsonl.tmp"]) {
      writeFileSync(join(dir, name), "nonsense\n");
    }
    expect(bump(journal, A)).toBe("committed");
    expect(counters(dir)).toEqual({ [A]: 1 });
  });

  test("what killed processes left behind is removed, what is in use is not", () => {
    const dir = tempDir();
    const names = ["journal.2.jsonl.x.tmp", "loop.lock.1.tmp", "tasks.json.1.tmp", "mine.tmp"];
    for (const name of [...names, "tasks.json.2.tmp"]) writeFileSync(join(dir, name), "");
    for (const name of names) utimesSync(join(dir, name), NOW / 1000 - 7_200, NOW / 1000 - 7_200);
    rotated(dir);
    expect(
      readdirSync(dir)
        .filter((name) => name.endsWith(".tmp"))
        .sort(),
    ).toEqual(["mine.tmp", "tasks.json.2.tmp"]);
  });
});

describe("goals", () => {
  /** Closes the segment, whatever its size, and goes on in the next. */
  const rotate = (dir: string): Journal => {
    const { generation } = opened(dir).position;
    appendFileSync(pathOf(dir, generation), lineIn(dir, { v: 1, w: "x", at: NOW, type: "seal" }));
    const journal = opened(dir);
    expect(journal.position.generation).toBe(generation + 1);
    return journal;
  };
  const goalIds = (journal: Journal) =>
    [...journal.state.loops.values()].filter(({ kind }) => kind === "goal").map(({ id }) => id);

  test("A13 B20 a journal with goals replays to the same, line by line and through snapshots", () => {
    for (const options of [{}, TINY]) {
      const dir = tempDir();
      const journal = opened(dir, options);
      const along = opened(dir, options);
      journal.append({ type: "lease", at: NOW, lease: { ...wantedLease(), token: 1 } });
      let goal = newGoal(B);
      expect(commit(journal, goalCreation(goal))).toBe("committed");
      const types = lifeOf(B).map((event) => {
        const change = goalChange(goal, event);
        expect(commit(journal, change), event.type).toBe("committed");
        goal = change.loop;
        bump(journal, A);
        expect(along.refresh(), event.type).toEqual(expect.arrayContaining([A, B]));
        expect(along.state.loops, event.type).toEqual(journal.state.loops);
        return event.type;
      });
      const late = opened(dir, options);
      expect(late.state.loops.get(B)).toEqual(JSON.parse(JSON.stringify(goal)));
      expect(late.state.loops).toEqual(journal.state.loops);
      expect(late.state).toMatchObject({ live: 1, lastToken: 1, damaged: 0 });
      const ofGoal = loopLinesIn(dir).filter(({ id }) => id === B);
      expect(ofGoal.map(({ event }) => event.type)).toEqual(["goal.created", ...types]);
      expect(late.position.generation > 1).toBe(options === TINY);
    }
  });

  test("H1 a damaged line of a goal is healed by its next one", () => {
    const dir = tempDir();
    const journal = opened(dir);
    journal.append({ type: "lease", at: NOW, lease: { ...wantedLease(), token: 1 } });
    commit(journal, goalCreation(newGoal(B)));
    const [due, started] = lifeOf(B);
    if (due === undefined || started === undefined) throw new Error("too short a life");
    const intended = goalChange(newGoal(B), due);
    const start = statSync(pathOf(dir)).size;
    commit(journal, intended);
    const bytes = readFileSync(pathOf(dir));
    bytes[start + 40] = (bytes[start + 40] ?? 0) ^ 0x04;
    writeFileSync(pathOf(dir), bytes);
    expect(opened(dir).state).toMatchObject({ damaged: 1 });
    expect(opened(dir).state.loops.get(B)).toEqual(newGoal(B));
    const next = goalChange(intended.loop, started);
    appendFileSync(pathOf(dir), lineIn(dir, { v: 1, w: "x", ...entryOf(next) }));
    const healed = opened(dir);
    expect(healed.state.loops.get(B)).toEqual(next.loop);
    const raised = goalChange(next.loop, { type: "goal.raised", raise: { budgetUsd: 1 } });
    expect(commit(healed, raised)).toBe("committed");
    expect(opened(dir).state.loops).toEqual(healed.state.loops);
  });

  test("B16 of the goals that have ended the ten newest outlive a rotation; the others all do", () => {
    const dir = tempDir();
    const journal = opened(dir);
    // their ages follow neither their ids nor their lines
    const ages = [3, 11, 0, 7, 12, 5, 1, 9, 4, 10, 2, 8, 6];
    const ended = ages.map((age, n) => goalThatEnded(idOf(100 + n), NOW - age));
    for (const goal of ended) commit(journal, goalCreation(goal));
    const open = [
      newGoal(idOf(200), { createdAt: NOW - 20 }),
      newGoal(idOf(201), { createdAt: NOW - 30, status: "paused" }),
      // ended long ago, and not over: its turn has to be settled, its notice to be handed over
      { ...goalThatEnded(idOf(202), NOW - 50), job: aJob() },
      { ...goalThatEnded(idOf(203), NOW - 50), notice: { kind: "done", title: "t", body: "b" } as const },
    ];
    for (const goal of open) commit(journal, goalCreation(goal));
    journal.refresh();
    expect(goalIds(opened(dir))).toHaveLength(17);
    const idsOf = (oldest: number, newest: number) =>
      ended.filter((_, n) => (ages[n] ?? 0) <= oldest && (ages[n] ?? 0) >= newest).map(({ id }) => id);
    const kept = [...idsOf(9, 0), idOf(200), idOf(201), idOf(202), idOf(203)];
    const dropped = idsOf(12, 10);
    const after = rotate(dir);
    expect(goalIds(after).sort()).toEqual(kept);
    expect(goalIds(opened(dir)).sort()).toEqual(kept);
    expect(journal.refresh()).toEqual(expect.arrayContaining(dropped));
    expect(journal.state.loops).toEqual(after.state.loops);
    // the next one that ends takes the place of the oldest
    commit(journal, goalCreation(goalThatEnded(idOf(300), NOW + 1)));
    expect(goalIds(rotate(dir)).sort()).toEqual([
      ...idsOf(8, 0),
      idOf(200),
      idOf(201),
      idOf(202),
      idOf(203),
      idOf(300),
    ]);
    // the lines of a dropped one are still in the history
    const lines = loopLinesIn(dir);
    expect(lines.filter(({ id }) => dropped.includes(id))).toHaveLength(3);
  });
});

describe("H1 the files change under a running process", () => {
  test("a folder that was removed is an error; a new one is a new start", () => {
    const dir = join(tempDir(), ".loop");
    mkdirSync(dir);
    const journal = opened(dir);
    bump(journal, A);
    rmSync(dir, { recursive: true });
    expect(() => bump(journal, B)).toThrow(/ENOENT/);
    mkdirSync(dir);
    expect(journal.refresh()).toEqual([]);
    expect(bump(journal, B)).toBe("committed");
    expect(counters(dir)).toEqual({ [B]: 0 });
  });

  test("removal is a change of every loop", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    journal.refresh();
    rmSync(pathOf(dir));
    expect(journal.refresh()).toEqual([A]);
    expect(journal.state.loops.size).toBe(0);
  });

  test("a file replaced in place, of the same length and the same inode, is noticed", () => {
    const dir = tempDir();
    bump(opened(dir), B);
    const other = readFileSync(pathOf(dir));
    truncateSync(pathOf(dir));
    const journal = opened(dir);
    bump(journal, A);
    writeFileSync(pathOf(dir), other);
    expect(journal.refresh()).toEqual(expect.arrayContaining([A, B]));
    expect([...journal.state.loops.keys()]).toEqual([B]);
    expect(bump(journal, B)).toBe("committed");
  });

  test("a file that was cut and grew again is noticed", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    const { size } = statSync(pathOf(dir));
    bump(journal, A);
    truncateSync(pathOf(dir), size);
    const other = opened(dir);
    for (let n = 0; n < 3; n++) bump(other, B);
    journal.refresh();
    expect(journal.state.loops).toEqual(other.state.loops);
  });

  test("a copy that was put back goes on where it was", () => {
    const dir = tempDir();
    const journal = opened(dir);
    bump(journal, A);
    journal.refresh();
    const copy = readFileSync(pathOf(dir));
    renameSync(pathOf(dir), `${pathOf(dir)}.bak`);
    writeFileSync(pathOf(dir), copy);
    expect(journal.refresh()).toEqual([]);
    expect(bump(journal, A)).toBe("committed");
    expect(counters(dir)).toEqual({ [A]: 1 });
  });

  test("H4 a journal that is a link is neither read nor written", () => {
    const dir = tempDir();
    const target = join(tempDir(), "target");
    writeFileSync(target, "");
    symlinkSync(target, pathOf(dir));
    expect(() => opened(dir)).toThrow(/ELOOP/);
    expect(() => bump(new Journal(dir), A)).toThrow(/ELOOP/);
    expect(readFileSync(target, "utf8")).toBe("");
  });
});
