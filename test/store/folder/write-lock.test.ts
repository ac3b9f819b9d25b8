/** The lock of a file, where two find it abandoned at once and where nobody lets go. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { whileLocked } from "../../../src/store/folder/write-lock.ts";
import { procStart } from "../../../src/system/process.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

const meanwhile = vi.hoisted(() => ({ beforeRename: () => {}, inPause: () => {} }));

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  const renameSync = (from: string, to: string) => {
    meanwhile.beforeRename();
    fs.renameSync(from, to);
  };
  return { ...fs, renameSync };
});
vi.mock("node:timers/promises", () => ({ setTimeout: async () => meanwhile.inPause() }));

beforeEach(() => {
  meanwhile.beforeRename = () => {};
  meanwhile.inPause = () => {};
});
afterEach(removeTempDirs);

const DEAD = JSON.stringify({ host: hostname(), pid: 2 ** 22 + 1, start: null });
const LIVE = JSON.stringify({ host: hostname(), pid: process.pid, start: procStart(process.pid) });

test("H1 the lock is there while it acts, and gone after it, also when it throws", async () => {
  const lock = join(tempDir(), "x.lock");
  expect(await whileLocked(lock, () => existsSync(lock))).toBe(true);
  expect(existsSync(lock)).toBe(false);
  const failing = whileLocked(lock, () => {
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(existsSync(lock)).toBe(false);
});

test("H1 of two that find it abandoned, the slower one gives the lock of the faster back", async () => {
  const lock = join(tempDir(), "x.lock");
  writeFileSync(lock, DEAD);
  let renames = 0;
  meanwhile.beforeRename = () => {
    renames += 1;
    if (renames === 1) writeFileSync(lock, LIVE);
  };
  let pauses = 0;
  meanwhile.inPause = () => {
    pauses += 1;
    expect(readFileSync(lock, "utf8")).toBe(LIVE);
    if (pauses === 3) rmSync(lock);
  };
  expect(await whileLocked(lock, () => pauses)).toBe(3);
  expect([renames, existsSync(lock)]).toEqual([1, false]);
});

test("H1 a lock that was taken away from it is not removed", async () => {
  const lock = join(tempDir(), "x.lock");
  await whileLocked(lock, () => writeFileSync(lock, LIVE));
  expect(readFileSync(lock, "utf8")).toBe(LIVE);
});

test("H1 nobody lets go: it says who, and does nothing", async () => {
  const lock = join(tempDir(), "x.lock");
  writeFileSync(lock, LIVE);
  const act = vi.fn();
  await expect(whileLocked(lock, act)).rejects.toMatchObject({
    message: `Process ${process.pid} holds the lock ${lock}.`,
    hint: "Nothing was changed; try again.",
  });
  expect(act).not.toHaveBeenCalled();
});
