import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, describe, expect, test, vi } from "vitest";
import { bootId, isAlive, procStart, startFrom } from "../../src/system/process.ts";
import { signalProcess } from "../../src/system/process-table.ts";
import { stopTree, treeMembers } from "../../src/system/process-tree.ts";
import { pidsAfter } from "../../src/system/young-pids.ts";
import { until } from "../support/until.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function launch(command: string, args: string[], options: SpawnOptions = {}) {
  const child = spawn(command, args, options);
  children.push(child);
  return child;
}

const onLinux = process.platform === "linux";

describe("procStart", () => {
  test("is the same at every look and differs between processes", async () => {
    const child = launch("sleep", ["1000"]);
    const pid = child.pid ?? 0;
    expect(procStart(process.pid)).toBe(procStart(process.pid));
    expect(procStart(pid)).toMatch(/\S/);
    expect(procStart(pid)).not.toBe(procStart(process.pid));
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(procStart(pid)).toBeNull();
  });

  test.skipIf(!onLinux)("names the boot, so that it does not repeat after a restart (H1)", () => {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
    expect(procStart(process.pid)).toMatch(new RegExp(`^${boot}-\\d+$`));
    expect(startFrom("11111111-2222", readFileSync("/proc/self/stat", "utf8"))).toMatch(/^11111111-\d+$/);
    expect(bootId()?.startsWith(boot)).toBe(true);
  });

  test.skipIf(!onLinux)("is not confused by brackets and spaces in the program's name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "loopwright-"));
    const program = join(folder, "a) Z 1 (b) 9");
    copyFileSync("/bin/sleep", program);
    const child = launch(program, ["1000"]);
    const pid = child.pid ?? 0;
    await until(
      () => readFileSync(`/proc/${pid}/stat`, "utf8").includes("(a) Z 1 (b) 9)"),
      "the name is there",
    );
    const start = procStart(pid);
    expect(start).toMatch(/^[0-9a-f]{8}-\d{3,}$/);
    expect(isAlive({ pid, start })).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    rmSync(folder, { recursive: true });
  });

  test("knows nothing of what is no pid", () => {
    for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 40]) expect(procStart(pid)).toBeNull();
  });
});

describe("isAlive", () => {
  test("a running process is alive, with and without its start", () => {
    expect(isAlive({ pid: process.pid, start: procStart(process.pid) })).toBe(true);
    expect(isAlive({ pid: process.pid, start: null })).toBe(true);
    expect(isAlive({ pid: 1, start: null })).toBe(true);
  });

  test("H1 a pid that was given to another process is dead", () => {
    expect(isAlive({ pid: process.pid, start: "00000000-1" })).toBe(false);
  });

  test("0 and negative pids are dead: to the system they would mean groups", () => {
    for (const pid of [0, -1, -process.pid]) expect(isAlive({ pid, start: null })).toBe(false);
  });

  test.skipIf(!onLinux)("a zombie is dead", async () => {
    // `exec` makes a parent that never asks for its child's end; the child ends after that
    const child = "until grep -q sleep /proc/$PPID/comm; do :; done";
    const parent = launch("sh", ["-c", `sh -c '${child}' & echo $!; exec sleep 1000`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = (await once(parent.stdout as Readable, "data")) as [Buffer];
    const pid = Number(line.toString());
    await until(() => readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z "), "the child is a zombie");
    expect(procStart(pid)).not.toBeNull();
    expect(isAlive({ pid, start: procStart(pid) })).toBe(false);
    expect(isAlive({ pid, start: null })).toBe(false);
    parent.kill("SIGKILL");
    await once(parent, "exit");
  });
});

describe("stopTree", () => {
  test("SIGKILL ends a group that ignores SIGTERM", async () => {
    const child = launch("sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 1; done"], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const group = child.pid ?? 0;
    const exit = once(child, "exit");
    await once(child.stdout as Readable, "data");
    expect(treeMembers({ group, marks: [] })).toContain(group);
    expect(await stopTree({ group, marks: [] }, 50)).toBe(true);
    expect(await exit).toEqual([null, "SIGKILL"]);
    expect(treeMembers({ group, marks: [] })).toEqual([]);
  });

  test.skipIf(!onLinux)("marks find a process that left the group, and need all to match", async () => {
    const env = { ...process.env, MARK_A: "1", MARK_B: "2" };
    const child = launch("sleep", ["1000"], { detached: true, env });
    const exit = once(child, "exit");
    // until the exec is through, the child has its parent's environment
    const marks = ["MARK_A=1", "MARK_B=2"];
    await until(() => treeMembers({ group: null, marks }).length === 1, "the process is found by its marks");
    expect(treeMembers({ group: null, marks: ["MARK_A=1", "MARK_B=3"] })).toEqual([]);
    expect(treeMembers({ group: null, marks: [] })).toEqual([]);
    expect(await stopTree({ group: null, marks }, 3_000)).toBe(true);
    expect(await exit).toEqual([null, "SIGTERM"]);
  });
});

test("J4 a signal never goes to all processes or to our own group, whatever pid a file names", () => {
  // not real: with a fault it would end everything
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  for (const pid of [0, -1, -5]) signalProcess(pid, "SIGTERM");
  const calls = kill.mock.calls.map(([pid]) => pid);
  kill.mockRestore();
  expect(calls).toEqual([-5]);
});

describe.skipIf(!onLinux)("pidsAfter", () => {
  test("H1 has everything that a process started, and what that started", async () => {
    for (let round = 0; round < 5; round++) {
      const since = performance.now();
      const child = launch("sh", ["-c", "sleep 1000 & echo $!; setsid sh -c 'echo $$; sleep 1000' & wait"], {
        detached: true,
        stdio: ["ignore", "pipe", "ignore"],
      });
      const group = child.pid ?? 0;
      let text = "";
      child.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      await until(() => text.split("\n").length === 3, "both have said their pids");
      const pids = text.trim().split("\n").map(Number);
      const young = pidsAfter(group, since);
      // null: so slow that it is not certain any more
      if (young !== null) expect(young).toEqual(expect.arrayContaining(pids));
      for (const pid of [...pids, group]) process.kill(pid, "SIGKILL");
      await once(child, "exit");
      process.kill(-(pids[1] ?? 0), "SIGKILL");
    }
  });

  test("is not certain once the count of pids may have gone round, nor of a pid that is not yet given out", () => {
    const { pid = 0 } = launch("true", []);
    expect(pidsAfter(pid, performance.now() - 3_600_000)).toBeNull();
    expect(pidsAfter(2 ** 22 + 1, performance.now())).toBeNull();
    expect(pidsAfter(1, performance.now())).toBeNull();
  });
});

describe.skipIf(!onLinux)("a tree whose beginning is known", () => {
  test("H1 is found and stopped with what left the group, although its leader is gone", async () => {
    const since = performance.now();
    const env = { ...process.env, MARK_C: String(process.pid) };
    const child = launch("sh", ["-c", "setsid sh -c 'echo $$; exec sleep 1000' & exec sh -c 'sleep 0.02'"], {
      detached: true,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const group = child.pid ?? 0;
    const exit = once(child, "exit");
    const [line] = (await once(child.stdout as Readable, "data")) as [Buffer];
    await exit;
    const tree = { group, marks: [`MARK_C=${process.pid}`], since };
    expect(treeMembers(tree)).toEqual([Number(line.toString())]);
    expect(treeMembers({ ...tree, since: since - 3_600_000 })).toEqual([Number(line.toString())]);
    expect(await stopTree(tree, 3_000)).toBe(true);
    expect(treeMembers(tree)).toEqual([]);
  });
});
