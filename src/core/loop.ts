/**
 * A loop is plain data: it survives a trip through the journal as JSON. A name that ends in `At` (or is `slot`) is a time
 * in milliseconds since the epoch. A name that ends in `Ms` is a duration. `core` uses no Date objects.
 */
import type { Backlog } from "./backlog/backlog.ts";
import type { LoopId, Notice, ProcessRef } from "./base.ts";
import type { Goal } from "./goal/goal.ts";

export type { LoopId, Notice, ProcessRef } from "./base.ts";
export type FireId = string & { readonly brand: "FireId" };

/** When a task is due. Every kind yields slots: times that fire at most once each. */
export type Cadence =
  | { readonly kind: "cron"; readonly expr: string; readonly tz: string }
  | { readonly kind: "every"; readonly everyMs: number; readonly anchorAt: number }
  | { readonly kind: "once"; readonly at: number; readonly cron: string | null; readonly tz: string }
  | { readonly kind: "paced"; readonly wakeAt: number | null; readonly reason: string | null };

/** What to do with slots that passed while no runner was there. `ask` (one-shots only): a person decides. */
export type MissedPolicy = "ask" | "once" | "skip" | "all";

export type FireKind = "scheduled" | "initial" | "manual" | "late" | "final";

/** The request of a self-paced agent at the end of its turn. */
export type Wakeup =
  | { readonly kind: "sleep"; readonly delayMs: number; readonly reason: string }
  | { readonly kind: "stop"; readonly reason: string };

/** The running delivery. At most one per task. */
export interface Fire {
  readonly id: FireId;
  readonly slot: number;
  readonly dueAt: number;
  readonly kind: FireKind;
  /** Fencing token of the owner that intended the fire. */
  readonly token: number;
  readonly intendedAt: number;
  readonly startedAt: number | null;
  readonly process: ProcessRef | null;
  readonly wakeup: Wakeup | null;
}

/** Where a task may run: in a live conversation, in a separate process, or in either. */
export type TaskPlace = "session" | "headless" | "either";

export type TaskStatus = "active" | "paused" | "missed" | "ended";

/** What a person sets and may change later. */
export interface TaskSettings {
  readonly prompt: string;
  readonly cadence: Cadence;
  readonly where: TaskPlace;
  readonly expiresAt: number | null;
  readonly missed: MissedPolicy;
  readonly graceMs: number | null;
  readonly expect: string | null;
  readonly alertAfter: number | null;
  readonly timeoutMs: number;
}

export interface Task extends TaskSettings {
  readonly kind: "task";
  readonly id: LoopId;
  /** Rises by one with every commit. A commit names the version it was decided on. */
  readonly version: number;
  /** null: durable. Otherwise the task ends with this host session. */
  readonly session: string | null;
  readonly status: TaskStatus;
  readonly statusReason: string | null;
  readonly createdAt: number;
  /** Added to a slot to get its due time; negative for a one-shot that comes early. */
  readonly jitterMs: number;
  /** Every slot up to this time has fired or is in the journal with a reason. */
  readonly cursorAt: number;
  /** Rises when the clock was set back so far that slots repeat. Part of a fire's id. */
  readonly era: number;
  /** A requested run outside the cadence. */
  readonly request: { readonly kind: "initial" | "manual"; readonly at: number } | null;
  readonly fire: Fire | null;
  readonly lastFiredAt: number | null;
  readonly lastFinishedAt: number | null;
  /** Failed or silent slots in a row, for `--alert-after`. */
  readonly streak: number;
  readonly importedFrom: string | null;
  /** A notice that is not delivered yet. It is cleared after delivery, so that a crash cannot lose it. */
  readonly notice: Notice | null;
}

/** Whether a turn or a round of checks is running. */
export function isBusy(loop: Loop): boolean {
  switch (loop.kind) {
    case "task":
      return loop.fire !== null;
    case "goal":
      return loop.job !== null;
    case "backlog":
      return loop.attempts.some(({ job }) => job !== null);
  }
}

export type Loop = Task | Goal | Backlog;
