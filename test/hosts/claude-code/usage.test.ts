/**
 * Usage from transcripts that the real client wrote (2.1.325, with a scripted model): two calls of tools, an agent of
 * its own, a resumed and a forked conversation. Only texts and paths were taken out.
 */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { EMPTY_FOLD, foldLedger, type UsageEntry } from "../../../src/core/cost/ledger.ts";
import { countUsage } from "../../../src/hosts/claude-code/usage/turn-usage.ts";
import { parseUsageCursor, readNewUsage } from "../../../src/hosts/claude-code/usage/usage.ts";
import type { Span } from "../../../src/ports/sessions.ts";
import { readLedger } from "../../../src/store/ledger/ledger.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";
import { totalsOf } from "../../support/ledger.ts";

afterEach(removeTempDirs);

const FIXTURES = fileURLToPath(new URL("../../fixtures/claude-transcript/", import.meta.url));
const SESSION = "da2084e8-b142-445a-a4a8-99604a249528";
const FORK = "fab7f9c4-3e10-4c42-988e-19ff9e1b3281";

/** The first run of the conversation, with its agent. */
function firstRun(): string {
  const dir = tempDir();
  cpSync(join(FIXTURES, "first"), dir, { recursive: true });
  return join(dir, `${SESSION}.jsonl`);
}

function resume(path: string): void {
  const resumed = readFileSync(join(FIXTURES, "resumed", `${SESSION}.jsonl`));
  appendFileSync(path, resumed.subarray(statSync(path).size));
}

function sum(entries: readonly UsageEntry[]) {
  return totalsOf(foldLedger(EMPTY_FOLD, [{ segment: 1, entries }]));
}

/** What the client itself says that it used, all in all. */
function clientsOwn(path: string) {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const state = lines.map((line) => JSON.parse(line)).findLast(({ type }) => type === "cost-state");
  const own = Object.values(state.modelUsage)[0] as Record<string, number>;
  return {
    inputTokens: own.inputTokens,
    outputTokens: own.outputTokens,
    cacheReadTokens: own.cacheReadInputTokens,
    cacheWriteTokens: own.cacheCreationInputTokens,
  };
}

describe("D7 a real transcript", () => {
  test("D7 gives the sums that the client itself has, its agents included", () => {
    const path = firstRun();
    const { entries } = readNewUsage(path, null);
    expect(sum(entries)).toMatchObject({ ...clientsOwn(path), turns: 5, costUsd: null });
    expect(new Set(entries.map(({ session }) => session))).toEqual(new Set([SESSION]));
    expect(entries[0]).toEqual({
      kind: "usage",
      id: "msg_lab000004:req_lab1",
      at: Date.parse("2026-11-15T14:50:28.591Z"),
      session: SESSION,
      model: "claude-opus-5-5",
      inputTokens: 1_200,
      outputTokens: 90,
      cacheReadTokens: 4_000,
      cacheWriteTokens: 300,
      addedTokens: 90,
    });
  });

  test("D7 a resumed conversation gives only what is new", () => {
    const path = firstRun();
    const first = readNewUsage(path, null);
    expect(readNewUsage(path, first.cursor)).toEqual({
      entries: [],
      cursor: first.cursor,
    });
    resume(path);
    const second = readNewUsage(path, first.cursor);
    expect(second.entries.map(({ id }) => id)).toEqual(["msg_lab000015:req_lab14"]);
    expect(sum([...first.entries, ...second.entries])).toMatchObject(clientsOwn(path));
  });

  test("D7 a fork repeats the answers of its origin, and they count once", () => {
    const path = firstRun();
    resume(path);
    const fork = join(FIXTURES, "forked", `${FORK}.jsonl`);
    const all = [...readNewUsage(path, null).entries, ...readNewUsage(fork, null).entries];
    const fold = foldLedger(EMPTY_FOLD, [{ segment: 1, entries: all }]);
    expect(totalsOf(fold)).toMatchObject(clientsOwn(fork));
    expect(totalsOf(fold, { session: FORK })).toMatchObject({ turns: 1, inputTokens: 100, outputTokens: 20 });
  });

  test("D7 a text counts towards a budget once, when it comes in", () => {
    const { entries } = readNewUsage(firstRun(), null);
    const added = entries.map(
      ({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, addedTokens }) => [
        inputTokens + cacheReadTokens + cacheWriteTokens,
        outputTokens,
        addedTokens,
      ],
    );
    expect(added).toEqual([
      // how long a conversation is before its first answer belongs to the client, not to the story
      [5_500, 90, 90],
      // shorter than 5500 + 90: nothing but the answer itself is new
      [5_550, 40, 40],
      [5_660, 12, 5_660 - 5_590 + 12],
      [5_770, 11, 5_770 - 5_672 + 11],
      [700, 30, 30],
    ]);
  });
});

/** One line as the client writes it. */
function answer(n: number, usage: object = {}, more: object = {}): string {
  const message = {
    id: `msg_${n}`,
    model: "m",
    usage: { input_tokens: 100 * n, output_tokens: 10, ...usage },
  };
  return `${JSON.stringify({
    type: "assistant",
    isSidechain: false,
    message,
    requestId: `req_${n}`,
    uuid: `uuid-${n}`,
    sessionId: "s",
    timestamp: new Date(minute(n)).toISOString(),
    ...more,
  })}\n`;
}

const START = Date.parse("2026-01-01T00:00:00Z");
const minute = (n: number) => START + n * 60_000;

function transcript(...lines: string[]): string {
  const path = join(tempDir(), "t.jsonl");
  writeFileSync(path, lines.join(""));
  return path;
}

describe("D7 lines of a transcript", () => {
  test("D7 an answer that is still growing counts once, with its last figures", () => {
    const path = transcript(answer(1), answer(2, { output_tokens: 1 }));
    const first = readNewUsage(path, null);
    appendFileSync(path, answer(2, { output_tokens: 60 }));
    const second = readNewUsage(path, first.cursor);
    const whole = readNewUsage(path, null);
    const parts = sum([...first.entries, ...second.entries]);
    expect(parts).toEqual(sum(whole.entries));
    expect(parts).toMatchObject({ turns: 2, outputTokens: 70, addedTokens: 10 + (200 - 110) + 60 });
  });

  test("D7 a last line without its end is left for the next time, wherever it is cut", () => {
    const line = Buffer.from(answer(2));
    for (let cut = 1; cut < line.length; cut += 7) {
      const path = transcript(answer(1));
      appendFileSync(path, line.subarray(0, cut));
      const first = readNewUsage(path, null);
      expect(first.entries).toHaveLength(1);
      appendFileSync(path, line.subarray(cut));
      expect(readNewUsage(path, first.cursor).entries.map(({ id }) => id)).toEqual(["msg_2:req_2"]);
    }
  });

  test.each([
    ["nonsense with usage in it", '{"usage":'],
    ["the client's own words", answer(9, {}, { message: { id: "x", model: "<synthetic>", usage: {} } })],
    ["no time", answer(9, {}, { timestamp: "soon" })],
    ["no session", answer(9, {}, { sessionId: 7 })],
    ["a person's words about usage", answer(9, {}, { type: "user" })],
    ["no message", answer(9, {}, { message: null, note: '"usage"' })],
    ["null", 'null "usage"'],
  ])("D7 H5 a line with %s tells nothing", (_, line) => {
    const path = transcript(answer(1), `${line.trimEnd()}\n`, answer(2));
    expect(readNewUsage(path, null).entries).toHaveLength(2);
  });

  test("D7 an answer of any length is read whole", () => {
    const long = answer(2, { note: "ä".repeat(700_000) });
    const path = transcript(answer(1), long, answer(3));
    expect(readNewUsage(path, null).entries.map(({ id }) => id)).toEqual([
      "msg_1:req_1",
      "msg_2:req_2",
      "msg_3:req_3",
    ]);
  });

  test("D7 figures that make no sense count as none", () => {
    const path = transcript(
      answer(1, { input_tokens: -5, output_tokens: "many", cache_read_input_tokens: null }),
    );
    expect(sum(readNewUsage(path, null).entries)).toMatchObject({
      turns: 1,
      inputTokens: 0,
      outputTokens: 0,
    });
  });

  test("D7 agents that an older client wrote into the transcript count, and do not disturb the conversation", () => {
    const path = transcript(answer(1), answer(7, {}, { isSidechain: true }), answer(2));
    const { entries } = readNewUsage(path, null);
    expect(entries.map(({ addedTokens }) => addedTokens)).toEqual([10, 10, 200 - 110 + 10]);
  });

  test("D7 a file that was replaced or cut is read anew", () => {
    const path = transcript(answer(1), answer(2));
    const { cursor } = readNewUsage(path, null);
    truncateSync(path, answer(1).length);
    expect(readNewUsage(path, cursor).entries.map(({ id }) => id)).toEqual(["msg_1:req_1"]);
    const other = transcript(answer(3), answer(4), answer(5));
    renameSync(other, path);
    expect(readNewUsage(path, cursor).entries).toHaveLength(3);
  });

  test("H4 D7 links, pipes, folders and what is not there have nothing new", () => {
    const dir = tempDir();
    const real = transcript(answer(1));
    symlinkSync(real, join(dir, "link.jsonl"));
    mkdirSync(join(dir, "folder.jsonl"));
    execFileSync("mkfifo", [join(dir, "pipe.jsonl")]);
    for (const name of ["link.jsonl", "folder.jsonl", "pipe.jsonl", "none.jsonl", "passwd"])
      expect(readNewUsage(join(dir, name), null).entries).toEqual([]);
  });
});

describe("D7 a long transcript", () => {
  /** 40 MB with 120 answers, one a minute, and large lines that tell nothing in between. */
  function long(): string {
    const path = transcript();
    const fd = openSync(path, "a");
    const picture = `${JSON.stringify({ type: "user", message: "x".repeat(340_000), timestamp: minute(0) })}\n`;
    for (let n = 1; n <= 120; n++) writeSync(fd, picture + answer(n));
    closeSync(fd);
    return path;
  }

  test("D7 is read from the time that is asked for", () => {
    const path = long();
    const { entries, cursor } = readNewUsage(path, null, minute(110));
    expect(entries.map(({ at }) => at)).toEqual(
      [110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120].map(minute),
    );
    // and knows how long the conversation was before
    expect(entries[0]?.addedTokens).toBe(11_000 - 10_910 + 10);
    expect(cursor.files[""]?.offset).toBe(statSync(path).size);
    expect(readBytes(() => readNewUsage(path, null, minute(119)))).toBeLessThan(4_000_000);
    appendFileSync(path, answer(121));
    expect(readBytes(() => readNewUsage(path, cursor))).toBeLessThan(100_000);
  });

  test("D7 from a time before it began is read whole", () => {
    expect(readNewUsage(long(), null, minute(0)).entries).toHaveLength(120);
  });

  test("D7 agents that started before that time do not count either, whenever they are found", () => {
    const path = transcript(answer(10));
    const { cursor } = readNewUsage(path, null, minute(5));
    const agents = join(path.slice(0, -".jsonl".length), "subagents");
    mkdirSync(agents, { recursive: true });
    const lines = [answer(4, {}, { isSidechain: true }), answer(11, {}, { isSidechain: true })];
    writeFileSync(join(agents, "agent-a1.jsonl"), lines.join(""));
    writeFileSync(join(agents, "agent-a1.meta.json"), "{}");
    expect(readNewUsage(path, cursor).entries.map(({ at }) => at)).toEqual([minute(11)]);
  });

  /** What this process has read from files, as the system counts it. */
  function readBytes(act: () => unknown): number {
    const before = charactersRead();
    act();
    return charactersRead() - before;
  }

  function charactersRead(): number {
    return Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
  }
});

describe("D7 from the transcript to the ledger", () => {
  /** A turn of the loop that has not ended. */
  function turnOf(loopId: string, fromAt = 0): Span {
    const nothing = { toAt: null, costUsd: null, inputTokens: 0, outputTokens: 0, answers: 0 };
    return { id: `${loopId}-1`, loopId, fromAt, ...nothing };
  }

  function count(dir: string, path: string, turn = turnOf("l1")): number | undefined {
    return countUsage(dir, path, [turn], turn.fromAt)[0]?.answers;
  }

  test("D7 goes what is new, for the loop that is at work", () => {
    const dir = tempDir();
    const path = firstRun();
    expect(count(dir, path)).toBe(5);
    resume(path);
    expect(count(dir, path)).toBe(1);
    expect(count(dir, path)).toBe(0);
    expect(totalsOf(readLedger(dir), { loop: "l1" })).toMatchObject(clientsOwn(path));
  });

  test("D7 goes for the session alone what it used between two loops", () => {
    const dir = tempDir();
    const path = transcript(answer(1), answer(2));
    expect(count(dir, path, turnOf("l1", minute(2)))).toBe(1);
    appendFileSync(path, answer(3) + answer(4));
    expect(count(dir, path, turnOf("l2", minute(4)))).toBe(1);
    const turns = [{ loop: "l1" }, { loop: "l2" }, { session: "s" }].map(
      (of) => totalsOf(readLedger(dir), of).turns,
    );
    expect(turns).toEqual([1, 1, 3]);
  });

  test("D7 H1 a cursor that was lost, damaged or never saved counts nothing twice", () => {
    const dir = tempDir();
    const path = firstRun();
    const sessions = join(dir, "sessions");
    for (const harm of [
      (file: string) => rmSync(file),
      (file: string) => writeFileSync(file, "{"),
      (file: string) => writeFileSync(file, '{"since":null,"files":{"":null}}'),
    ]) {
      count(dir, path);
      const [name = ""] = readdirSync(sessions);
      expect(statSync(join(sessions, name)).mode & 0o777).toBe(0o600);
      harm(join(sessions, name));
    }
    count(dir, path);
    expect(totalsOf(readLedger(dir))).toMatchObject({ ...clientsOwn(path), turns: 5 });
  });

  test("H4 D7 is not kept where a link leads out of the project", () => {
    const project = tempDir();
    const elsewhere = tempDir();
    const dir = join(project, ".loop");
    mkdirSync(dir);
    symlinkSync(elsewhere, join(dir, "sessions"));
    expect(() => count(dir, firstRun())).toThrow(/leads out of the project/);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("D7 a transcript that is not there costs nothing", () => {
    const dir = tempDir();
    count(dir, "/nowhere/t.jsonl");
    expect(existsSync(join(dir, "ledger.jsonl"))).toBe(false);
  });

  test.each([null, "", "{}", "[]", '{"since":"x","files":{}}', '{"since":1,"files":{"a":{"offset":-1}}}'])(
    "D7 H5 %j is no cursor",
    (text) => expect(parseUsageCursor(text)).toBeNull(),
  );
});
