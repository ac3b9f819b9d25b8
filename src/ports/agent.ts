/** The engine's view of an agent: the turns it runs, the permissions it asks for, the tools it gets. */
import type { Usage } from "../core/event.ts";
import type { Failure } from "../core/goal/goal.ts";
import type { LoopId, ProcessRef } from "../core/loop.ts";
import type { ToolKind } from "../core/permissions.ts";

/** A conversation that an agent can resume, and its cost so far as the agent counts it. */
export interface Conversation {
  readonly id: string;
  readonly costUsd: number | null;
}

/** One prompt for an agent. `token` names the attempt: an agent starts a turn at most once per token. */
export interface Turn {
  /** The id of the fire or the job. */
  readonly id: string;
  /** The name of the run folder, when several agents of a chain may take the turn. Default: the id. */
  readonly run?: string;
  readonly loopId: LoopId;
  readonly token: number;
  readonly text: string;
  /** Absolute time at which the turn is stopped. */
  readonly deadlineAt: number;
  /** Additional environment variables for the agent, such as `LOOP_KIND`. */
  readonly env: Readonly<Record<string, string>>;
  /** null: start a new conversation. An agent without conversations always starts a new one. */
  readonly conversation: Conversation | null;
  /** The name of the model, for agents that accept one. Default: the agent chooses. */
  readonly model?: string;
  /** The cost limit, for agents that accept one. */
  readonly budgetUsd: number | null;
  /** The commands of the checks: the agent may run these without asking. */
  readonly commands?: readonly string[];
  /** The complete prompt, for an agent that cannot resume `conversation`. It replaces `text`. */
  readonly textIfFresh?: string;
  /** JSON Schema of the last message, for agents that support one. */
  readonly answerSchema?: object;
}

/** What an agent reports about its turn. */
export interface Activity {
  readonly toolCalls: number;
  /** How often the agent wrote each file. */
  readonly edits: Readonly<Record<string, number>>;
  /** The files that the agent read; a file may appear more than once. Absent: the agent does not report reads. */
  readonly reads?: readonly string[];
  /** The tools that the agent had no permission to use. */
  readonly denials: readonly string[];
  /** The tools that the agent may use without asking again, because it offered no smaller permission. */
  readonly permanent?: readonly string[];
}

interface TurnResult {
  /** The agent's last message. */
  readonly answer: string;
  readonly usage: Usage | null;
  readonly conversation: Conversation | null;
  readonly activity: Activity | null;
  /** The agent that took the turn, when it is another one than the requested agent. */
  readonly takenBy?: string;
  /** Why that agent took it, as one line for a person. */
  readonly takenWhy?: string;
}

/** How a turn ended. `cancelled` only after the caller's signal. */
export type TurnEnd =
  | ({ readonly kind: "ok" } & TurnResult)
  /** The class of the failure comes from structured events or exit codes, never from prose. */
  | ({ readonly kind: "failed"; readonly failure: Failure } & TurnResult)
  /** The conversation is kept, so that it can be resumed and its cost is counted. */
  | { readonly kind: "cancelled"; readonly conversation?: Conversation };

/** What surfaces show while a turn runs. The engine decides nothing from it: the end of the turn repeats all of it. */
export type AgentEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool"; readonly name: string; readonly detail: string }
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "usage"; readonly usage: Usage }
  | {
      readonly type: "permission";
      readonly tool: string;
      readonly answer: "asked" | "denied" | "allowed for the whole conversation";
    }
  /** Another agent of the chain takes the turn. */
  | { readonly type: "taken"; readonly by: string; readonly instead: string; readonly reason: string }
  | { readonly type: "failure"; readonly failure: Failure }
  /** What the agent wants a person to know. It decides nothing. */
  | { readonly type: "notice"; readonly severity: "warning" | "error"; readonly text: string };

/** What happened to a turn whose runner died. */
export type TurnFate =
  /** The turn never started, and after this answer it never starts. */
  | { readonly kind: "never" }
  | { readonly kind: "running"; readonly process: ProcessRef | null; readonly end: Promise<TurnEnd> }
  | { readonly kind: "ended"; readonly end: TurnEnd }
  | { readonly kind: "lost"; readonly reason: string };

/** Runs prompts. Must not throw, whatever the agent does. */
export interface Agent {
  readonly name: string;
  /** Every process that the turn started ends with the turn, even outside its process group (J3). */
  run(turn: Turn, control: TurnControl): Promise<TurnEnd>;
  /** Finds out what happened to a turn that another process intended to start under `turn.token`. */
  reconcile(turn: Turn, control: TurnControl): Promise<TurnFate>;
  /** Ends the processes that stay alive between turns. Must not reject. A later turn starts them again. */
  close?(): Promise<void>;
}

export interface TurnControl {
  /**
   * Stops the turn and everything it started. With the reason `ABANDONED` nothing stops: another owner has the turn
   * now, and this process only stops waiting for it.
   */
  readonly signal: AbortSignal;
  /** Called at most once, when the agent's process exists. */
  readonly onStarted: (process: ProcessRef | null) => void;
  /** Called for each event, by agents that stream. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** A cheaper alternative to `onEvent`: the agent need not read the stream of the turn for it. */
  readonly onTaken?: (event: Extract<AgentEvent, { type: "taken" }>) => void;
  /** Absent: no person is present. Must not reject. The signal withdraws the question. */
  readonly askPerson?: (request: PermissionRequest, signal: AbortSignal) => Promise<"allow" | "deny">;
}

export const ABANDONED = "abandoned";

/** What an agent asks permission for. */
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
  /** Opens access for one conversation. Rejects when no port is free. */
  open(): Promise<ToolAccess>;
}

export interface ToolAccess {
  readonly url: string;
  /** Contains the token; the server refuses requests without it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Later calls belong to this turn. null: no turn runs, and every call is refused. */
  serve(turn: Turn | null): void;
  /** From now on only this process and those it started may use the token, where the system can tell. */
  bind(process: ProcessRef): void;
  close(): void;
}
