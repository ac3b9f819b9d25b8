import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { isSessionId, ownerOf, sessionOf } from "../../../src/core/session.ts";
import type { SessionRecord } from "../../../src/ports/sessions.ts";
import { createSessions, ensureSessions } from "../../../src/store/folder/session-records.ts";
import { procStart } from "../../../src/system/process.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const SESSION = "5d2f7a10-aaaa-4bbb-8ccc-0123456789ab";
const SELF = { pid: process.pid, start: procStart(process.pid) };

function loopDir(): string {
  const dir = join(tempDir(), ".loop");
  mkdirSync(dir);
  return dir;
}

function aRecord(overrides: Partial<SessionRecord> = {}): SessionRecord {
  return {
    version: 1,
    session: SESSION,
    client: SELF,
    transcript: "/t.jsonl",
    state: "idle",
    promptId: "p-1",
    ...{
      isSomeoneWaiting: false,
      taken: 0,
      blocks: 0,
      turn: null,
      spans: [],
      directive: null,
      offset: 0,
      said: null,
    },
    ...overrides,
  };
}

describe("H4 a name from the client becomes part of a file's name", () => {
  test.each(["", ".", "..", "../x", "a/b", "a\\b", "a b", "ä", "a.json", "x\0", "x\n", "a".repeat(65)])(
    "%j binds to nothing",
    (session) => {
      expect(isSessionId(session)).toBe(false);
      expect(createSessions(loopDir()).read(session)).toBeNull();
    },
  );

  test.each([SESSION, "a", "A-1", "a".repeat(64)])("%j is one", (session) => {
    expect(isSessionId(session)).toBe(true);
  });

  test("owners and sessions name each other, and a runner is no session", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9-]{1,64}$/), (session) => {
        expect(sessionOf(ownerOf(session))).toBe(session);
      }),
    );
    expect(sessionOf("runner:12.abc")).toBeNull();
    expect(sessionOf(null)).toBeNull();
    expect(sessionOf("session:")).toBe("");
  });
});

describe("A13 a record is whole or not there", () => {
  test("what was written is read again, and only its owner may", () => {
    const dir = loopDir();
    const record = aRecord({ state: "busy", said: "[LOOP] \u2028 ü" });
    createSessions(dir).write(record);
    expect(createSessions(dir).read(SESSION)).toEqual(record);
    expect(statSync(join(dir, "sessions", `${SESSION}.json`)).mode & 0o077).toBe(0);
    expect(statSync(join(dir, "sessions")).mode & 0o077).toBe(0);
    expect(readdirSync(join(dir, "sessions"))).toEqual([`${SESSION}.json`]);
  });

  test.each([
    ["torn", '{"version":1'],
    ["empty", ""],
    ["null", "null"],
    ["a number", "5"],
    ["of another version", JSON.stringify({ ...aRecord(), version: 2 })],
    ["of another session", JSON.stringify(aRecord({ session: "another" }))],
    ["without a client", JSON.stringify({ ...aRecord(), client: undefined })],
    ["with a client that is none", JSON.stringify({ ...aRecord(), client: { pid: "1" } })],
  ])("a file that is %s is none", (_, text) => {
    const dir = loopDir();
    writeFileSync(join(ensureSessions(dir), `${SESSION}.json`), text);
    expect(createSessions(dir).read(SESSION)).toBeNull();
  });

  test("H4 a link is not followed, neither of the file nor of the folder", () => {
    const dir = loopDir();
    const outside = join(tempDir(), "record.json");
    writeFileSync(outside, JSON.stringify(aRecord()));
    symlinkSync(outside, join(ensureSessions(dir), `${SESSION}.json`));
    expect(createSessions(dir).read(SESSION)).toBeNull();
    const linked = loopDir();
    symlinkSync(tempDir(), join(linked, "sessions"));
    expect(() => createSessions(linked).write(aRecord())).toThrow(/leads out of the project/);
  });
});

describe("A9 a conversation is over", () => {
  test.each<readonly [string, boolean, SessionRecord | null]>([
    ["when nothing is known of it", true, null],
    ["not while its client lives", false, aRecord()],
    ["not while it works", false, aRecord({ state: "busy" })],
    ["when it said so", true, aRecord({ state: "over" })],
    ["when a later process has its client's pid", true, aRecord({ client: { ...SELF, start: "another-1" } })],
  ])("%s: %s", (_, isOver, record) => {
    const dir = loopDir();
    if (record !== null) createSessions(dir).write(record);
    expect(createSessions(dir).isOver(ownerOf(SESSION))).toBe(isOver);
  });

  test("when its client was killed", async () => {
    const dir = loopDir();
    const child = spawn("sleep", ["60"]);
    onTestFinished(() => void child.kill("SIGKILL"));
    const pid = child.pid ?? 0;
    createSessions(dir).write(aRecord({ client: { pid, start: procStart(pid) } }));
    expect(createSessions(dir).isOver(ownerOf(SESSION))).toBe(false);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(createSessions(dir).isOver(ownerOf(SESSION))).toBe(true);
  });

  test("a runner, or what has no name, always is", () => {
    const dir = loopDir();
    createSessions(dir).write(aRecord());
    for (const owner of ["runner:1.a", "", "session:", "session:../x"])
      expect(createSessions(dir).isOver(owner)).toBe(true);
  });
});

describe("C13 what is long over is removed", () => {
  test("files that nobody touched for two weeks go, the others stay", () => {
    const dir = loopDir();
    const now = Date.now();
    const day = 24 * 3600_000;
    for (const [session, age] of [
      ["old", 15],
      ["young", 13],
      ["new", 0],
    ] as const) {
      createSessions(dir).write(aRecord({ session, client: { pid: 1, start: "another-1" } }));
      const at = (now - age * day) / 1000;
      utimesSync(join(dir, "sessions", `${session}.json`), at, at);
    }
    createSessions(dir).prune(now);
    expect(readdirSync(join(dir, "sessions")).sort()).toEqual(["new.json", "young.json"]);
  });
});
