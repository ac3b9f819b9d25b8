/** The common part of agents that run one process per turn and print JSON events (codex, gemini, opencode, pi). */
import { resolve } from "node:path";
import type { Usage } from "../../core/event.ts";
import type { Failure } from "../../core/goal/goal.ts";
import type { PermissionRules } from "../../core/permissions.ts";
import type { Activity, Agent, AgentEvent, Conversation, Turn, TurnEnd } from "../../ports/agent.ts";
import { ANSWER_CAP_BYTES, createLauncher, type LaunchOptions } from "../process/launch.ts";
import { lastBytes } from "../process/lines.ts";
import { describeExit, type Finished, makeFailure } from "../process/reasons.ts";
import { permissionsFor, type TurnPermissions } from "./stream-permissions.ts";

export interface StreamAgentOptions extends LaunchOptions {
  /** Absolute path, see `findProgram`. */
  readonly executable: string;
  readonly projectDir: string;
  readonly permissions?: PermissionRules;
}

export interface StreamReading {
  readonly answer: string;
  readonly usage: Usage | null;
  readonly conversation: Conversation | null;
  readonly activity: Activity;
  readonly failure: Failure | null;
  readonly isOver: boolean;
}

export interface StreamKind {
  readonly name: string;
  /** `permissions`: null when the person's own configuration of the agent applies. */
  readonly argv: (turn: Turn, permissions: TurnPermissions | null) => readonly [string, ...string[]];
  readonly read: (finished: Finished, turn: Turn, projectDir: string) => StreamReading;
  /** One line of the stream, for a person who watches. */
  readonly readLine: (line: string, projectDir: string) => readonly AgentEvent[];
  /** For a stream whose lines build on each other. Replaces `readLine`. */
  readonly openLines?: (projectDir: string) => (line: string) => readonly AgentEvent[];
  /** Is it the id of this agent's conversation? The id goes on the command line. */
  readonly owns: (conversationId: string) => boolean;
}

export function createStreamAgent(
  { executable: _, permissions, ...options }: StreamAgentOptions,
  kind: StreamKind,
): Agent {
  const folder = resolve(options.projectDir);
  const launcher = createLauncher({
    ...options,
    argv: (turn) => kind.argv(turn, permissionsFor(turn, permissions)),
    // events are whole lines and must not be cut
    answerCapBytes: 64 * 1024 * 1024,
    format: kind.name,
    readEnd: (finished, turn) => endOf(kind, finished, turn, kind.read(finished, turn, folder)),
    openLines: () => kind.openLines?.(folder) ?? ((line) => kind.readLine(line, folder)),
  });
  return {
    name: kind.name,
    run: (turn, control) => launcher.run(ownTurn(kind, turn), control),
    reconcile: (turn, control) => launcher.reconcile(ownTurn(kind, turn), control),
  };
}

/** A conversation of another agent means nothing here: the turn gets the full text. */
function ownTurn({ owns }: StreamKind, turn: Turn): Turn {
  if (turn.conversation === null || owns(turn.conversation.id)) return turn;
  return { ...turn, conversation: null, text: turn.textIfFresh ?? turn.text };
}

/** A success needs the exit code 0, an event for the end and a message. */
function endOf({ name }: StreamKind, finished: Finished, turn: Turn, reading: StreamReading): TurnEnd {
  const { isOver: _, failure: told, ...rest } = reading;
  const result = { ...rest, answer: lastBytes(rest.answer, ANSWER_CAP_BYTES) };
  const failure = told ?? failureOf(name, finished, turn, reading);
  return failure === null ? { kind: "ok", ...result } : { kind: "failed", failure, ...result };
}

/** For a turn whose stream reports no failure. */
function failureOf(name: string, finished: Finished, turn: Turn, reading: StreamReading): Failure | null {
  const { exitCode } = finished;
  const exit = describeExit({ ...finished, answer: "" });
  const isUnresumed = turn.conversation !== null && reading.conversation === null;
  // the agent ended before it resumed the conversation: a fresh one helps
  if (isUnresumed && exitCode !== 0 && exitCode <= 128) return makeFailure("overflow", `${name}: ${exit}`);
  if (exitCode !== 0) return makeFailure("fault", exit);
  if (!reading.isOver) return makeFailure("fault", `${name} ended without a result`);
  return reading.answer.trim() === "" ? makeFailure("fault", `${name} ended without an answer`) : null;
}
