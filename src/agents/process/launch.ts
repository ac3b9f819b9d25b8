/**
 * Runs an agent as a process, so that a dead runner or a second runner neither repeats a turn nor loses its result.
 * Owns a turn from its start or recovery to its end. Data that must outlive the runner is in files (run-folder.ts,
 * ticket.ts). Keeps nothing between turns.
 *
 * 1. A turn starts at most once per token (ticket.ts), and never after its deadline.
 * 2. "never" is answered only when a recovery holds the ticket. Unreadable files mean "lost".
 * 3. A turn that ended or was stopped leaves no process that it started (J3).
 * 4. Nothing here throws because of an agent, the disk or the system.
 * 5. Streamed lines are for people. The end of a turn is read from its files.
 */
import type { ChildProcess } from "node:child_process";
import { join, resolve } from "node:path";
import {
  ABANDONED,
  type Agent,
  type AgentEvent,
  type Turn,
  type TurnControl,
  type TurnEnd,
  type TurnFate,
} from "../../ports/agent.ts";
import { lookAt } from "../../system/files.ts";
import { isAlive, procStart } from "../../system/process.ts";
import { stopTree, type Tree } from "../../system/process-tree.ts";
import { sealingOf } from "../../system/seal.ts";
import { takeOutput } from "./mask-output.ts";
import { describeError, type Finished, failedEnd, makeFailure, refusedEnd } from "./reasons.ts";
import { cutOutputs, openFolder, prepareFolder, pruneRuns } from "./run-folder.ts";
import { describeStop, firstStop, type Stop } from "./stop.ts";
import { type Tail, tailLines } from "./tail.ts";
import { describeRefusal, readExit, settleTicket, type Ticket } from "./ticket.ts";
import { exitOf, leftOf, NO_TICKET, spawnTurn, treeOf } from "./turn-process.ts";

export interface LaunchOptions {
  readonly now?: () => number;
  readonly env?: NodeJS.ProcessEnv;
  readonly shell?: string;
  /** Time between SIGTERM and SIGKILL. */
  readonly killGraceMs?: number;
  /** Limit for answer.txt and for stderr.txt. A larger file ends the turn at once and is cut. */
  readonly maxOutputBytes?: number;
  readonly sizeCheckMs?: number;
  /** How many run folders of a loop are kept. */
  readonly keepRuns?: number;
}

export interface LaunchSpec extends LaunchOptions {
  readonly projectDir: string;
  readonly argv: (turn: Turn) => readonly [string, ...string[]];
  /** How much of the end of the output is read. */
  readonly answerCapBytes?: number;
  /** How its output is read: the name of a row in `activity/formats.ts`. */
  readonly format: string;
  readonly readEnd: (finished: Finished, turn: Turn) => TurnEnd;
  /** Reads the events in the lines of one turn, for a person who watches. */
  readonly openLines: () => (line: string) => readonly AgentEvent[];
}

export const ANSWER_CAP_BYTES = 1024 * 1024;
const STDERR_CAP_BYTES = 64 * 1024;
const FOLLOW_MS = 250;
const NO_EXIT_CODE = "the agent's process ended without an exit code";
const NOT_STARTED = "the agent could not be started";

type Settings = Required<LaunchSpec>;

interface Attempt {
  readonly folder: string;
  readonly tree: Tree;
  readonly pid: number;
  readonly startedAt: number;
  /** The wrapper's exit code; null: only the exit file has it. */
  readonly exited: Promise<number | Error | null>;
  readonly tail: Tail | null;
}

/** `run` and `reconcile` of an agent that is started with `argv` and gets the prompt on stdin. */
export function createLauncher(spec: LaunchSpec): Pick<Agent, "run" | "reconcile"> {
  const settings: Settings = {
    now: Date.now,
    env: process.env,
    shell: "/bin/sh",
    killGraceMs: 3_000,
    maxOutputBytes: 64 * 1024 * 1024,
    sizeCheckMs: 100,
    keepRuns: 20,
    answerCapBytes: ANSWER_CAP_BYTES,
    ...spec,
    projectDir: resolve(spec.projectDir),
  };
  return {
    run: (turn, control) => runTurn(settings, turn, control),
    reconcile: (turn, control) => reconcileTurn(settings, turn, control),
  };
}

async function runTurn(settings: Settings, turn: Turn, control: TurnControl): Promise<TurnEnd> {
  const startedAt = settings.now();
  const folder = prepareTurn(settings.projectDir, turn, settings.format, startedAt, control.signal);
  if (typeof folder !== "string") return folder;
  let child: ChildProcess;
  // from an earlier attempt; the wrapper creates the file again
  const { mtimeMs } = lookAt(join(folder, "answer.txt"));
  const since = performance.now();
  try {
    child = spawnTurn(settings, turn, folder);
  } catch (error) {
    return refusedEnd(NOT_STARTED, error);
  }
  const exited = exitOf(child);
  const { pid } = child;
  if (pid === undefined) return refusedEnd(NOT_STARTED, await exited);
  const tree = { ...treeOf(settings.projectDir, turn, pid), since };
  try {
    control.onStarted({ pid, start: procStart(pid), foundBy: sealingOf(settings.shell).foundBy });
  } catch (error) {
    await stopTree(tree, settings.killGraceMs);
    throw error;
  }
  const tail = watchAnswer(settings, control, folder, mtimeMs);
  // now, while this process only waits
  if (Number.isFinite(settings.keepRuns)) pruneRuns(folder, settings.keepRuns);
  const attempt = { folder, tree, pid, startedAt, exited, tail };
  const end = await finishTurn(settings, turn, control.signal, attempt);
  // a process that cannot be killed must not keep the runner alive
  child.unref();
  return end;
}

/** The folder of a turn that may start now, or the end of a turn that must not start. */
export function prepareTurn(
  projectDir: string,
  turn: Turn,
  format: string,
  now: number,
  signal: AbortSignal,
): string | TurnEnd {
  if (signal.aborted) return { kind: "cancelled" };
  // the runner may have been frozen since it decided to start the turn
  if (now >= turn.deadlineAt) return failedEnd("timeout", "the deadline passed before the turn could start");
  try {
    return prepareFolder(projectDir, turn, format);
  } catch (error) {
    return refusedEnd("the run folder could not be prepared", error);
  }
}

/** Settles the ticket of another runner's turn. A `TurnFate`: it never started, or nobody can know. */
export async function findStarted(projectDir: string, turn: Turn): Promise<StartedTurn | TurnFate> {
  try {
    const folder = openFolder(projectDir, turn);
    const ticket = await settleTicket(folder, turn.token);
    if (ticket.kind === "taken") return { kind: "started", folder, ticket };
    return ticket.kind === "void" ? { kind: "never" } : { kind: "lost", reason: ticket.reason };
  } catch (error) {
    return { kind: "lost", reason: `the run folder could not be read: ${describeError(error)}` };
  }
}

interface StartedTurn {
  readonly kind: "started";
  readonly folder: string;
  readonly ticket: TakenTicket;
}

type TakenTicket = Extract<Ticket, { kind: "taken" }>;

async function reconcileTurn(settings: Settings, turn: Turn, control: TurnControl): Promise<TurnFate> {
  const started = await findStarted(settings.projectDir, turn);
  if (started.kind !== "started") return started;
  const { folder, ticket } = started;
  const { process } = ticket;
  // Without the wrapper, the group may belong to someone else. Then only the marks identify the processes.
  const tree = treeOf(settings.projectDir, turn, isAlive(process) ? process.pid : null);
  if (readExit(folder, turn.token) === null && tree.group !== null) {
    const end = followTurn(settings, turn, control, folder, ticket, tree);
    return { kind: "running", process, end };
  }
  // read again: the turn may have ended meanwhile
  const code = readExit(folder, turn.token);
  await stopTree(leftOf(tree, process.pid), settings.killGraceMs);
  const end = endOf(settings, turn, folder, code);
  return code === null ? { kind: "lost", reason: NO_EXIT_CODE } : { kind: "ended", end };
}

/** Polls, because the child of another runner sends no event here. */
async function followTurn(
  settings: Settings,
  turn: Turn,
  control: TurnControl,
  folder: string,
  { process, at }: TakenTicket,
  tree: Tree,
): Promise<TurnEnd> {
  let poll: NodeJS.Timeout | undefined;
  const exited = new Promise<null>((done) => {
    poll = setInterval(() => {
      if (readExit(folder, turn.token) !== null || !isAlive(process)) done(null);
    }, FOLLOW_MS);
  });
  const tail = watchAnswer(settings, control, folder, null);
  try {
    const attempt = { folder, tree, pid: process.pid, startedAt: at, exited, tail };
    return await finishTurn(settings, turn, control.signal, attempt);
  } finally {
    clearInterval(poll);
  }
}

/** Waits for the end of an attempt, or stops it, and cleans up. */
async function finishTurn(
  settings: Settings,
  turn: Turn,
  signal: AbortSignal,
  { folder, tree, pid, startedAt, exited, tail }: Attempt,
): Promise<TurnEnd> {
  const stop = await firstStop(settings, turn.deadlineAt, signal, folder, exited);
  if (stop?.kind === "aborted" && signal.reason === ABANDONED) {
    tail?.drop();
    return { kind: "cancelled" };
  }
  // a flood fills the disk while it is asked to end
  const graceMs = stop?.kind === "flood" ? 0 : settings.killGraceMs;
  await stopTree(stop === null ? leftOf(tree, pid) : tree, graceMs);
  if (stop?.kind === "flood") cutOutputs(folder, settings.maxOutputBytes);
  tail?.finish();
  if (stop !== null) return stoppedEnd(settings, turn, folder, stop, turn.deadlineAt - startedAt);
  const exit = await exited;
  const refusal = exit === NO_TICKET ? describeRefusal(folder, turn.token, pid) : null;
  if (refusal !== null) return failedEnd("fault", refusal);
  return endOf(settings, turn, folder, readExit(folder, turn.token) ?? exit);
}

function watchAnswer(
  settings: Settings,
  { onEvent }: TurnControl,
  folder: string,
  oldMs: number | null,
): Tail | null {
  if (onEvent === undefined) return null;
  const readLine = settings.openLines();
  return tailLines(join(folder, "answer.txt"), oldMs, (line) => {
    for (const event of readLine(line)) onEvent(event);
  });
}

function stoppedEnd(settings: Settings, turn: Turn, folder: string, stop: Stop, allowedMs: number): TurnEnd {
  const answer = takeOutput(folder, "answer.txt", settings.answerCapBytes) ?? "";
  takeOutput(folder, "stderr.txt", STDERR_CAP_BYTES);
  const soFar = settings.readEnd({ exitCode: 0, answer, stderr: "" }, turn);
  if (stop.kind === "aborted")
    return { kind: "cancelled", ...(soFar.conversation == null ? {} : { conversation: soFar.conversation }) };
  const type = stop.kind === "deadline" ? "timeout" : "fault";
  const reason = describeStop(stop, settings, allowedMs);
  if (soFar.kind === "cancelled") return failedEnd(type, reason);
  return { ...soFar, kind: "failed", failure: makeFailure(type, reason) };
}

function endOf(settings: Settings, turn: Turn, folder: string, code: number | Error | null): TurnEnd {
  if (code instanceof Error) return refusedEnd(NOT_STARTED, code);
  const answer = takeOutput(folder, "answer.txt", settings.answerCapBytes);
  const stderr = takeOutput(folder, "stderr.txt", STDERR_CAP_BYTES) ?? "";
  if (code === null) return failedEnd("fault", NO_EXIT_CODE);
  if (answer === null) return failedEnd("fault", "the run folder was deleted or changed while the agent ran");
  return settings.readEnd({ exitCode: code, answer, stderr }, turn);
}
