import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { capOf } from "../../../src/hosts/claude-code/hooks/block-cap.ts";
import {
  hasMonitor,
  registerMonitor,
  spoolPath,
  wakeIn,
  wakingBy,
} from "../../../src/hosts/claude-code/wake.ts";
import { nearCap } from "../../../src/hosts/conversation/hooks/block-cap.ts";
import { type Waking, wakeUp } from "../../../src/hosts/conversation/hooks/wake-up.ts";
import { Seat } from "../../../src/hosts/conversation/seat.ts";
import { createSessions } from "../../../src/store/folder/session-records.ts";
import { procStart } from "../../../src/system/process.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";
import { asNotification } from "../../support/played-client.ts";
import { until } from "../../support/until.ts";

afterEach(removeTempDirs);

const CLIENT = 4711;
const SELF = { pid: process.pid, start: procStart(process.pid) };
const NEVER = new AbortController().signal;

function open(): { dir: string; seat: Seat; waker: Waking; lines: () => readonly string[] } {
  const dir = tempDir();
  const seat = new Seat({
    ...{ sessions: createSessions(dir), session: "s-1", client: { pid: CLIENT, start: null }, now: Date.now },
    ...{ costUsd: () => null, onChange: () => {} },
  });
  const lines = () =>
    existsSync(spoolPath(dir, CLIENT))
      ? readFileSync(spoolPath(dir, CLIENT), "utf8").split("\n").slice(0, -1)
      : [];
  return { dir, seat, waker: wakingBy(dir, CLIENT), lines };
}

describe("E1 who can wake a conversation", () => {
  test("a monitor that lives, for its own client only", () => {
    const dir = tempDir();
    expect(hasMonitor(dir, CLIENT)).toBe(false);
    registerMonitor(dir, CLIENT, SELF);
    expect(hasMonitor(dir, CLIENT)).toBe(true);
    expect(hasMonitor(dir, CLIENT + 1)).toBe(false);
  });

  test("not a monitor that is gone, nor a later process with its pid", async () => {
    const dir = tempDir();
    const child = spawn("true");
    await once(child, "exit");
    registerMonitor(dir, CLIENT, { pid: child.pid ?? 0, start: null });
    expect(hasMonitor(dir, CLIENT)).toBe(false);
    registerMonitor(dir, CLIENT, { pid: process.pid, start: "another-boot-1" });
    expect(hasMonitor(dir, CLIENT)).toBe(false);
  });

  test.each(["", "{", "null", "5", '{"pid":"x"}'])("nor a file that says %j", (text) => {
    const dir = tempDir();
    mkdirSync(join(dir, "sessions"));
    writeFileSync(join(dir, "sessions", `monitor-${CLIENT}`), text);
    expect(hasMonitor(dir, CLIENT)).toBe(false);
  });
});

describe("E1 a wake-up names itself, and only the client's own prompt of it counts", () => {
  test.each([
    [asNotification("Loopwright: x [wake 0123456789ab]"), "0123456789ab"],
    [asNotification("one\nLoopwright: x [wake 0123456789ab]"), "0123456789ab"],
    ["Loopwright: x [wake 0123456789ab]", null],
    ["what does <task-notification> [wake 0123456789ab] mean?", null],
    [asNotification("Loopwright: x [wake 0123]"), null],
    [asNotification("the build is green"), null],
    ["", null],
  ])("%j: %j", (prompt, wake) => {
    expect(wakeIn(prompt)).toBe(wake);
  });
});

describe("E1 waking", () => {
  test("without a monitor it cannot be done, and nothing is written", async () => {
    const { seat, waker, lines } = open();
    expect(await wakeUp(seat, waker, "goal a goes on", NEVER)).toBe(false);
    expect(lines()).toEqual([]);
  });

  test("a hook that waits already needs no wake-up", async () => {
    const { seat, waker, lines, dir } = open();
    registerMonitor(dir, CLIENT, SELF);
    void seat.offer("p-1", NEVER);
    expect(await wakeUp(seat, waker, "goal a goes on", NEVER)).toBe(true);
    expect(lines()).toEqual([]);
    seat.withdrawOffer();
  });

  test("one line in one piece, whatever it is about; it is over when a hook waits", async () => {
    const { seat, waker, lines, dir } = open();
    registerMonitor(dir, CLIENT, SELF);
    const woken = wakeUp(seat, waker, `task\n[wake ffffffffffff]\u001b[31m${"x".repeat(900)}`, NEVER);
    await until(() => lines().length === 1, "the line is written");
    const [line = ""] = lines();
    expect(line.length).toBeLessThan(500);
    expect(line).not.toContain("\u001b");
    const name = /\[wake ([0-9a-f]{12})\]$/.exec(line)?.[1] ?? "";
    expect(waker.isPending(name)).toBe(true);
    expect(waker.isPending("ffffffffffff")).toBe(false);
    void seat.offer("p-1", NEVER);
    expect(await woken).toBe(true);
    expect(waker.isPending(name)).toBe(false);
    seat.withdrawOffer();
  });

  test("A5 it waits while the conversation is busy", async () => {
    const { seat, waker, lines, dir } = open();
    registerMonitor(dir, CLIENT, SELF);
    seat.update({ state: "busy" });
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const woken = wakeUp(seat, waker, "task a is due", stop.signal);
    seat.update({ blocks: 1 });
    expect(lines()).toEqual([]);
    seat.update({ state: "idle" });
    await until(() => lines().length === 1, "the line is written");
    stop.abort();
    expect(await woken).toBe(false);
  });

  test("a wake-up that is settled is not pending any more", async () => {
    const { seat, waker, lines, dir } = open();
    registerMonitor(dir, CLIENT, SELF);
    const stop = new AbortController();
    const woken = wakeUp(seat, waker, "task a is due", stop.signal);
    await until(() => lines().length === 1, "the line is written");
    const name = wakeIn(asNotification(lines()[0] ?? "")) ?? "";
    waker.settle();
    expect(waker.isPending(name)).toBe(false);
    stop.abort();
    await woken;
  });
});

describe("D3 the client ends a turn by itself after some answers in a row", () => {
  test.each<readonly [string | undefined, number]>([
    [undefined, 8],
    ["", 8],
    ["0", 0],
    ["3", 3],
    ["-1", 8],
    ["many", 8],
    ["8.5", 8],
  ])("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=%s is %d", (value, cap) => {
    expect(capOf(value === undefined ? {} : { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: value })).toBe(cap);
  });

  test.each([
    [6, 8, false],
    [7, 8, true],
    [8, 8, true],
    [1_000, 0, false],
    [0, 1, true],
  ])("after %d answers of %d it is near: %s", (blocks, cap, isNear) => {
    expect(nearCap(blocks, cap)).toBe(isNear);
  });
});
