/** What an engine is made of, and what it tells those who watch it. */
import type { Outcome } from "../core/event.ts";
import type { FireId, LoopId, ProcessRef, Task } from "../core/loop.ts";
import type { Agent, Checker, Clock, Lease, Notifier, Store } from "../ports.ts";
import type { TurnOutcome } from "./turns.ts";

export interface EngineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly agent: Agent;
  readonly checker: Checker;
  readonly notifier: Notifier;
  /** Who we are when we hold the lease. */
  readonly self: Omit<Lease, "token" | "acquiredAt">;
  /** false: watch only (A20). */
  readonly firing: boolean;
  readonly observe: (news: EngineNews) => void;
}

export type Role = "owner" | "passive" | "off";

/** What surfaces are told. */
export type EngineNews =
  | { readonly type: "role"; readonly role: Role; readonly lease: Lease | null }
  | { readonly type: "tasks" }
  | { readonly type: "fire.intended"; readonly task: Task }
  | { readonly type: "outcomes"; readonly outcomes: readonly Outcome[] }
  | { readonly type: "answer"; readonly taskId: LoopId; readonly fireId: FireId; readonly text: string }
  | { readonly type: "ended"; readonly task: Task }
  | { readonly type: "problem"; readonly message: string };

/** What the engine handles, one after the other. A look is what it does after anything else anyway. */
export type Look = { readonly type: "look" };
export type Message =
  | Look
  | {
      readonly type: "turn.started";
      readonly taskId: LoopId;
      readonly fireId: FireId;
      readonly process: ProcessRef | null;
    }
  | { readonly type: "turn.ended"; readonly outcome: TurnOutcome }
  | { readonly type: "notified"; readonly taskId: LoopId }
  | { readonly type: "stop"; readonly reason: string };

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
