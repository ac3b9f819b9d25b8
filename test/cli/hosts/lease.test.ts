/** D6, D12 `loop heartbeat | release-lock`: the lease by hand, through the real command. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Lease, SILENT_AFTER_MS } from "../../../src/ports/lease.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import type { LeaseFile } from "../../../src/store/folder/lease-file.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { procStart } from "../../../src/system/process.ts";
import { goalCreation, newGoal } from "../../store/fixtures/goals.ts";
import { idOf } from "../../store/fixtures/tasks.ts";
import { hashTree, listOf, loopJson, makeProject, runLoop, startLoop } from "../../support/cli.ts";

const OWNER = "session:s1";
const ALIVE = { pid: process.pid, procStart: procStart(process.pid), host: hostname() };
const GONE = { ...ALIVE, procStart: "another boot" };
const ELSEWHERE = { pid: 7, procStart: "then", host: "another-host" };

function openStore(cwd: string): FolderStore {
  return new FolderStore(join(cwd, ".loop"), { now: Date.now, say: () => {} });
}

/** A project whose lease has been held for a minute. */
async function held(holder: Omit<Lease, "token" | "owner" | "acquiredAt">, owner = OWNER) {
  const cwd = makeProject();
  ensureLoopDir(cwd);
  const store = openStore(cwd);
  const wanted = { ...holder, owner, acquiredAt: Date.now() - 60_000 };
  const lease = await store.acquire(wanted, store.lastToken());
  if (lease === null) throw new Error("the lease was not to be had");
  return { cwd, lease };
}

const lockOf = (cwd: string) =>
  JSON.parse(readFileSync(join(cwd, ".loop", "loop.lock"), "utf8")) as LeaseFile;
const journalOf = (cwd: string) => readFileSync(join(cwd, ".loop", "journal.jsonl"), "utf8");

/** Refused: one sentence on stderr, with at most one hint, and nothing is changed. */
async function refused(cwd: string, args: readonly string[], code: number, env = {}) {
  const before = hashTree(cwd);
  const result = await runLoop(args, { cwd, env });
  expect(result).toMatchObject({ code, stdout: "" });
  expect(result.stderr).toMatch(/^loop: [^\n]+\.\n(?: {2}[^\n]+\n)?$/);
  expect(hashTree(cwd)).toBe(before);
  return result.stderr;
}

describe("D12 heartbeat", () => {
  test.each([
    ["who is named", ["--owner", OWNER], {}],
    ["this conversation", [], { LOOP_SESSION: "s1" }],
    ["whoever holds it", [], {}],
  ])("gives the sign of life of %s", async (_whose, args, env) => {
    const { cwd, lease } = await held(ALIVE);
    const journal = journalOf(cwd);
    const before = Date.now();
    const { code, stdout } = await runLoop(["heartbeat", ...args, "--json"], { cwd, env });
    expect(code).toBe(0);
    const { heartbeat_at, ...file } = lockOf(cwd);
    expect(Date.parse(heartbeat_at)).toBeGreaterThanOrEqual(before);
    expect(file).toMatchObject({ owner: OWNER, token: lease.token, pid: process.pid });
    expect(JSON.parse(stdout)).toMatchObject({ owner: OWNER, token: lease.token, heartbeatAt: heartbeat_at });
    expect(journalOf(cwd), "it is no line in the journal").toBe(journal);
  });

  test("keeps a holder on another machine alive that was silent", async () => {
    const { cwd, lease } = await held(ELSEWHERE);
    writeFileSync(join(cwd, ".loop", "loop.lock"), "{}");
    const { code, stdout } = await runLoop(["heartbeat"], { cwd });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^Wrote a heartbeat for session:s1, which holds the lease since .+ ago\)\.\n$/,
      ),
    });
    expect(openStore(cwd).holderState(lease, Date.now() + SILENT_AFTER_MS - 5_000)).toBe("alive");
  });

  test("says who holds the lease when it is somebody else", async () => {
    const { cwd } = await held(ALIVE, "runner:r1");
    const stderr = await refused(cwd, ["heartbeat", "--owner", OWNER], 1);
    expect(stderr).toContain(`runner:r1 (pid ${process.pid} on ${hostname()}) holds the lease since `);
    expect(stderr).toMatch(/since .+ ago\), last heartbeat .+ ago\), not session:s1\.\n$/);
    expect(await refused(cwd, ["heartbeat"], 1, { LOOP_SESSION: "s1" })).toContain(", not session:s1.");
  });

  test("gives none for a process that is gone, nor where nobody holds it", async () => {
    const { cwd } = await held(GONE);
    expect(await refused(cwd, ["heartbeat"], 1)).toContain("but its process has ended.");
    const empty = makeProject();
    expect(await refused(empty, ["heartbeat"], 1)).toBe("loop: Nobody holds the lease of this project.\n");
    expect(existsSync(join(empty, ".loop"))).toBe(false);
    await refused(empty, ["heartbeat", "--owner", " "], 64);
  });
});

describe("D6 release-lock", () => {
  test("releases what a process held that is gone, as a line in the journal under its token", async () => {
    const { cwd, lease } = await held(GONE);
    const before = journalOf(cwd);
    const answer = await loopJson<object>(["release-lock", "--owner", OWNER], { cwd });
    expect(answer).toMatchObject({ released: true, owner: OWNER, token: lease.token, holder: null });
    expect(journalOf(cwd).startsWith(before), "no line is rewritten").toBe(true);
    const added = journalOf(cwd).slice(before.length);
    expect(added.trim().split("\n")).toEqual([
      expect.stringMatching(new RegExp(`"type":"release".*"token":${lease.token}\\b`)),
    ]);
    expect(existsSync(join(cwd, ".loop", "loop.lock"))).toBe(false);
    expect(await listOf(cwd)).toMatchObject({ owner: null });
    const next = openStore(cwd);
    expect({ lease: next.lease(), last: next.lastToken() }).toEqual({ lease: null, last: lease.token });
  });

  test("refuses one whose process is there, and says since when and its last heartbeat", async () => {
    const { cwd } = await held(ALIVE);
    const stderr = await refused(cwd, ["release-lock", "--owner", OWNER], 1);
    expect(stderr).toMatch(
      /session:s1 \(pid \d+ on .+\) holds the lease since .+ago\), last heartbeat .+ago\)/,
    );
    expect(stderr).toContain("--force");
  });

  test("--force takes it from a runner at work, which is fenced from then on", async () => {
    const cwd = makeProject();
    const runner = startLoop(["up", "--agent-cmd", "cat", "--json"], { cwd });
    await runner.line(/"role":"owner"/);
    const before = openStore(cwd).lease();
    const { code, stdout } = await runLoop(["release-lock", "--owner", before?.owner ?? "", "--force"], {
      cwd,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Released the lease that /) });
    const after = openStore(cwd);
    expect(after.lease()?.token ?? null).not.toBe(before?.token);
    expect(after.lastToken()).toBeGreaterThanOrEqual(before?.token ?? Number.NaN);
    runner.signal("SIGTERM");
    expect(await runner.ended).toBe(0);
  });

  test("on another machine, only silence tells that it is gone", async () => {
    const { cwd, lease } = await held(ELSEWHERE);
    await refused(cwd, ["release-lock", "--owner", OWNER], 1);
    const store = openStore(cwd);
    await store.release(lease.token, Date.now());
    const long = { ...ELSEWHERE, owner: OWNER, acquiredAt: Date.now() - SILENT_AFTER_MS - 1_000 };
    await store.acquire(long, store.lastToken());
    expect((await runLoop(["release-lock", "--owner", OWNER], { cwd })).code).toBe(0);
  });

  test("refuses another owner, nobody, and wrong use", async () => {
    const { cwd } = await held(GONE, "runner:r1");
    const args = ["release-lock", "--owner", OWNER, "--force"];
    expect(await refused(cwd, args, 1)).toContain("runner:r1 (pid");
    expect(await refused(makeProject(), args, 1)).toBe("loop: Nobody holds the lease of this project.\n");
    await refused(cwd, ["release-lock"], 64);
    await refused(cwd, ["release-lock", "--owner", ""], 64);
  });

  test("B19 not from inside a turn", async () => {
    const { cwd } = await held(GONE);
    const args = ["release-lock", "--owner", OWNER, "--force"];
    await openStore(cwd).commit(goalCreation(newGoal(idOf(1))));
    for (const turn of [`${idOf(1)}-2`, "somebody's"])
      expect(await refused(cwd, args, 64, { LOOP_FIRE_ID: turn })).toContain("Only a person can release");
  });

  test("H2 nothing is written into a .loop that came from somewhere else", async () => {
    const { cwd } = await held(GONE);
    writeFileSync(join(cwd, ".loop", "origin"), `${"0".repeat(64)}\n`);
    const before = hashTree(cwd);
    for (const args of [["release-lock", "--owner", OWNER, "--force"], ["heartbeat"]]) {
      const { code, stderr } = await runLoop(args, { cwd });
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("loop trust") });
    }
    expect(hashTree(cwd)).toBe(before);
  });
});
