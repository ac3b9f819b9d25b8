/** Any agent that speaks the Agent Client Protocol: one process takes several prompts and stays warm between them. */
import { resolve } from "node:path";
import {
  ABANDONED,
  type Agent,
  type ToolServer,
  type Turn,
  type TurnControl,
  type TurnEnd,
  type TurnFate,
} from "../../ports/agent.ts";
import { isAlive } from "../../system/process.ts";
import { stopTree } from "../../system/process-tree.ts";
import { findStarted, type LaunchOptions, prepareTurn } from "../process/launch.ts";
import { makeFailure } from "../process/reasons.ts";
import { promptFile, pruneRuns, runFolder } from "../process/run-folder.ts";
import { describeStop, firstStop, type StopLimits } from "../process/stop.ts";
import { type AttemptSettings, TurnAttempt } from "./attempt.ts";
import { openPeer } from "./connection/peer.ts";
import { markedTree } from "./connection/peer-process.ts";
import { createPool, type Pool, staysWarm } from "./connection/pool.ts";
import { readExportedStatus, readKeptError } from "./failures/recorded-errors.ts";
import type { AcpProfile } from "./profiles.ts";
import { readEnd, readMarks } from "./turn-files.ts";

export interface AcpAgentOptions
  extends LaunchOptions,
    Partial<Pick<AttemptSettings, "permissions" | "startMs" | "silenceMs" | "cancelGraceMs">> {
  readonly profile: AcpProfile;
  /** `executable`: an absolute path (see `findProgram`). `command`: a line for `sh -c` from the person. */
  readonly program: { readonly executable: string } | { readonly command: string };
  readonly projectDir: string;
  readonly toolServer?: ToolServer;
  /** How long an agent stays without a turn, and how many agents may stay. */
  readonly idleMs?: number;
  readonly maxWarm?: number;
}

type Settings = AttemptSettings & StopLimits & Required<Pick<LaunchOptions, "keepRuns">>;

const LOST = "the connection to the agent ended together with its runner";

export function createAcpAgent(options: AcpAgentOptions): Agent & { close(): Promise<void> } {
  const { profile, program, env = process.env, shell = "/bin/sh" } = options;
  const projectDir = resolve(options.projectDir);
  const line: readonly [string, ...string[]] =
    "executable" in program ? [program.executable, ...profile.args] : [shell, "-c", program.command];
  const settings: Settings = {
    now: Date.now,
    killGraceMs: 500,
    maxOutputBytes: 64 * 1024 * 1024,
    sizeCheckMs: 60_000,
    keepRuns: 20,
    permissions: {},
    startMs: 90_000,
    answerMs: 30_000,
    silenceMs: 5 * 60_000,
    cancelGraceMs: 400,
    ...options,
    toolServer: options.toolServer ?? null,
    projectDir,
    env,
    async readCause(sessionId, words) {
      // the id comes from the agent and must not name another folder
      const path = /^[\w-]+$/.test(sessionId) ? profile.eventsFile?.(sessionId, env) : undefined;
      return path === undefined ? null : readKeptError(path, words.slice(profile.errorMark?.length ?? 0));
    },
    async readStatus(sessionId, signal) {
      const args = profile.exportArgs?.(sessionId);
      if (args === undefined || !("executable" in program)) return null;
      const argv = [program.executable, ...args] as const;
      const all = { ...env, ...profile.env };
      return readExportedStatus({ argv, cwd: projectDir, env: all, ownTmpDir: profile.ownTmpDir, signal });
    },
  };
  const pool = createPool({
    idleMs: options.idleMs ?? 5 * 60_000,
    maxWarm: options.maxWarm ?? 2,
    open: (turn, signal) =>
      openPeer(
        {
          argv: line,
          projectDir,
          env,
          extra: { ...profile.env, ...environmentOf(turn, projectDir) },
          shell,
          ownTmpDir: profile.ownTmpDir,
          killGraceMs: settings.killGraceMs,
        },
        { maxLineBytes: settings.maxOutputBytes, startMs: settings.startMs },
        signal,
      ),
  });
  return {
    name: profile.name,
    run: (turn, control) => runTurn(settings, pool, turn, control),
    reconcile: (turn) => reconcileTurn(settings, turn),
    close: pool.close,
  };
}

/** Variables that change with each turn are only for a process that ends with its turn. */
function environmentOf(turn: Turn, projectDir: string): Readonly<Record<string, string>> {
  const names = { LOOP_ID: turn.loopId, LOOP_FIRE_ID: turn.id };
  if (staysWarm(turn)) return names;
  return { ...turn.env, ...names, LOOP_PROMPT_FILE: promptFile(runFolder(projectDir, turn)) };
}

async function runTurn(settings: Settings, pool: Pool, turn: Turn, control: TurnControl): Promise<TurnEnd> {
  const { signal } = control;
  const startedAt = settings.now();
  const folder = prepareTurn(settings.projectDir, turn, "acp", startedAt, signal);
  if (typeof folder !== "string") return folder;
  const attempt = new TurnAttempt(settings, pool, turn, control, folder);
  // after the prompt was sent, while this process only waits
  if (Number.isFinite(settings.keepRuns)) setImmediate(() => pruneRuns(folder, settings.keepRuns));
  const over = attempt.end.catch(() => null);
  const stop = await firstStop(settings, turn.deadlineAt, signal, folder, over);
  if (stop === null) return attempt.end;
  if (stop.kind !== "aborted")
    return attempt.stop(makeFailure("timeout", describeStop(stop, settings, turn.deadlineAt - startedAt)));
  if (signal.reason !== ABANDONED) return attempt.stop(null);
  attempt.abandon();
  return { kind: "cancelled" };
}

/** This runner cannot follow the turn: the agent sends its messages to the runner that started it. */
async function reconcileTurn(settings: Settings, turn: Turn): Promise<TurnFate> {
  const started = await findStarted(settings.projectDir, turn);
  if (started.kind !== "started") return started;
  const { folder, ticket } = started;
  const ended = readEnd(folder, turn.token);
  if (ended !== null) return { kind: "ended", end: ended };
  const { process } = ticket;
  const group = isAlive(process) ? process.pid : null;
  await stopTree(markedTree(group, readMarks(folder, turn.token)), settings.killGraceMs);
  // read again: the turn may have ended meanwhile
  const end = readEnd(folder, turn.token);
  return end === null ? { kind: "lost", reason: LOST } : { kind: "ended", end };
}
