import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { isAlive } from "../../src/system/process.ts";
import { stopTree, treeMembers } from "../../src/system/process-tree.ts";
import { isSealed, readSeal, sealingOf, sealOf } from "../../src/system/seal.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const children: ChildProcess[] = [];
afterEach(() => {
  for (const { pid } of children.splice(0)) if (pid !== undefined) killGroup(pid);
});

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it ended
  }
}

/** Starts a sealed shell. Resolves with what it printed first. */
async function sealed(seal: number, script: string): Promise<string> {
  const { before, set } = sealingOf("/bin/sh");
  const [program = "", ...args] = [...before, "/bin/sh", "-c", `${set(seal)}\n${script}`];
  const child = spawn(program, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [line] = (await once(child.stdout as Readable, "data")) as [Buffer];
  return line.toString().trim();
}

const pidOf = async (seal: number, script: string) => Number(await sealed(seal, script));
const isGone = (pid: number) => !isAlive({ pid, start: null });
const HIDE = "env -i setsid sh -c 'setsid sh -c \"echo \\$\\$; exec sleep 1000\" &'; sleep 1000";

describe.skipIf(process.platform !== "linux")("J3 a seal", () => {
  test("is on everything that a sealed process starts, and not on this process", async () => {
    const seal = sealOf("one");
    const pid = await pidOf(seal, HIDE);
    expect(readSeal(pid)).toEqual({ value: seal, isIntact: true });
    expect(isSealed()).toBe(false);
    expect(treeMembers({ group: null, marks: [], seal })).toContain(pid);
    expect(treeMembers({ group: null, marks: [], seal: sealOf("two") })).toEqual([]);
    expect(await stopTree({ group: null, marks: [], seal }, 1_000)).toBe(true);
    expect(isGone(pid)).toBe(true);
  });

  test.skipIf(!isRoot)("cannot be removed by another user, nor changed without a trace", () => {
    const script = `${sealingOf("/bin/sh").set(sealOf("x"))}
ulimit -w unlimited 2>/dev/null && echo raised
ulimit -m unlimited 2>/dev/null && echo raised
ulimit -w 12; exec cat /proc/self/limits`;
    const said = execFileSync("sh", ["-c", script], { encoding: "utf8", uid: NOBODY, gid: NOBODY });
    expect(said).not.toContain("raised");
    expect(said).toMatch(/^Max file locks +12 +12 /m);
  });

  test("root starts a sealed process without the capability to remove the seal", async () => {
    const { foundBy, before, set } = sealingOf("/bin/sh");
    expect(foundBy).toBe("seal");
    const script = `${set(sealOf("x"))}; exec grep CapEff /proc/self/status`;
    const [program = "", ...args] = [...before, "/bin/sh", "-c", script];
    const bits = execFileSync(program, args, { encoding: "utf8" }).split(":")[1]?.trim();
    expect(BigInt(`0x${bits}`) & (1n << 24n)).toBe(0n);
  });

  test("that was lowered makes a process a member of every tree; the others keep theirs", async () => {
    const other = await pidOf(sealOf("other"), "echo $$; exec sleep 1000");
    // only the resident set, which a program may limit for itself
    const limited = await pidOf(sealOf("other"), "ulimit -m 1000000; echo $$; exec sleep 1000");
    const changed = await pidOf(
      sealOf("mine"),
      "ulimit -w 1 2>/dev/null || ulimit -x 1; echo $$; exec sleep 1000",
    );
    expect(await stopTree({ group: null, marks: [], seal: sealOf("third") }, 1_000)).toBe(true);
    expect([changed, other, limited].map(isGone)).toEqual([true, false, false]);
  });

  test("finds a process that forks and exits faster than anybody looks", async () => {
    const seal = sealOf("hops");
    const hops = `$SIG{TERM}='IGNORE'; $|=1; $e=time+20; print "x\\n"; setpgrp; while (time < $e) { exit if fork }`;
    await sealed(seal, `exec perl -e '${hops}'`);
    const stdout = children.at(-1)?.stdout as Readable;
    expect(await stopTree({ group: null, marks: [], seal }, 0)).toBe(true);
    // all that hold the pipe are gone
    if (!stdout.closed) await once(stdout.resume(), "close");
  });
});
