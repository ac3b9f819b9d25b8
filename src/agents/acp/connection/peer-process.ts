/**
 * The process of an agent that is talked to over its stdin and stdout. Owns it, its group and the end of what it
 * printed to stderr, from the start to the last member.
 *
 * 1. It leads a group of its own, in which a watchdog waits for the end of a pipe that only this runner holds: however
 *    the runner ends, the group ends with it.
 * 2. It has marks in its environment, and so has all that it starts, by which also what left the group is found.
 * 3. Nothing here keeps the runner from exiting while the agent is idle.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { ProcessRef } from "../../../core/loop.ts";
import { procStart } from "../../../system/process.ts";
import { signalProcess } from "../../../system/process-table.ts";
import { stopTree, type Tree } from "../../../system/process-tree.ts";
import { withoutTurn } from "../../../system/turn-env.ts";
import { exitOf } from "../../process/turn-process.ts";

export interface PeerCommand {
  readonly argv: readonly [string, ...string[]];
  readonly projectDir: string;
  /** The runner's. */
  readonly env: NodeJS.ProcessEnv;
  /** More, of the profile and of the turn that it is started for. */
  readonly extra: Readonly<Record<string, string>>;
  readonly shell: string;
  readonly ownTmpDir: boolean;
  readonly killGraceMs: number;
}

export interface PeerProcess {
  readonly ref: ProcessRef;
  readonly tree: Tree;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Its exit code, as shells say it. Never rejects. */
  readonly exited: Promise<number | Error>;
  /** The end of what it printed to stderr since `clearStderr`. */
  stderr(): string;
  clearStderr(): void;
  /** While a turn runs the runner waits for it. */
  hold(isHeld: boolean): void;
  /** Ends the group and all that has its marks. Must not reject. */
  kill(): Promise<void>;
}

const MARK = "LOOP_ACP";
const STDERR_BYTES = 64 * 1024;

// `cat` ends when the last holder of the other end is gone; a signal to group 0 is one to the own group. What is meant
// to end the agent gently must not end the watchdog before it.
const WATCHDOG = `
d=$1
shift
( trap '' TERM INT HUP; cat <&3; [ -z "$d" ] || rm -rf -- "$d"; kill -KILL 0 ) >/dev/null 2>&1 </dev/null &
exec "$@" 3<&-
`;

/** Rejects where the system has no room or no way for it. */
export async function startPeer(command: PeerCommand): Promise<PeerProcess> {
  const mark = randomBytes(8).toString("hex");
  const tmpDir = command.ownTmpDir ? mkdtempSync(join(tmpdir(), "loop-agent-")) : null;
  const since = performance.now();
  const child = spawn(command.shell, ["-c", WATCHDOG, "loop-agent", tmpDir ?? "", ...command.argv], {
    cwd: command.projectDir,
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    env: {
      ...withoutTurn(command.env),
      ...(tmpDir === null ? {} : { TMPDIR: tmpDir }),
      PWD: command.projectDir,
      ...command.extra,
      LOOP_PROJECT: command.projectDir,
      [MARK]: mark,
    },
  });
  const exited = exitOf(child);
  if (child.pid === undefined) throw await exited;
  const marks = [`${MARK}=${mark}`, `LOOP_PROJECT=${command.projectDir}`];
  const tree = { group: child.pid, marks, since };
  return guard(child, child.pid, tree, exited, tmpDir, command.killGraceMs);
}

/** Groups that are there, with their folders. A runner that exits ends them itself, which is faster than watchdogs. */
const groups = new Map<number, string | null>();

function endGroups(): void {
  for (const [group, tmpDir] of groups) {
    signalProcess(-group, "SIGKILL");
    removeFolder(tmpDir);
  }
}

function removeFolder(path: string | null): void {
  try {
    if (path !== null) rmSync(path, { recursive: true, force: true });
  } catch {
    // what is being ended may still write there; the system clears it up in time
  }
}

function guard(
  child: ChildProcess,
  pid: number,
  tree: Tree,
  exited: Promise<number | Error>,
  tmpDir: string | null,
  killGraceMs: number,
): PeerProcess {
  const { stdin, stdout, stderr } = child;
  const leash = child.stdio[3] as Socket;
  if (stdin === null || stdout === null || stderr === null) throw new Error("a pipe to the agent is missing");
  let errors = Buffer.alloc(0);
  let killed: Promise<void> | null = null;
  stderr.on("data", (bytes: Buffer) => {
    errors = Buffer.concat([errors, bytes]).subarray(-STDERR_BYTES);
  });
  // what is written to a process that is gone comes back as an error of the pipe; its exit tells the same
  for (const pipe of [stdin, stdout, stderr, leash]) pipe.on("error", () => {});

  async function end(): Promise<void> {
    signalProcess(-pid, "SIGTERM");
    await within(exited, killGraceMs);
    // the watchdog ends what is left of the group, also if this runner does not come any further
    leash.destroy();
    await stopTree(tree, killGraceMs);
    groups.delete(pid);
    if (groups.size === 0) process.off("exit", endGroups);
    for (const pipe of [stdin, stdout, stderr, leash]) pipe?.destroy();
    removeFolder(tmpDir);
  }

  function kill(): Promise<void> {
    killed ??= end().catch(() => {});
    return killed;
  }

  if (groups.size === 0) process.on("exit", endGroups);
  groups.set(pid, tmpDir);
  // what it left in its group goes too
  void exited.then(kill);
  const held = [child, stdin, stdout, stderr, leash] as unknown as readonly { ref(): void; unref(): void }[];
  return {
    ref: { pid, start: procStart(pid) },
    tree,
    stdin,
    stdout,
    exited,
    stderr: () => errors.toString("utf8"),
    clearStderr: () => {
      errors = Buffer.alloc(0);
    },
    hold: (isHeld) => {
      for (const handle of held) isHeld ? handle.ref() : handle.unref();
    },
    kill,
  };
}

/** Resolves when `over` does, at the latest after `ms`. */
export function within(over: Promise<unknown>, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((done) => {
    timer = setTimeout(done, ms);
  });
  return Promise.race([over, late]).finally(() => clearTimeout(timer));
}
