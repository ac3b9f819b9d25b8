/**
 * `loop statusline`, for the `statusLine` setting of Claude Code: reads what the client knows on stdin, prints one line
 * or nothing. A bundle of its own, because the client starts it all the time. It never fails and never complains:
 * what it would say would stand where the line stands.
 */
import { fstatSync, lstatSync, readSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { renderStatusLine } from "../../core/text/status-line.ts";
import type { Progress } from "../../core/views/progress.ts";
import { readProgress } from "../../store/files/progress-file.ts";
import { holderState } from "../../store/folder/lease-file.ts";
import { keepSessionCost } from "../../store/ledger/session-cost.ts";
import { isInside } from "../../system/inside.ts";
import { writeNow } from "../io.ts";

/** As it is typed in Claude Code, in full. */
const COMMAND_NAME = "/loopwright:loop";
/** The client's own frame around the line. */
const MARGIN_COLUMNS = 4;
const DEFAULT_COLUMNS = 120;
const MAX_INPUT_BYTES = 1024 * 1024;
const INPUT_WAIT_MS = 1_000;
const INPUT_LOOK_MS = 5;

/** What is used of the client's JSON; null for whatever is missing or odd. */
interface Payload {
  readonly session: string | null;
  readonly project: string | null;
  readonly costUsd: number | null;
}

function main(): void {
  try {
    const { session, project, costUsd } = parsePayload(readInput());
    const dir = findLoopDir(project ?? process.cwd());
    if (dir === null) return;
    if (session !== null && costUsd !== null) attempt(() => keepSessionCost(dir, session, costUsd));
    const progress = readProgress(dir);
    if (progress === null) return;
    const now = Date.now();
    const line = renderStatusLine(withLiveHolder(dir, progress, now), {
      ...(session === null ? {} : { session, commandName: COMMAND_NAME }),
      now,
      columns: columnsFrom(process.env.COLUMNS),
    });
    if (line !== "") writeNow(1, `${line}\n`);
  } catch {
    // no line is the answer
  }
}

/**
 * All of stdin, or what came in time. Not `readFileSync(0)`: some clients give their children a pipe that does not
 * wait, and then a read before the first byte fails.
 */
function readInput(): string {
  if (isTerminal()) return "";
  const chunks: Buffer[] = [];
  const buffer = Buffer.allocUnsafe(64 * 1024);
  for (let bytes = 0, waitedMs = 0; bytes < MAX_INPUT_BYTES && waitedMs < INPUT_WAIT_MS; ) {
    try {
      const count = readSync(0, buffer);
      if (count === 0) break;
      chunks.push(Buffer.from(buffer.subarray(0, count)));
      bytes += count;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, INPUT_LOOK_MS);
      waitedMs += INPUT_LOOK_MS;
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Nobody types JSON. What Node has for terminals is loaded only where it may be one. */
function isTerminal(): boolean {
  return fstatSync(0).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(0);
}

function parsePayload(text: string): Payload {
  const payload = asObject(parseJson(text));
  const project = asObject(payload.workspace).project_dir ?? payload.cwd;
  const cost = asObject(payload.cost).total_cost_usd;
  return {
    session: typeof payload.session_id === "string" && payload.session_id !== "" ? payload.session_id : null,
    project: typeof project === "string" && isAbsolute(project) ? project : null,
    costUsd: typeof cost === "number" ? cost : null,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Of this very folder: a `.loop` further up belongs to somebody else. A link is followed only inside the project. */
function findLoopDir(project: string): string | null {
  const dir = join(project, ".loop");
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isDirectory() || (stat.isSymbolicLink() && isInside(project, dir)) ? dir : null;
}

/** The file tells who held the lease when something last changed; whether that one is still there only the system. */
function withLiveHolder(dir: string, progress: Progress, now: number): Progress {
  const { lease } = progress;
  return lease === null || holderState(dir, lease, now) === "alive" ? progress : { ...progress, lease: null };
}

/** A cost that cannot be kept is no reason to show nothing. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // the next update tells it again
  }
}

function columnsFrom(text: string | undefined): number {
  const columns = /^\d{1,4}$/.test(text ?? "") ? Number(text) : 0;
  return columns > MARGIN_COLUMNS ? columns - MARGIN_COLUMNS : DEFAULT_COLUMNS;
}

main();
