/**
 * What a loop is. A loop is plain data: it goes through the journal as JSON and comes back the same.
 *
 * Units: a name that ends in `At` (or is called `slot`) is a moment in milliseconds since the epoch, a
 * name that ends in `Ms` is a length of time. There are no Date objects in `core`.
 */

import type { Backlog } from "./backlog/backlog.ts";
import type { LoopId, Notice, ProcessRef } from "./base.ts";
import type { Goal } from "./goal/goal.ts";

export type { LoopId, Notice, ProcessRef } from "./base.ts";
export type FireId = string & { readonly brand: "FireId" };

/** When a task is due. Every kind yields slots: moments that are fired at most once each. */
export type Cadence =
  | { readonly kind: "cron"; readonly expr: string; readonly tz: string }
  | { readonly kind: "every"; readonly everyMs: number; readonly anchorAt: number }
  | { readonly kind: "once"; readonly at: number; readonly cron: string | null; readonly tz: string }
  | { readonly kind: "paced"; readonly wakeAt: number | null; readonly reason: string | null };

/** What to do with slots that passed while nothing ran. `ask` is for one-shots: a person decides. */
export type MissedPolicy = "ask" | "once" | "skip" | "all";

export type FireKind = "scheduled" | "initial" | "manual" | "late" | "final";

/** What a self-paced agent asked for at the end of its turn. */
export type Wakeup =
  | { readonly kind: "sleep"; readonly delayMs: number; readonly reason: string }
  | { readonly kind: "stop"; readonly reason: string };

/** The one delivery that is under way. At most one per task. */
export interface Fire {
  readonly id: FireId;
  readonly slot: number;
  readonly dueAt: number;
  readonly kind: FireKind;
  /** Fencing token of the owner that intended it. */
  readonly token: number;
  readonly intendedAt: number;
  readonly startedAt: number | null;
  readonly process: ProcessRef | null;
  readonly wakeup: Wakeup | null;
}

/** A run outside the cadence that waits for its turn. */
export interface RunRequest {
  readonly kind: "initial" | "manual";
  readonly at: number;
}

/** Where a task wants to run: in a live conversation, as a process of its own, or wherever somebody is. */
export type TaskPlace = "session" | "headless" | "either";

export type TaskStatus = "active" | "paused" | "missed" | "ended";

export interface Task {
  readonly kind: "task";
  readonly id: LoopId;
  /** Rises by one with every committed change; a commit names the version it was decided on. */
  readonly version: number;
  readonly prompt: string;
  readonly cadence: Cadence;
  /** `null`: durable. Otherwise the host session that the task lives and dies with. */
  readonly session: string | null;
  readonly where: TaskPlace;
  readonly status: TaskStatus;
  readonly statusReason: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Added to a slot to get the moment it is due; negative for a one-shot that comes early. */
  readonly jitterMs: number;
  readonly missed: MissedPolicy;
  readonly graceMs: number | null;
  readonly expect: string | null;
  readonly alertAfter: number | null;
  readonly timeoutMs: number;
  /** Every slot up to and including this moment is accounted for: fired, or in the journal with a reason. */
  readonly cursorAt: number;
  /** Rises when the clock was set back so far that slots start over; part of a fire's identity. */
  readonly era: number;
  readonly request: RunRequest | null;
  readonly fire: Fire | null;
  readonly lastFiredAt: number | null;
  readonly lastFinishedAt: number | null;
  /** Failed or silent slots in a row, for `--alert-after`. */
  readonly streak: number;
  readonly importedFrom: string | null;
  /** Said to a person, or about to be: cleared when it was handed over, so that a crash cannot swallow it. */
  readonly notice: Notice | null;
}

/** Has it something under way? */
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
