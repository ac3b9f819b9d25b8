import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { CheckEvidence, Checker } from "../ports/checks.ts";
import { stopTree, type Tree } from "../system/process-tree.ts";
import { sealingOf, sealOf } from "../system/seal.ts";

export interface CommandCheckerOptions {
  readonly shell?: string;
  readonly killGraceMs?: number;
}

const TAIL_BYTES = 8 * 1024;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs checks with `sh -c` in the project. When a check ends, every process that it started ends too. Nothing in the
 * environment shows that it is a check: otherwise the product could behave only while it is checked.
 */
export function createCommandChecker(projectDir: string, options: CommandCheckerOptions = {}): Checker {
  const cwd = resolve(projectDir);
  const killGraceMs = options.killGraceMs ?? 3_000;
  return {
    async run(command, timeoutMs, signal, mark = "") {
      if (signal.aborted) return { exitCode: null, timedOut: false, tail: "" };
      const own = markOf(randomUUID());
      const marks = mark === "" ? [own] : [own, markFor(cwd, mark)];
      // the checks of a job run one at a time, so they may share a seal
      const seal = sealFor(marks.at(-1) ?? own);
      const since = performance.now();
      let child: ChildProcess;
      try {
        child = spawnCheck(command, cwd, marks, seal, options);
      } catch (error) {
        return notStarted(error);
      }
      const tree = { group: child.pid ?? null, marks: [own.join("=")], seal, since };
      return watchCheck(child, tree, timeoutMs, signal, killGraceMs);
    },
    async sweep(mark) {
      // the old group id may belong to another process now
      const left = markFor(cwd, mark);
      const tree = { group: null, marks: [left.join("=")], seal: sealFor(left) };
      if (mark !== "") await stopTree(tree, killGraceMs);
    },
  };
}

/** A variable in the environment that identifies the processes of a check. */
type Mark = readonly [name: string, value: string];

/** Every runner computes the same mark, so it finds processes that a dead runner left. */
function markFor(cwd: string, mark: string): Mark {
  return markOf(JSON.stringify([cwd, mark]));
}

function markOf(text: string): Mark {
  const hash = createHash("sha256").update(text).digest("hex");
  const letters = [...hash.slice(0, 8)].map((digit) => "BCDFGHKLMNPRSTVX"[Number.parseInt(digit, 16)]);
  return [letters.join(""), hash.slice(8, 40)];
}

function sealFor(mark: Mark): number {
  return sealOf(mark.join("="));
}

function spawnCheck(
  command: string,
  cwd: string,
  marks: readonly Mark[],
  seal: number,
  options: CommandCheckerOptions,
): ChildProcess {
  const shell = options.shell ?? "/bin/sh";
  const { before, set } = sealingOf(shell);
  // One pipe for both streams keeps their lines in order. On its own line, it works even when the command has a syntax error.
  const script = `${set(seal)}; exec 2>&1\n${command}`;
  const [program = shell, ...args] = [...before, shell, "-c", script];
  return spawn(program, args, {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...withoutEngine(process.env), PWD: cwd, ...Object.fromEntries(marks) },
  });
}

function withoutEngine(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("LOOP_")));
}

async function watchCheck(
  child: ChildProcess,
  tree: Tree,
  timeoutMs: number,
  signal: AbortSignal,
  killGraceMs: number,
): Promise<CheckEvidence> {
  let tail = Buffer.alloc(0);
  child.stdout?.on("data", (chunk: Buffer) => {
    const all = Buffer.concat([tail, chunk]);
    tail = all.subarray(Math.max(0, all.length - TAIL_BYTES));
  });
  child.stdout?.on("error", () => {});
  const closed = new Promise<void>((done) => child.once("close", () => done()));
  const first = await firstOf(child, timeoutMs, signal);
  if (first.kind === "error") return notStarted(first.error);
  if (tree.group !== null) await stopTree(tree, killGraceMs);
  // No process holds the pipe now, so it closes once its content was read. Without /proc, a process that left the
  // group may still hold the pipe: do not wait for that process.
  const patience = setTimeout(() => child.stdout?.destroy(), 1_000);
  await closed;
  clearTimeout(patience);
  const exitCode = first.kind === "exit" ? first.code : null;
  return { exitCode, timedOut: first.kind === "timeout", tail: readTail(tail) };
}

type First =
  | { readonly kind: "exit"; readonly code: number | null }
  | { readonly kind: "error"; readonly error: Error }
  | { readonly kind: "timeout" }
  | { readonly kind: "aborted" };

function firstOf(child: ChildProcess, timeoutMs: number, signal: AbortSignal): Promise<First> {
  return new Promise((done) => {
    const settle = (first: First): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      done(first);
    };
    const onAbort = (): void => settle({ kind: "aborted" });
    const timer = setTimeout(() => settle({ kind: "timeout" }), Math.min(timeoutMs, LONGEST_TIMER_MS));
    signal.addEventListener("abort", onAbort);
    child.once("error", (error) => settle({ kind: "error", error }));
    child.once("exit", (code) => settle({ kind: "exit", code }));
  });
}

function readTail(tail: Buffer): string {
  let from = 0;
  // do not start in the middle of a character
  while (tail.length === TAIL_BYTES && from < 4 && ((tail[from] ?? 0) & 0xc0) === 0x80) from++;
  return tail.toString("utf8", from);
}

function notStarted(error: unknown): CheckEvidence {
  const tail = `the check could not be started: ${error instanceof Error ? error.message : error}`;
  return { exitCode: null, timedOut: false, tail };
}
