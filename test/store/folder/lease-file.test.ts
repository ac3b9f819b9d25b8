import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type Lease, SILENT_AFTER_MS } from "../../../src/ports/lease.ts";
import {
  heartbeatOf,
  holderState,
  readLeaseFile,
  removeLeaseFile,
  writeLeaseFile,
} from "../../../src/store/folder/lease-file.ts";
import { claimOrigin } from "../../../src/store/signed/origin.ts";
import { procStart } from "../../../src/system/process.ts";
import { type Around, killStores, removeBundle, spawnStore } from "../fixtures/spawn-store.ts";
import { NOW } from "../fixtures/tasks.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

afterEach(async () => {
  await killStores();
  removeTempDirs();
});
afterAll(removeBundle);

const MINUTE = 60_000;
const DAMAGED: readonly (readonly [string, string])[] = [
  ["half a file", '{"owner":"x","tok'],
  ["nothing", ""],
  ["null", "null"],
  ["a number", "7"],
  ["another shape", '{"token":3,"heartbeat_at":[]}'],
  ["no date", '{"token":3,"heartbeat_at":"soon"}'],
];

function leaseOf(fields: Partial<Lease> = {}): Lease {
  return {
    token: 3,
    owner: "session:abc",
    pid: process.pid,
    procStart: procStart(process.pid),
    host: hostname(),
    acquiredAt: NOW,
    ...fields,
  };
}

const elsewhere = leaseOf({ host: "another-host", pid: 1, procStart: "0-0" });

describe("loop.lock", () => {
  test("D6 H4 says who holds the lease, in this shape, for the person alone", () => {
    const dir = tempDir();
    writeLeaseFile(dir, leaseOf(), NOW + MINUTE, claimOrigin(dir));
    expect(JSON.parse(readFileSync(join(dir, "loop.lock"), "utf8"))).toEqual({
      owner: "session:abc",
      pid: process.pid,
      procStart: procStart(process.pid),
      host: hostname(),
      token: 3,
      acquired_at: "2026-01-01T12:00:00.000Z",
      heartbeat_at: "2026-01-01T12:01:00.000Z",
      sum: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(statSync(join(dir, "loop.lock")).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(["loop.lock", "origin"]);
  });

  test("D6 the heartbeat is the file's, if the file is this lease's", () => {
    const dir = tempDir();
    expect(heartbeatOf(dir, leaseOf())).toBe(NOW);
    writeLeaseFile(dir, leaseOf(), NOW + MINUTE, claimOrigin(dir));
    expect(heartbeatOf(dir, leaseOf())).toBe(NOW + MINUTE);
    expect(heartbeatOf(dir, leaseOf({ token: 4 }))).toBe(NOW);
    // a clock that was set back does not make the holder older than its lease
    writeLeaseFile(dir, leaseOf(), NOW - 60 * MINUTE, claimOrigin(dir));
    expect(heartbeatOf(dir, leaseOf())).toBe(NOW);
  });

  test("D6 is removed by the holder only", () => {
    const dir = tempDir();
    writeLeaseFile(dir, leaseOf(), NOW, claimOrigin(dir));
    removeLeaseFile(dir, 2);
    expect(readLeaseFile(dir)?.token).toBe(3);
    removeLeaseFile(dir, 3);
    expect(readdirSync(dir)).toEqual(["origin"]);
    removeLeaseFile(dir, 3);
  });

  test.each(DAMAGED)("H1 %s in it decides nothing: the journal knows the holder", (_, content) => {
    const dir = tempDir();
    writeFileSync(join(dir, "loop.lock"), content);
    expect(heartbeatOf(dir, leaseOf())).toBe(NOW);
    expect(holderState(dir, leaseOf(), NOW + MINUTE)).toBe("alive");
    expect(holderState(dir, elsewhere, NOW + SILENT_AFTER_MS)).toBe("silent");
    writeLeaseFile(dir, leaseOf(), NOW + MINUTE, claimOrigin(dir));
    expect(heartbeatOf(dir, leaseOf())).toBe(NOW + MINUTE);
  });

  test("H4 a link is neither followed nor written through", () => {
    const dir = tempDir();
    const target = join(tempDir(), "target");
    writeFileSync(target, JSON.stringify({ token: 3, heartbeat_at: new Date(NOW + MINUTE).toISOString() }));
    const before = readFileSync(target, "utf8");
    symlinkSync(target, join(dir, "loop.lock"));
    expect(heartbeatOf(dir, leaseOf())).toBe(NOW);
    writeLeaseFile(dir, leaseOf(), NOW, claimOrigin(dir));
    expect(readFileSync(target, "utf8")).toBe(before);
  });

  test("H1 a folder of that name decides nothing", () => {
    const dir = tempDir();
    mkdirSync(join(dir, "loop.lock"));
    expect(holderState(dir, leaseOf(), NOW)).toBe("alive");
  });
});

describe("is the holder alive?", () => {
  test("D6 this process is, as long as it gives signs of life", () => {
    const dir = tempDir();
    expect(holderState(dir, leaseOf(), NOW)).toBe("alive");
    expect(holderState(dir, leaseOf(), NOW + SILENT_AFTER_MS - 1)).toBe("alive");
    expect(holderState(dir, leaseOf(), NOW + SILENT_AFTER_MS)).toBe("silent");
    writeLeaseFile(dir, leaseOf(), NOW + 4 * MINUTE, claimOrigin(dir));
    expect(holderState(dir, leaseOf(), NOW + SILENT_AFTER_MS)).toBe("alive");
    expect(holderState(dir, leaseOf(), NOW + 4 * MINUTE + SILENT_AFTER_MS)).toBe("silent");
    expect(SILENT_AFTER_MS).toBe(5 * MINUTE);
  });

  test("D6 A11 a process that was killed is gone at once, whatever its heartbeat says", async () => {
    const dir = tempDir();
    const child = spawn("sleep", ["1000"]);
    const pid = child.pid ?? 0;
    const lease = leaseOf({ pid, procStart: procStart(pid) });
    writeLeaseFile(dir, lease, NOW, claimOrigin(dir));
    expect(holderState(dir, lease, NOW)).toBe("alive");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(holderState(dir, lease, NOW)).toBe("gone");
    expect(holderState(dir, { ...lease, procStart: null }, NOW)).toBe("gone");
  });

  test("D6 H1 a pid that another process got is not the holder", () => {
    const dir = tempDir();
    writeLeaseFile(dir, leaseOf(), NOW, claimOrigin(dir));
    expect(holderState(dir, leaseOf({ procStart: "00000000-1" }), NOW)).toBe("gone");
    expect(holderState(dir, leaseOf({ pid: 1, procStart: procStart(process.pid) }), NOW)).toBe("gone");
  });

  test("D6 on another host only the heartbeat tells", () => {
    const dir = tempDir();
    expect(holderState(dir, elsewhere, NOW)).toBe("alive");
    expect(holderState(dir, { ...elsewhere, pid: 2 ** 30 }, NOW)).toBe("alive");
    writeLeaseFile(dir, elsewhere, NOW + MINUTE, claimOrigin(dir));
    expect(holderState(dir, elsewhere, NOW + SILENT_AFTER_MS)).toBe("alive");
    expect(holderState(dir, elsewhere, NOW + MINUTE + SILENT_AFTER_MS)).toBe("silent");
  });

  test("H1 a clock that went back does not make a living holder stale", () => {
    const dir = tempDir();
    writeLeaseFile(dir, leaseOf(), NOW, claimOrigin(dir));
    expect(holderState(dir, leaseOf(), NOW - 60 * MINUTE)).toBe("alive");
  });

  test.skipIf(process.getuid?.() !== 0)(
    "D6 a process of another user is alive, although it may not be signalled",
    async () => {
      const dir = tempDir();
      chownSync(dir, 65_534, 65_534);
      const nobody: Around = { command: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] };
      const other = await spawnStore({ dir }, nobody);
      const child = spawn("sleep", ["1000"]);
      const lease = leaseOf({ pid: child.pid ?? 0, procStart: procStart(child.pid ?? 0) });
      expect(await other.ask({ op: "alive", lease, now: NOW })).toEqual({ alive: true });
      expect(await other.ask({ op: "alive", lease: { ...lease, procStart: null }, now: NOW })).toEqual({
        alive: true,
      });
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(await other.ask({ op: "alive", lease, now: NOW })).toEqual({ alive: false });
    },
  );
});
