/** What an engine is made of, and what it tells those who watch it. */
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

/** What goals need beyond tasks. */
export interface GoalParts {
  /** Throws the sentence for the person when there is no such agent here. `side`: one with a context of its own. */
  agentFor(spec: AgentSpec, role: "work" | "side"): Agent;
  readonly workspace: Workspace;
  readonly protection: Protection;
  readonly checkpoints: Checkpoints;
  /** Not to be guessed. */
  newNonce(): string;
  /** Did somebody else write into the published state since it was published? */
  wasStateEdited(): boolean;
}

/** What backlogs need. */
export interface BacklogParts {
  /** For this folder. Throws the sentence for the person when there is no such agent here. */
  agentFor(spec: AgentSpec, dir: string): Agent;
  checkerFor(dir: string): Checker;
  readonly places: StoryPlaces;
  readonly files: StoryFiles;
  newNonce(): string;
}

/** A live conversation that turns go to. A person talks there too. */
export interface Host {
  /** May a turn begin there now? Whoever makes it free nudges the engine. */
  isFree(): boolean;
}

export interface EngineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly agent: Agent;
  /** None: every turn is a process of its own. */
  readonly host?: Host;
  /** For tasks that want no conversation, where there is one. */
  readonly headless?: () => Agent;
  readonly checker: Checker;
  readonly notifier: Notifier;
  /** null: goals are not run here. */
  readonly goals: GoalParts | null;
  /** None: backlogs are not run here. */
  readonly backlog?: BacklogParts;
  /** Who we are when we hold the lease. */
  readonly self: Omit<Lease, "token" | "acquiredAt">;
  /** false: watch only (A20). */
  readonly firing: boolean;
  readonly observe: (news: EngineNews) => void;
  /** Ends what was kept for later turns. Must not reject. */
  readonly close?: () => Promise<void>;
}

export type Role = "owner" | "passive" | "off";

/** What surfaces are told. */
export type EngineNews =
  | { readonly type: "role"; readonly role: Role; readonly lease: Lease | null }
  | { readonly type: "tasks" }
  | { readonly type: "fire.intended"; readonly task: Task }
  | { readonly type: "outcomes"; readonly outcomes: readonly Outcome[] }
  | { readonly type: "answer"; readonly loop: Loop; readonly workId: WorkId; readonly text: string }
  | { readonly type: "ended"; readonly task: Task }
  /** A goal before and after an event of the owner's. */
  | { readonly type: "goal"; readonly before: Goal; readonly goal: Goal }
  | { readonly type: "backlog"; readonly before: Backlog; readonly backlog: Backlog }
  | { readonly type: "agent"; readonly loopId: LoopId; readonly event: AgentEvent }
  | { readonly type: "problem"; readonly message: string };

/** What the engine handles, one after the other. A look is what it does after anything else anyway. */
export type Look = { readonly type: "look" };
export type EngineMessage =
  | Look
  | ({ readonly type: "work.started" } & WorkStarted)
  | ({ readonly type: "work.ended" } & WorkEnded)
  | { readonly type: "notified"; readonly loopId: LoopId }
  | { readonly type: "lead"; readonly answer: (isOwner: boolean) => void }
  /** null: what is under way goes on without this process. */
  | { readonly type: "stop"; readonly reason: string | null };

/** What a surface does with the news must not reach the loops. */
export function harmless(observe: EngineParts["observe"]): EngineParts["observe"] {
  return (news) => {
    try {
      observe(news);
    } catch {
      // nobody is left to tell
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
    observe({ type: "problem", message: `A notice could not be given: ${describe(error)}` });
  }
}
