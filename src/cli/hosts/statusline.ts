/**
 * `loop statusline`, for the `statusLine` setting of Claude Code: reads the client's JSON on stdin, prints one line or
 * nothing. It has its own bundle, because the client starts it often. It prints no errors: the client would show them.
 */
import { lstatSync, readSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { renderStatusLine } from "../../core/text/status-line.ts";
import type { Progress } from "../../core/views/progress.ts";
import { readProgress } from "../../store/files/progress-file.ts";
import { holderState } from "../../store/folder/lease-file.ts";
import { keepSessionCost } from "../../store/ledger/session-cost.ts";
import { isInside } from "../../system/inside.ts";
import { isTerminal, writeNow } from "../io.ts";

const COMMAND_NAME = "/loopwright:loop";
/** The client's frame around the line. */
const MARGIN_COLUMNS = 4;
const DEFAULT_COLUMNS = 120;
const MAX_INPUT_BYTES = 1024 * 1024;
const INPUT_WAIT_MS = 1_000;
const INPUT_LOOK_MS = 5;

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
    // print nothing
  }
}

/** stdin until its end or the time limit. `readFileSync(0)` fails on a non-blocking pipe, which some clients use. */
function readInput(): string {
  if (isTerminal(0)) return "";
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

/** The used part of the client's JSON; null: missing or invalid. */
function parsePayload(text: string) {
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

/** Only in this folder: a `.loop` further up belongs to another project. Follows a link only inside the project. */
function findLoopDir(project: string): string | null {
  const dir = join(project, ".loop");
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isDirectory() || (stat.isSymbolicLink() && isInside(project, dir)) ? dir : null;
}

/** Drops a lease whose process has ended: the file is as old as the last change. */
function withLiveHolder(dir: string, progress: Progress, now: number): Progress {
  const { lease } = progress;
  return lease === null || holderState(dir, lease, now) === "alive" ? progress : { ...progress, lease: null };
}

/** The line is shown even if the cost cannot be stored. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // the next update has the cost again
  }
}

function columnsFrom(text: string | undefined): number {
  const columns = /^\d{1,4}$/.test(text ?? "") ? Number(text) : 0;
  return columns > MARGIN_COLUMNS ? columns - MARGIN_COLUMNS : DEFAULT_COLUMNS;
}

main();
