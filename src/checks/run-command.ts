import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { maskTail } from "../core/secrets/mask.ts";
import type { CheckEvidence, Checker } from "../ports/checks.ts";
import { stopTree, type Tree } from "../system/process-tree.ts";
import { sealingOf, sealOf } from "../system/seal.ts";
import { currentMask } from "../system/secrets.ts";

export interface CommandCheckerOptions {
  readonly shell?: string;
  readonly killGraceMs?: number;
}

const TAIL_BYTES = 8 * 1024;
/** Kept before the tail, so that a secret across its beginning is recognised. Longer than any secret. */
const MARGIN_BYTES = 64 * 1024;
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
  const kept = createKept();
  child.stdout?.on("data", kept.add);
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
  return { exitCode, timedOut: first.kind === "timeout", tail: readTail(kept.bytes()) };
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

/** The end of an output, with the margin. Joined only when it has doubled: a chunk may be one short line. */
function createKept() {
  const most = TAIL_BYTES + MARGIN_BYTES;
  let chunks: Buffer[] = [];
  let length = 0;
  const join = () => {
    const all = Buffer.concat(chunks);
    chunks = [all.subarray(Math.max(0, all.length - most))];
    length = chunks[0]?.length ?? 0;
  };
  return {
    add(chunk: Buffer): void {
      chunks.push(chunk);
      length += chunk.length;
      if (length > 2 * most) join();
    },
    bytes(): Buffer {
      join();
      return chunks[0] ?? Buffer.alloc(0);
    },
  };
}

function readTail(kept: Buffer): string {
  const first = Math.max(0, kept.length - TAIL_BYTES);
  let from = first;
  // do not start in the middle of a character
  while (first > 0 && from < first + 4 && ((kept[from] ?? 0) & 0xc0) === 0x80) from++;
  return maskTail(currentMask(), kept.toString("utf8"), kept.toString("utf8", from).length);
}

function notStarted(error: unknown): CheckEvidence {
  const tail = `the check could not be started: ${error instanceof Error ? error.message : error}`;
  return { exitCode: null, timedOut: false, tail };
}
