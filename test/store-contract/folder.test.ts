/**
 * The store in `.loop/`. Its processes are handles with a real process beside them, so that the system can tell who is
 * gone. A handle dies between two writes when `fs` refuses all that follow.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs, { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/compose/open-store.ts";
import { ensureLoopDir } from "../../src/store/folder/loop-dir.ts";
import { procStart } from "../../src/system/process.ts";
import { storeContract } from "./store-contract.ts";
import type { StoreWorld } from "./world.ts";

storeContract("folder", openFolder);

/** So small that a test of sixty commits goes through many segments. */
const SEGMENT_BYTES = 4 * 1024;

async function openFolder(): Promise<StoreWorld> {
  const root = mkdtempSync(join(tmpdir(), "loopwright-contract-"));
  const dir = ensureLoopDir(root);
  const children: ChildProcess[] = [];
  // files carry the system's time
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;

  function start(): { readonly pid: number; end(): Promise<void> } {
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    children.push(child);
    const end = async () => {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    };
    return { pid: child.pid ?? 0, end };
  }

  return {
    async open() {
      const { pid, end } = start();
      const store = openStore(dir, { now, say: () => {}, segmentBytes: SEGMENT_BYTES });
      const self = { owner: `runner:${pid}`, pid, procStart: procStart(pid), host: hostname() };
      return { store, bid: () => ({ ...self, acquiredAt: now() }), crash: end };
    },
    now,
    advance: async (ms) => {
      aheadMs += ms;
    },
    until: (news) => news,
    dieAfter: (writes, _handle, act) => withWrites(writes, act),
    async dropOldHistory() {
      const numberOf = (name: string) => Number(/^journal\.(\d+)\.jsonl$/.exec(name)?.[1] ?? 1);
      const segments = readdirSync(dir).filter((name) => /^journal(\.\d+)?\.jsonl$/.test(name));
      const newest = Math.max(...segments.map(numberOf));
      for (const name of segments) if (numberOf(name) < newest - 1) rmSync(join(dir, name));
    },
    async speak(_handle, { loopId, turnId }, lines) {
      const run = join(dir, "runs", loopId, turnId);
      mkdirSync(run, { recursive: true });
      for (const line of lines) appendFileSync(join(run, "answer.txt"), `${line}\n`);
    },
    async client(state) {
      const { pid, end } = start();
      const ref = { pid, start: procStart(pid) };
      if (state === "gone") await end();
      return ref;
    },
    async close() {
      for (const child of children) child.kill("SIGKILL");
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const WRITES = [
  "writeSync",
  "writeFileSync",
  "renameSync",
  "linkSync",
  "rmSync",
  "unlinkSync",
  "mkdirSync",
  "fsyncSync",
  "utimesSync",
  "futimesSync",
  "copyFileSync",
] as const;

/** true: not all writes of `act` were let through. */
async function withWrites(allowed: number, act: () => Promise<void>): Promise<boolean> {
  const real = Object.fromEntries(WRITES.map((name) => [name, fs[name]]));
  let count = 0;
  for (const name of WRITES)
    Object.assign(fs, {
      [name]: (...args: unknown[]) => {
        if (++count > allowed) throw Object.assign(new Error("killed"), { code: "EIO" });
        return (real[name] as (...args: unknown[]) => unknown)(...args);
      },
    });
  syncBuiltinESMExports();
  try {
    await act();
  } catch {
    // it died in the middle of a step
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
  return count > allowed;
}
