import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { CheckEvidence, Checker } from "../ports/checks.ts";
import { stopTree, type Tree } from "../system/process-tree.ts";

export interface CommandCheckerOptions {
  readonly shell?: string;
  readonly killGraceMs?: number;
}

const TAIL_BYTES = 8 * 1024;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs checks with `sh -c` in the project. When a check is over, so is everything that it started. Nothing in the
 * environment of a check tells that it is one: a product that knows could behave for as long as it is looked at.
 */
export function createCommandChecker(projectDir: string, options: CommandCheckerOptions = {}): Checker {
  const cwd = resolve(projectDir);
  const killGraceMs = options.killGraceMs ?? 3_000;
  return {
    async run(command, timeoutMs, signal, mark = "") {
      if (signal.aborted) return evidence(null, false, "");
      const own = markOf(randomUUID());
      const since = performance.now();
      let child: ChildProcess;
      try {
        child = spawnCheck(command, cwd, mark === "" ? [own] : [own, markFor(cwd, mark)], options);
      } catch (error) {
        return notStarted(error);
      }
      const tree = { group: child.pid ?? null, marks: [own.join("=")], since };
      return watchCheck(child, tree, timeoutMs, signal, killGraceMs);
    },
    async sweep(mark) {
      // its group is not known any more, and may be somebody else's
      const marks = [markFor(cwd, mark).join("=")];
      if (mark !== "") await stopTree({ group: null, marks }, killGraceMs);
    },
  };
}

/** A variable by which processes are found again: its name and its value. */
type Mark = readonly [name: string, value: string];

/** The same in every process that asks, so that what a dead one left is found. */
function markFor(cwd: string, mark: string): Mark {
  return markOf(JSON.stringify([cwd, mark]));
}

function markOf(text: string): Mark {
  const hash = createHash("sha256").update(text).digest("hex");
  const letters = [...hash.slice(0, 8)].map((digit) => "BCDFGHKLMNPRSTVX"[Number.parseInt(digit, 16)]);
  return [letters.join(""), hash.slice(8, 40)];
}

function spawnCheck(
  command: string,
  cwd: string,
  marks: readonly Mark[],
  options: CommandCheckerOptions,
): ChildProcess {
  const shell = options.shell ?? "/bin/sh";
  // One pipe for both streams keeps their lines in order. A line of its own: it counts although the next is nonsense.
  return spawn(shell, ["-c", `exec 2>&1\n${command}`], {
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
  // Everybody who could hold the pipe is gone, so it closes, after what is still in it was read. On a system
  // without /proc a process may have left the group with the pipe: it is not waited for.
  const patience = setTimeout(() => child.stdout?.destroy(), 1_000);
  await closed;
  clearTimeout(patience);
  return evidence(first.kind === "exit" ? first.code : null, first.kind === "timeout", readTail(tail));
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
  // not in the middle of a character
  while (tail.length === TAIL_BYTES && from < 4 && ((tail[from] ?? 0) & 0xc0) === 0x80) from++;
  return tail.toString("utf8", from);
}

function notStarted(error: unknown): CheckEvidence {
  return evidence(
    null,
    false,
    `the check could not be started: ${error instanceof Error ? error.message : error}`,
  );
}

function evidence(exitCode: number | null, timedOut: boolean, tail: string): CheckEvidence {
  return { exitCode, timedOut, tail };
}
