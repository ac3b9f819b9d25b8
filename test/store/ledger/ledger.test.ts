/** The ledger on a real disk: lines of others, torn lines, files that were replaced, and how little is read anew. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { LedgerEntry, UsageEntry } from "../../../src/core/cost/ledger.ts";
import { checksum } from "../../../src/store/journal/checksum.ts";
import { appendLedger, publishLedger, readLedger } from "../../../src/store/ledger/ledger.ts";
import { totalsOf } from "../../support/ledger.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
/** Two entries fill a file. */
const TINY = 300;

function usage(id: string, at = NOW, more: Partial<UsageEntry> = {}): UsageEntry {
  const tokens = { inputTokens: 1, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
  return { kind: "usage", id, at, session: "s", loop: "l", model: "m", ...tokens, ...more };
}

const outputOf = (dir: string) => totalsOf(readLedger(dir)).outputTokens;
const quiet = () => {};
const linesFile = (dir: string) => join(dir, "ledger.jsonl");
const published = (dir: string) => JSON.parse(readFileSync(join(dir, "ledger.json"), "utf8"));

describe("D7 the lines", () => {
  test("D7 H4 are for their owner's eyes, and so are the totals", () => {
    const dir = tempDir();
    appendLedger(dir, [usage("a")]);
    publishLedger(dir, NOW, quiet);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  });

  test("D7 H4 are not written through a link", () => {
    const dir = tempDir();
    const elsewhere = join(tempDir(), "victim");
    writeFileSync(elsewhere, "");
    symlinkSync(elsewhere, linesFile(dir));
    expect(() => appendLedger(dir, [usage("a")])).toThrow(/symbolic link/);
    expect(readFileSync(elsewhere, "utf8")).toBe("");
  });

  test.each([
    ["the middle of an entry", -40],
    ["all but its newline", -1],
  ])("D7 H1 a line that ends after %s does not count, and the next stands on its own", (_, cut) => {
    const dir = tempDir();
    appendLedger(dir, [usage("a"), usage("b")]);
    truncateSync(linesFile(dir), statSync(linesFile(dir)).size + cut);
    expect(outputOf(dir)).toBe(10);
    publishLedger(dir, NOW, quiet);
    appendLedger(dir, [usage("c")]);
    expect(outputOf(dir)).toBe(20);
    appendLedger(dir, [usage("b")]);
    expect(outputOf(dir)).toBe(30);
  });

  test.each([
    ["nonsense", "\u0000\u0000\u0000"],
    ["another kind", JSON.stringify({ ...usage("x"), kind: "gift" })],
    ["less than nothing", JSON.stringify({ ...usage("x"), outputTokens: -5 })],
    ["no id", JSON.stringify({ ...usage("x"), id: "" })],
    ["a number too large for one", JSON.stringify(usage("x")).replace(":10,", ":1e999,")],
    ["null", "null"],
  ])("D7 H5 a line with %s counts for nothing", (_, line) => {
    const dir = tempDir();
    appendLedger(dir, [usage("a")]);
    appendFileSync(linesFile(dir), `${line}\n`);
    appendLedger(dir, [usage("b")]);
    expect(outputOf(dir)).toBe(20);
  });

  test("D7 H5 what is no entry is refused, and what is too long is cut", () => {
    const dir = tempDir();
    expect(() => appendLedger(dir, [usage("a", NOW, { outputTokens: Number.NaN })])).toThrow(TypeError);
    appendLedger(dir, [
      { kind: "tool", id: "t", at: NOW, session: "s", tool: "x".repeat(100_000), ok: true },
    ]);
    expect(statSync(linesFile(dir)).size).toBeLessThan(1_000);
  });

  test("D7 what cannot be written is said in one sentence", () => {
    const dir = tempDir();
    mkdirSync(linesFile(dir));
    expect(() => appendLedger(dir, [usage("a")])).toThrow(/Cannot write .*ledger\.jsonl: it is a folder/);
  });
});

describe("D7 the totals", () => {
  test("D7 are published with the figures of sessions, loops and stories", () => {
    const dir = tempDir();
    appendLedger(dir, [usage("a", NOW, { story: "US-1" })]);
    publishLedger(dir, NOW, quiet);
    expect(published(dir)).toMatchObject({
      version: 1,
      at: new Date(NOW).toISOString(),
      sessions: { s: { outputTokens: 10, turns: 1 } },
      loops: { l: { outputTokens: 10 } },
      stories: [{ loop: "l", story: "US-1", addedTokens: 11 }],
    });
  });

  test("D7 are zero where nothing was written, and then nothing is", () => {
    const dir = tempDir();
    expect(outputOf(dir)).toBe(0);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("D7 only what is new is read", () => {
    const dir = tempDir();
    appendLedger(dir, [usage("a"), usage("b")]);
    publishLedger(dir, NOW, quiet);
    // the same length, so that only a reader who starts from the first line can see it
    const text = readFileSync(linesFile(dir), "utf8");
    writeFileSync(linesFile(dir), text.replace('"outputTokens":10', '"outputTokens":99'));
    expect(outputOf(dir)).toBe(20);
    appendLedger(dir, [usage("a"), usage("c")]);
    expect(outputOf(dir)).toBe(30);
    rmSync(join(dir, "ledger.json"));
    expect(outputOf(dir)).toBe(119);
  });

  test.each<[string, number, (dir: string) => void]>([
    ["shorter", 0, (dir) => truncateSync(linesFile(dir), 0)],
    ["another one of the same length", 77, replaceLines],
    ["gone", 0, (dir) => rmSync(linesFile(dir))],
  ])("D7 H1 are made anew from the lines when the file is %s", (_, left, change) => {
    const dir = tempDir();
    appendLedger(dir, [usage("a")]);
    publishLedger(dir, NOW, quiet);
    change(dir);
    expect(outputOf(dir)).toBe(left);
    appendLedger(dir, [usage("b")]);
    expect(outputOf(dir)).toBe(left + 10);
  });

  function replaceLines(dir: string): void {
    const text = readFileSync(linesFile(dir), "utf8");
    // both exist for a moment, so the new file has another inode for certain
    writeFileSync(join(dir, "other"), text.replace('"outputTokens":10', '"outputTokens":77'));
    renameSync(join(dir, "other"), linesFile(dir));
  }

  test.each([
    ["nonsense", (text: string) => text.slice(0, 40)],
    [
      "figures that somebody edited",
      (text: string) => text.replaceAll('"outputTokens":10', '"outputTokens":0'),
    ],
  ])("A13 D7 %s in ledger.json are not believed, and moved aside", (_, change) => {
    const dir = tempDir();
    appendLedger(dir, [usage("a")]);
    publishLedger(dir, NOW, quiet);
    const path = join(dir, "ledger.json");
    writeFileSync(path, change(readFileSync(path, "utf8")));
    expect(outputOf(dir)).toBe(10);
    const said: string[] = [];
    publishLedger(dir, NOW, (message) => said.push(message));
    expect(said.join()).toMatch(/^ledger\.json was not written by this program: moved to .*corrupt-/);
    expect(published(dir).loops.l.outputTokens).toBe(10);
    expect(readdirSync(dir).filter((name) => name.includes("corrupt"))).toHaveLength(1);
  });

  test("D7 of a newer version of the program are left as they are, and read from the lines", () => {
    const dir = tempDir();
    appendLedger(dir, [usage("a")]);
    const body = '{"version":2,"new":true';
    const text = `${body},"sum":"${checksum(body)}"}\n`;
    writeFileSync(join(dir, "ledger.json"), text);
    expect(totalsOf(publishLedger(dir, NOW, quiet)).outputTokens).toBe(10);
    expect(readFileSync(join(dir, "ledger.json"), "utf8")).toBe(text);
  });

  test.each([
    ["no cells", '{"version":1,"fold":{"segments":[],"counted":[]}'],
    ["nothing", '{"version":1'],
    ["null", '{"version":1,"fold":null'],
  ])("D7 H5 with a checksum that fits and %s in them are not believed", (_, body) => {
    const dir = tempDir();
    appendLedger(dir, [usage("a")]);
    writeFileSync(join(dir, "ledger.json"), `${body},"sum":"${checksum(body)}"}\n`);
    expect(outputOf(dir)).toBe(10);
  });

  test("D7 are not written again when there is nothing new", () => {
    const dir = tempDir();
    appendLedger(dir, [usage("a")]);
    publishLedger(dir, NOW, quiet);
    publishLedger(dir, NOW + 1, quiet);
    expect(published(dir).at).toBe(new Date(NOW).toISOString());
  });
});

describe("D7 many files", () => {
  const filesOf = (dir: string) => readdirSync(dir).filter((name) => name.endsWith(".jsonl"));

  function fill(dir: string, count: number, publish = true): void {
    for (let n = 0; n < count; n++) {
      appendLedger(dir, [usage(`e${n}`, NOW + n * HOUR)], TINY);
      if (publish) publishLedger(dir, NOW, quiet);
    }
  }

  test.each([true, false])(
    "D7 a full one is followed by the next, and nothing is lost (published: %s)",
    (publish) => {
      const dir = tempDir();
      fill(dir, 20, publish);
      expect(filesOf(dir).length).toBeGreaterThan(5);
      expect(outputOf(dir)).toBe(200);
    },
  );

  test("D7 only the ids of the newest are kept with the totals", () => {
    const dir = tempDir();
    fill(dir, 20);
    expect(published(dir).fold.counted.length).toBeLessThan(7);
  });

  test("D7 an id from long ago still counts once, and its larger figures count", () => {
    const dir = tempDir();
    fill(dir, 20);
    appendLedger(dir, [usage("e1", NOW + HOUR), usage("e2", NOW + 2 * HOUR, { outputTokens: 25 })], TINY);
    expect(totalsOf(publishLedger(dir, NOW, quiet))).toMatchObject({ outputTokens: 215, turns: 20 });
    appendLedger(dir, [usage("e2", NOW + 2 * HOUR, { outputTokens: 30 })], TINY);
    expect(totalsOf(publishLedger(dir, NOW, quiet))).toMatchObject({ outputTokens: 220, turns: 20 });
  });

  test("D7 who still had a full one open loses nothing", () => {
    const dir = tempDir();
    fill(dir, 20);
    const late: LedgerEntry[] = [usage("late", NOW), usage("e0", NOW)];
    for (const entry of late) appendFileSync(linesFile(dir), `${JSON.stringify(entry)}\n`);
    expect(totalsOf(publishLedger(dir, NOW, quiet))).toMatchObject({ outputTokens: 210, turns: 21 });
    expect(outputOf(dir)).toBe(210);
  });

  test("D7 other files with such names are left alone", () => {
    const dir = tempDir();
    for (const name of ["ledger.1.jsonl", "ledger.x.jsonl", "ledger.02.jsonl"])
      writeFileSync(join(dir, name), `${JSON.stringify(usage("x"))}\n`);
    appendLedger(dir, [usage("a")]);
    expect(outputOf(dir)).toBe(10);
  });
});
