/**
 * Runs an agent that is a process of its own, so that neither the death of the runner nor a second runner can
 * make a turn run twice or lose its result. Owns a turn from its start, or from its recovery, to its end; what
 * has to outlive the runner is in files (run-folder.ts, ticket.ts). Must not remember anything between turns.
 *
 * 1. A turn starts at most once per token (ticket.ts), and not at all once its time is over.
 * 2. "never" is answered only where a recovery has the ticket; what cannot be read is "lost".
 * 3. A turn that ended or was stopped leaves no process of its group; a stopped one none that it started.
 * 4. Nothing here throws for what an agent, the disk or the system does.
 */
import type { ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { ABANDONED, type Agent, type Turn, type TurnControl, type TurnEnd, type TurnFate } from "../ports.ts";
import { isAlive, procStart } from "../system/process.ts";
import { stopTree, type Tree } from "../system/process-tree.ts";
import { describeError, type Finished } from "./reasons.ts";
import { openFolder, prepareFolder, pruneRuns, readOutput } from "./run-folder.ts";
import { describeStop, firstStop, type Stop } from "./stop.ts";
import { describeRefusal, readExit, settleTicket, type Ticket } from "./ticket.ts";
import { exitOf, NO_TICKET, spawnTurn, straysOf, treeOf } from "./turn-process.ts";

export interface LaunchOptions {
  readonly now?: () => number;
  /** The runner's environment, which the agent gets too. */
  readonly env?: NodeJS.ProcessEnv;
  readonly shell?: string;
  /** Between SIGTERM and SIGKILL. */
  readonly killGraceMs?: number;
  /** Of answer.txt and of stderr.txt each; more ends the turn. */
  readonly maxOutputBytes?: number;
  readonly sizeCheckMs?: number;
  /** How many run folders of a task are kept. */
  readonly keepRuns?: number;
}

export interface LaunchSpec extends LaunchOptions {
  readonly projectDir: string;
  readonly argv: readonly [string, ...string[]];
  /** How much of the end of what it printed is read. */
  readonly answerCapBytes?: number;
  readonly readEnd: (finished: Finished) => TurnEnd;
}

export const ANSWER_CAP_BYTES = 1024 * 1024;
const STDERR_CAP_BYTES = 64 * 1024;
const FOLLOW_MS = 250;
const NO_EXIT_CODE = "the agent's process ended without an exit code";

type Settings = Required<LaunchSpec>;

/** An attempt that is under way, here or taken over from another runner. */
interface Attempt {
  readonly folder: string;
  readonly tree: Tree;
  /** Of the wrapper. */
  readonly pid: number;
  readonly startedAt: number;
  /** The wrapper's exit code, null where only the exit file can say it. */
  readonly exited: Promise<number | Error | null>;
}

/** `run` and `reconcile` of an agent that is started as `argv` with the prompt on its stdin. */
export function createLauncher(spec: LaunchSpec): Pick<Agent, "run" | "reconcile"> {
  const settings: Settings = {
    now: Date.now,
    env: process.env,
    shell: "/bin/sh",
    killGraceMs: 3_000,
    maxOutputBytes: 64 * 1024 * 1024,
    sizeCheckMs: 1_000,
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
  if (control.signal.aborted) return { kind: "cancelled" };
  // A runner that was frozen since it intended the turn must not start it now.
  if (startedAt >= turn.deadlineAt) return failed("its time was over before it could start");
  let folder: string;
  let child: ChildProcess;
  try {
    folder = prepareFolder(settings.projectDir, turn);
  } catch (error) {
    return failed(`the run folder could not be prepared: ${describeError(error)}`);
  }
  try {
    child = spawnTurn(settings, turn, folder);
  } catch (error) {
    return notStarted(error);
  }
  const exited = exitOf(child);
  const { pid } = child;
  if (pid === undefined) return notStarted(await exited);
  const tree = treeOf(settings.projectDir, turn, pid);
  try {
    control.onStarted({ pid, start: procStart(pid) });
  } catch (error) {
    await stopTree(tree, settings.killGraceMs);
    throw error;
  }
  const end = await finishTurn(settings, turn, control.signal, { folder, tree, pid, startedAt, exited });
  // what cannot be killed must not keep the runner
  child.unref();
  return end;
}

async function reconcileTurn(settings: Settings, turn: Turn, control: TurnControl): Promise<TurnFate> {
  let folder: string;
  let ticket: Ticket;
  try {
    folder = openFolder(settings.projectDir, turn);
    ticket = await settleTicket(folder, turn.token);
  } catch (error) {
    return { kind: "lost", reason: `its run folder could not be read: ${describeError(error)}` };
  }
  if (ticket.kind === "void") return { kind: "never" };
  if (ticket.kind === "torn") return { kind: "lost", reason: ticket.reason };
  const { process } = ticket;
  // The group of a wrapper that is gone may belong to somebody else by now: then only the marks tell.
  const tree = treeOf(settings.projectDir, turn, isAlive(process) ? process.pid : null);
  if (readExit(folder, turn.token) === null && tree.group !== null) {
    const end = followTurn(settings, turn, control.signal, folder, ticket, tree);
    return { kind: "running", process, end };
  }
  // read again: it may have ended between the two looks
  const code = readExit(folder, turn.token);
  await stopTree(straysOf(tree, process.pid), settings.killGraceMs);
  if (code === null) return { kind: "lost", reason: NO_EXIT_CODE };
  const end = endOf(settings, folder, code);
  pruneRuns(folder, settings.keepRuns);
  return { kind: "ended", end };
}

/** Another runner's child sends no event: this is the one place that polls. */
async function followTurn(
  settings: Settings,
  turn: Turn,
  signal: AbortSignal,
  folder: string,
  { process, at }: Ticket & { kind: "taken" },
  tree: Tree,
): Promise<TurnEnd> {
  let poll: NodeJS.Timeout | undefined;
  const exited = new Promise<null>((done) => {
    poll = setInterval(() => {
      if (readExit(folder, turn.token) !== null || !isAlive(process)) done(null);
    }, FOLLOW_MS);
  });
  try {
    const attempt = { folder, tree, pid: process.pid, startedAt: at, exited };
    return await finishTurn(settings, turn, signal, attempt);
  } finally {
    clearInterval(poll);
  }
}

/** Waits for the end of an attempt, or brings it about, and clears up. */
async function finishTurn(
  settings: Settings,
  turn: Turn,
  signal: AbortSignal,
  { folder, tree, pid, startedAt, exited }: Attempt,
): Promise<TurnEnd> {
  const stop = await firstStop(settings, turn.deadlineAt, signal, folder, exited);
  if (stop?.kind === "aborted" && signal.reason === ABANDONED) return { kind: "cancelled" };
  await stopTree(stop === null ? straysOf(tree, pid) : tree, settings.killGraceMs);
  let end: TurnEnd;
  if (stop !== null) end = stoppedEnd(settings, folder, stop, turn.deadlineAt - startedAt);
  else {
    const exit = await exited;
    const refusal = exit === NO_TICKET ? describeRefusal(folder, turn.token, pid) : null;
    const code = readExit(folder, turn.token) ?? exit;
    end = refusal === null ? endOf(settings, folder, code) : failed(refusal);
  }
  pruneRuns(folder, settings.keepRuns);
  return end;
}

function stoppedEnd(settings: Settings, folder: string, stop: Stop, allowedMs: number): TurnEnd {
  if (stop.kind === "aborted") return { kind: "cancelled" };
  const answer = readOutput(folder, "answer.txt", settings.answerCapBytes) ?? "";
  const soFar = settings.readEnd({ exitCode: 0, answer, stderr: "" });
  const reason = describeStop(stop, settings, allowedMs);
  if (soFar.kind === "cancelled") return failed(reason);
  return { kind: "failed", reason, answer: soFar.answer, usage: soFar.usage };
}

function endOf(settings: Settings, folder: string, code: number | Error | null): TurnEnd {
  if (code === null) return failed(NO_EXIT_CODE);
  if (code instanceof Error) return notStarted(code);
  const answer = readOutput(folder, "answer.txt", settings.answerCapBytes);
  if (answer === null) return failed("the run folder was deleted or changed while the agent ran");
  const stderr = readOutput(folder, "stderr.txt", STDERR_CAP_BYTES) ?? "";
  return settings.readEnd({ exitCode: code, answer, stderr });
}

function notStarted(error: unknown): TurnEnd {
  return failed(`the agent could not be started: ${describeError(error)}`);
}

function failed(reason: string): TurnEnd {
  return { kind: "failed", reason, answer: "", usage: null };
}
