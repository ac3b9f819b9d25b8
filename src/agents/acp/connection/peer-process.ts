/**
 * The process of an agent that reads stdin and writes stdout. Owns the process, its group and the end of its stderr.
 *
 * 1. The process leads its own group. A watchdog in the group waits until a pipe closes that only this runner holds.
 *    So the group ends with the runner, however the runner ends.
 * 2. The process and everything it starts have a seal, and marks in their environment. They identify processes that
 *    left the group. The watchdog ends these too.
 * 3. An idle agent does not keep the runner from exiting.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { ProcessRef } from "../../../core/loop.ts";
import { withInterpreter } from "../../../system/find-program.ts";
import { procStart } from "../../../system/process.ts";
import { signalProcess } from "../../../system/process-table.ts";
import { signalTree, stopTree, type Tree } from "../../../system/process-tree.ts";
import { type Sealing, sealingOf, sealOf } from "../../../system/seal.ts";
import { withoutTurn } from "../../../system/turn-env.ts";
import { exitOf } from "../../process/turn-process.ts";

export interface PeerCommand {
  readonly argv: readonly [string, ...string[]];
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
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
  /** The exit code, or 128 + n for signal n. Never rejects. */
  readonly exited: Promise<number | Error>;
  /** The end of stderr since `clearStderr`. */
  stderr(): string;
  clearStderr(): void;
  /** `true` keeps the runner alive while a turn runs. */
  hold(isHeld: boolean): void;
  /** Ends the group and every process with its marks. Must not reject. */
  kill(): Promise<void>;
}

const MARK = "LOOP_ACP";
const STDERR_BYTES = 64 * 1024;

// `cat` ends when nobody holds the other end of the pipe. Group 0 is the process's own group. The watchdog ignores
// the signals that end the agent gently. Its programs come from the system, not from the project.
const makeWatchdog = ({ set, sweep }: Sealing, seal: number) => `
${set(seal)}
${sweep(seal)}
d=$1
shift
( PATH=/bin:/usr/bin:$PATH; trap '' TERM INT HUP; cat <&3; [ -z "$d" ] || rm -rf -- "$d"; sweep; kill -KILL 0 ) >/dev/null 2>&1 </dev/null &
exec "$@" 3<&-
`;

/** Rejects when the system cannot start the process. */
export async function startPeer(command: PeerCommand): Promise<PeerProcess> {
  const mark = randomBytes(8).toString("hex");
  const tmpDir = command.ownTmpDir ? mkdtempSync(join(tmpdir(), "loop-agent-")) : null;
  const marks = [`${MARK}=${mark}`, `LOOP_PROJECT=${command.projectDir}`];
  const { shell } = command;
  const words = withInterpreter(command.argv, command.env, command.projectDir);
  const sealing = sealingOf(shell);
  const watchdog = [shell, "-c", makeWatchdog(sealing, sealOf(marks.join("\n"))), "loop-agent"];
  const [program = shell, ...args] = [...sealing.before, ...watchdog, tmpDir ?? "", ...words];
  const since = performance.now();
  const child = spawn(program, args, {
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
  const tree = { ...markedTree(child.pid, marks), since };
  const ref = { pid: child.pid, start: procStart(child.pid), foundBy: sealing.foundBy };
  return guard(child, ref, tree, exited, tmpDir, command.killGraceMs);
}

/** The processes that `startPeer` started with these marks. */
export function markedTree(group: number | null, marks: readonly string[]): Tree {
  return { group, marks, seal: sealOf(marks.join("\n")) };
}

/** The running agents and their temporary folders. A runner that exits ends them itself. */
const running = new Map<Tree, string | null>();

function endRunning(): void {
  for (const [tree, tmpDir] of running) {
    signalTree(tree, "SIGKILL");
    removeFolder(tmpDir);
  }
}

function removeFolder(path: string | null): void {
  try {
    if (path !== null) rmSync(path, { recursive: true, force: true });
  } catch {
    // a dying process may still write there; the system removes the folder later
  }
}

function guard(
  child: ChildProcess,
  ref: ProcessRef,
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
  // writing to an ended process is an error of the pipe; its exit reports the same
  for (const pipe of [stdin, stdout, stderr, leash]) pipe.on("error", () => {});

  async function end(): Promise<void> {
    signalProcess(-ref.pid, "SIGTERM");
    await within(exited, killGraceMs);
    // the watchdog ends the rest of the group, even if this runner dies here
    leash.destroy();
    await stopTree(tree, killGraceMs);
    running.delete(tree);
    if (running.size === 0) process.off("exit", endRunning);
    for (const pipe of [stdin, stdout, stderr, leash]) pipe?.destroy();
    removeFolder(tmpDir);
  }

  function kill(): Promise<void> {
    killed ??= end().catch(() => {});
    return killed;
  }

  if (running.size === 0) process.on("exit", endRunning);
  running.set(tree, tmpDir);
  // also ends what the agent left in its group
  void exited.then(kill);
  const held = [child, stdin, stdout, stderr, leash] as unknown as readonly { ref(): void; unref(): void }[];
  return {
    ref,
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
