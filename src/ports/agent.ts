/** What the engine needs of an agent, and what it gives one: turns, leave, and tools of its own. */
import type { Usage } from "../core/event.ts";
import type { Failure } from "../core/goal/goal.ts";
import type { LoopId, ProcessRef } from "../core/loop.ts";
import type { ToolKind } from "../core/permissions.ts";

/** A conversation of an agent's that can go on, and what the agent's own running total says it has cost. */
export interface Conversation {
  readonly id: string;
  readonly costUsd: number | null;
}

/** One prompt for an agent. `token` names the attempt: a turn is started at most once per token. */
export interface Turn {
  /** The fire or the job that it is for. */
  readonly id: string;
  /** Where several agents may have to take it: the name of this one's run folder. Left out: the id. */
  readonly run?: string;
  readonly loopId: LoopId;
  readonly token: number;
  readonly text: string;
  /** Absolute; the turn is stopped then. */
  readonly deadlineAt: number;
  /** More for the agent's environment: `LOOP_KIND` and the like. */
  readonly env: Readonly<Record<string, string>>;
  /** null: a fresh one. An agent that has no conversations takes every turn as a fresh one. */
  readonly conversation: Conversation | null;
  /** By name, for agents that can be told; left out: their own choice. */
  readonly model?: string;
  /** What it may cost, for agents that can be told. */
  readonly budgetUsd: number | null;
  /** Checks follow: all that it started ends with it, also what left its process group. */
  readonly leavesNothing?: boolean;
  /** Commands that the agent may run without asking: those of the checks. */
  readonly commands?: readonly string[];
  /** Instead of `text`, for an agent to which `conversation` means nothing: all that it has to know. */
  readonly textIfFresh?: string;
  /** JSON Schema of the last message, for agents that can be held to one. */
  readonly answerSchema?: object;
}

/** What an agent did in a turn, where it tells. */
export interface Activity {
  readonly toolCalls: number;
  /** How often each file was written to. */
  readonly edits: Readonly<Record<string, number>>;
  /** Files that it read, one or many times the same; left out: it does not tell. */
  readonly reads?: readonly string[];
  /** Tools that it was not allowed to use. */
  readonly denials: readonly string[];
}

interface TurnResult {
  /** The last message of the agent's. */
  readonly answer: string;
  readonly usage: Usage | null;
  readonly conversation: Conversation | null;
  readonly activity: Activity | null;
  /** Who took it, where that is not the agent that was asked. */
  readonly takenBy?: string;
  /** And why, for a person, one line. */
  readonly takenWhy?: string;
}

/** How a turn ended. `cancelled` only after the caller's signal. */
export type TurnEnd =
  | ({ readonly kind: "ok" } & TurnResult)
  /** The class comes from structured events or exit codes, never from prose. */
  | ({ readonly kind: "failed"; readonly failure: Failure } & TurnResult)
  /** Of a conversation that was begun, so that it can go on and its cost is not lost. */
  | { readonly kind: "cancelled"; readonly conversation?: Conversation };

/** What surfaces are shown while a turn runs. Nothing is decided on it: the end of the turn tells all of it again. */
export type AgentEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool"; readonly name: string; readonly detail: string }
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "permission"; readonly tool: string; readonly answer: "asked" | "denied" }
  /** Another agent of a chain takes the turn. */
  | { readonly type: "taken"; readonly by: string; readonly instead: string; readonly reason: string }
  | { readonly type: "failure"; readonly failure: Failure };

/** What became of a turn whose runner died. */
export type TurnFate =
  /** It never started and, from this answer on, never will. */
  | { readonly kind: "never" }
  | { readonly kind: "running"; readonly process: ProcessRef | null; readonly end: Promise<TurnEnd> }
  | { readonly kind: "ended"; readonly end: TurnEnd }
  | { readonly kind: "lost"; readonly reason: string };

/** A host that takes prompts. Must not throw for anything that an agent does. */
export interface Agent {
  readonly name: string;
  run(turn: Turn, control: TurnControl): Promise<TurnEnd>;
  /** For a turn that another process intended under `turn.token`. */
  reconcile(turn: Turn, control: TurnControl): Promise<TurnFate>;
  /** Ends what it kept warm between turns. Must not reject; a turn after it starts anew. */
  close?(): Promise<void>;
}

export interface TurnControl {
  /**
   * Stops the turn and everything it started. With `ABANDONED` as its reason nothing is stopped: another owner has
   * the turn now, and this process only lets go of it.
   */
  readonly signal: AbortSignal;
  /** Called at most once, when the agent's process exists. */
  readonly onStarted: (process: ProcessRef | null) => void;
  /** As it happens, for agents that stream. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Instead of `onEvent`, for who wants to know nothing but this: what a turn does need not be read for it. */
  readonly onTaken?: (event: Extract<AgentEvent, { type: "taken" }>) => void;
  /** Left out: nobody is there. Must not reject; the signal takes the question back. */
  readonly askPerson?: (request: PermissionRequest, signal: AbortSignal) => Promise<"allow" | "deny">;
}

export const ABANDONED = "abandoned";

/** What an agent wants to do and asks leave for. */
export interface PermissionRequest {
  readonly tool: ToolKind;
  /** For a person, one line. */
  readonly title: string;
  /** Absolute. */
  readonly paths: readonly string[];
  readonly command: string | null;
}

/** The engine's own tools (`loop_report`, `Wakeup`, …) for agents that take a server over HTTP. */
export interface ToolServer {
  /** For one conversation of an agent's. Rejects when no port can be had. */
  open(): Promise<ToolAccess>;
}

export interface ToolAccess {
  readonly url: string;
  /** Carries the token: without it nobody is answered. */
  readonly headers: Readonly<Record<string, string>>;
  /** Calls from now on are for this turn; null: between two turns, when every call is refused. */
  serve(turn: Turn | null): void;
  close(): void;
}
