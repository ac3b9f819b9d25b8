/** The parts of an engine, and the news that it reports to observers. */
import type { Backlog } from "../core/backlog/backlog.ts";
import type { Outcome } from "../core/event.ts";
import type { AgentSpec, Goal } from "../core/goal/goal.ts";
import type { Loop, LoopId, Notice, Task } from "../core/loop.ts";
import type { Agent, AgentEvent } from "../ports/agent.ts";
import type { Checkpoints } from "../ports/checkpoints.ts";
import type { Checker, Protection, Workspace } from "../ports/checks.ts";
import type { Clock } from "../ports/clock.ts";
import type { Notifier } from "../ports/notifier.ts";
import type { Lease, Store } from "../ports/store.ts";
import type { StoryFiles, StoryPlaces } from "../ports/stories.ts";
import type { WorkEnded, WorkId, WorkStarted } from "./underway.ts";

/** The parts that only goals need. */
export interface GoalParts {
  /** Throws a sentence for the person when the agent is not available. `side`: an agent with its own context. */
  agentFor(spec: AgentSpec, role: "work" | "side"): Agent;
  readonly workspace: Workspace;
  readonly protection: Protection;
  readonly checkpoints: Checkpoints;
  /** Must not be guessable. */
  newNonce(): string;
  /** Did somebody else change the published state? */
  wasStateEdited(): boolean;
}

/** The parts that only backlogs need. */
export interface BacklogParts {
  /** An agent for this folder. Throws a sentence for the person when the agent is not available. */
  agentFor(spec: AgentSpec, dir: string): Agent;
  checkerFor(dir: string): Checker;
  readonly places: StoryPlaces;
  readonly files: StoryFiles;
  newNonce(): string;
}

/** A live conversation that runs turns. A person uses it too. */
export interface Host {
  /** May a turn begin now? The host nudges the engine when it becomes free. */
  isFree(): boolean;
}

export interface EngineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly agent: Agent;
  /** Absent: every turn is a separate process. */
  readonly host?: Host;
  /** The agent for tasks that must not run in the conversation. */
  readonly headless?: () => Agent;
  readonly checker: Checker;
  readonly notifier: Notifier;
  /** null: this engine does not run goals. */
  readonly goals: GoalParts | null;
  /** Absent: this engine does not run backlogs. */
  readonly backlog?: BacklogParts;
  /** This process, as the lease names it. */
  readonly self: Omit<Lease, "token" | "acquiredAt">;
  /** false: only watch (A20). */
  readonly firing: boolean;
  readonly observe: (news: EngineNews) => void;
  /** Ends processes that were kept for later turns. Must not reject. */
  readonly close?: () => Promise<void>;
}

export type Role = "owner" | "passive" | "off";

/** The news for surfaces. */
export type EngineNews =
  | { readonly type: "role"; readonly role: Role; readonly lease: Lease | null }
  | { readonly type: "tasks" }
  | { readonly type: "fire.intended"; readonly task: Task }
  | { readonly type: "outcomes"; readonly outcomes: readonly Outcome[] }
  | { readonly type: "answer"; readonly loop: Loop; readonly workId: WorkId; readonly text: string }
  | { readonly type: "ended"; readonly task: Task }
  /** A goal before and after an event of this engine. */
  | { readonly type: "goal"; readonly before: Goal; readonly goal: Goal }
  | { readonly type: "backlog"; readonly before: Backlog; readonly backlog: Backlog }
  | { readonly type: "agent"; readonly loopId: LoopId; readonly event: AgentEvent }
  | { readonly type: "problem"; readonly message: string };

/** The engine handles one message at a time, and looks after every batch of messages. */
export type Look = { readonly type: "look" };
export type EngineMessage =
  | Look
  | ({ readonly type: "work.started" } & WorkStarted)
  | ({ readonly type: "work.ended" } & WorkEnded)
  | { readonly type: "notified"; readonly loopId: LoopId }
  | { readonly type: "lead"; readonly answer: (isOwner: boolean) => void }
  /** null: the running work continues without this process. */
  | { readonly type: "stop"; readonly reason: string | null };

/** An error in a surface must not affect the loops. */
export function harmless(observe: EngineParts["observe"]): EngineParts["observe"] {
  return (news) => {
    try {
      observe(news);
    } catch {
      // there is nobody to report it to
    }
  };
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A notifier that breaks its contract must not stop the loops. */
export function notifySafely({ notifier, observe }: EngineParts, { title, body, kind }: Notice): void {
  try {
    notifier.notify(title, body, kind);
  } catch (error) {
    observe({ type: "problem", message: `Cannot send a notification: ${describe(error)}` });
  }
}
