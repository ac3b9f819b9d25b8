/**
 * What can happen to a loop, and what a decision asks the outside to do.
 * Both are plain data; both are written to the journal before anything is carried out.
 */

import type { BacklogEvent } from "./backlog/event.ts";
import type { Usage } from "./base.ts";
import type { GoalEvent } from "./goal/event.ts";
import type { JobId } from "./goal/goal.ts";
import type {
  Cadence,
  FireId,
  FireKind,
  Loop,
  LoopId,
  MissedPolicy,
  Notice,
  ProcessRef,
  TaskPlace,
  Wakeup,
} from "./loop.ts";

export type { Usage } from "./base.ts";

/** Everything that `loop edit` may change. A missing key is left as it is. */
export interface TaskEdit {
  readonly prompt?: string;
  readonly cadence?: Cadence;
  readonly expiresAt?: number | null;
  /** On or off; left out: as before, measured anew when the cadence changes. */
  readonly jitter?: boolean;
  readonly missed?: MissedPolicy;
  readonly graceMs?: number | null;
  readonly expect?: string | null;
  readonly alertAfter?: number | null;
  readonly timeoutMs?: number;
  readonly where?: TaskPlace;
}

export type TaskEvent =
  | { readonly type: "task.created" }
  | { readonly type: "task.edited"; readonly edit: TaskEdit }
  | { readonly type: "task.paused" }
  | { readonly type: "task.resumed" }
  | { readonly type: "task.deleted"; readonly reason: string }
  /** Its own agent wants no further run: it ends with the turn that is under way. */
  | { readonly type: "task.ending" }
  | { readonly type: "task.run-requested" }
  /** The notice was handed to the notifier. */
  | { readonly type: "task.notified" }
  /** The owner's clock reached the task. `awakeSince`: since when someone has been there to fire it. */
  | { readonly type: "task.due"; readonly token: number; readonly awakeSince: number }
  | { readonly type: "fire.started"; readonly fireId: FireId; readonly process: ProcessRef | null }
  | {
      readonly type: "fire.finished";
      readonly fireId: FireId;
      readonly outcome: "ok" | "failed";
      readonly reason: string | null;
      /** What a self-paced agent asked for in its answer. */
      readonly wakeup?: Wakeup;
      readonly usage?: Usage;
      /** Who took the turn, where that is not the first agent of a chain. */
      readonly takenBy?: string;
    }
  /** The fire is over with no result: the runner or the agent was stopped. */
  | { readonly type: "fire.interrupted"; readonly fireId: FireId; readonly reason: string }
  /** Proved: the agent never saw the prompt and never will. The slot is open again. */
  | { readonly type: "fire.withdrawn"; readonly fireId: FireId; readonly reason: string }
  | { readonly type: "fire.wakeup"; readonly fireId: FireId; readonly wakeup: Wakeup };

export type LoopEvent = TaskEvent | GoalEvent | BacklogEvent;

/** Only who holds the lease may say these; everything else is a person's wish or an agent's word. */
export const OWNERS_EVENTS: ReadonlySet<string> = new Set<LoopEvent["type"]>([
  "task.due",
  "task.notified",
  "fire.started",
  "fire.finished",
  "fire.interrupted",
  "fire.withdrawn",
  "goal.due",
  "goal.notified",
  "job.started",
  "job.surveyed",
  "job.turned",
  "job.checked",
  "job.interrupted",
  "job.withdrawn",
  "backlog.due",
  "backlog.notified",
  "attempt.started",
  "attempt.generated",
  "attempt.checked",
  "attempt.judged",
  "attempt.evaluated",
  "attempt.merged",
  "attempt.interrupted",
  "attempt.withdrawn",
]);

/** The task's fire is to be delivered, once. What is said is rendered from the task when it goes out. */
export interface DeliverEffect {
  readonly kind: "deliver";
  readonly fireId: FireId;
}

export interface NotifyEffect {
  readonly kind: "notify";
  readonly notice: Notice;
}

/** The goal's job is to be done. Idempotent, or (a turn) started at most once per token. */
export interface WorkEffect {
  readonly kind: "work";
  readonly jobId: JobId;
}

/** The running turn must stop: its loop is gone, or was told to stand still. */
export interface CancelEffect {
  readonly kind: "cancel";
  readonly fireId: FireId | JobId;
  readonly reason: string;
}

export type Effect = DeliverEffect | WorkEffect | NotifyEffect | CancelEffect;

export type OutcomeKind = "ok" | "failed" | "skipped" | "missed" | "interrupted";

/**
 * What became of one slot (or, with `count`, of a run of slots too long to list).
 * The history is these lines, in the order they were committed, and nothing else.
 */
export interface Outcome {
  readonly fireId: FireId;
  readonly taskId: LoopId;
  readonly slot: number;
  readonly dueAt: number;
  readonly outcome: OutcomeKind;
  readonly kind: FireKind;
  readonly reason: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly usage?: Usage;
  readonly takenBy?: string;
  readonly count?: number;
  readonly untilSlot?: number;
}

export interface LoopChange<L extends Loop = Loop> {
  readonly loop: L;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
}

/** `refused` carries a sentence for the person; `none` means that the event changes nothing. */
export type Decision<L extends Loop = Loop> =
  | ({ readonly kind: "change" } & LoopChange<L>)
  | { readonly kind: "none" }
  | { readonly kind: "refused"; readonly message: string };
