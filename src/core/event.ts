/** Events of a loop, and the effects of a decision. Both are plain data, and the journal has both before any effect runs. */
import type { BacklogEvent } from "./backlog/event.ts";
import type { FoundBy, Usage } from "./base.ts";
import type { GoalEvent } from "./goal/event.ts";
import type { JobId } from "./goal/goal.ts";
import type { Fire, FireId, Loop, LoopId, Notice, ProcessRef, TaskSettings, Wakeup } from "./loop.ts";

export type { Usage } from "./base.ts";

/** What `loop edit` may change. A missing key changes nothing. */
export interface TaskEdit extends Partial<TaskSettings> {
  /** On or off; left out: as before, computed again when the cadence changes. */
  readonly jitter?: boolean;
}

export type TaskEvent =
  | { readonly type: "task.created" }
  | { readonly type: "task.edited"; readonly edit: TaskEdit }
  | { readonly type: "task.paused" }
  | { readonly type: "task.resumed" }
  | { readonly type: "task.deleted"; readonly reason: string }
  /** The task's agent wants no further run: the task ends with the current turn. */
  | { readonly type: "task.ending" }
  | { readonly type: "task.run-requested" }
  /** The notifier has the notice. */
  | { readonly type: "task.notified" }
  /** The task is due. `awakeSince`: since when a runner has been there. */
  | { readonly type: "task.due"; readonly token: number; readonly awakeSince: number }
  | FireEvent;

/** Events of the running fire. */
export type FireEvent = { readonly fireId: FireId } & (
  | { readonly type: "fire.started"; readonly process: ProcessRef | null }
  | {
      readonly type: "fire.finished";
      readonly outcome: "ok" | "failed";
      readonly reason: string | null;
      /** The request of a self-paced agent in its answer. */
      readonly wakeup?: Wakeup;
      readonly usage?: Usage;
      /** The agent of a chain that took the turn, if not the first. */
      readonly takenBy?: string;
    }
  /** The runner or the agent was stopped, so there is no result. */
  | { readonly type: "fire.interrupted"; readonly reason: string }
  /** It is certain that the agent never saw the prompt. The slot is open again. */
  | { readonly type: "fire.withdrawn"; readonly reason: string }
  | { readonly type: "fire.wakeup"; readonly wakeup: Wakeup }
);

export type LoopEvent = TaskEvent | GoalEvent | BacklogEvent;

/** Only the holder of the lease may write these events. Persons and agents write all others. */
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

export type Effect =
  /** Deliver the task's fire, once. The text is rendered when it goes out. */
  | { readonly kind: "deliver"; readonly fireId: FireId }
  /** Do the goal's job. Idempotent, or (a turn) started at most once per token. */
  | { readonly kind: "work"; readonly jobId: JobId }
  | { readonly kind: "notify"; readonly notice: Notice }
  /** Stop the running turn: its loop has ended or is paused. */
  | { readonly kind: "cancel"; readonly fireId: FireId | JobId; readonly reason: string };

export type OutcomeKind = "ok" | "failed" | "skipped" | "missed" | "interrupted";

/** The outcome of one slot, or with `count` of many slots. The history is these lines in commit order. */
export interface Outcome extends Pick<Fire, "slot" | "dueAt" | "kind" | "startedAt"> {
  readonly fireId: FireId;
  readonly taskId: LoopId;
  readonly outcome: OutcomeKind;
  readonly reason: string | null;
  readonly finishedAt: number | null;
  readonly usage?: Usage;
  readonly takenBy?: string;
  /** How the processes of the turn were found, so that they ended with it; left out: unknown. */
  readonly foundBy?: FoundBy;
  readonly count?: number;
  readonly untilSlot?: number;
}

export interface LoopChange<L extends Loop = Loop> {
  readonly loop: L;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
}

export interface Changed<L extends Loop> extends LoopChange<L> {
  readonly kind: "change";
}

/** `refused` has a sentence for the person; `none` means that the event changes nothing. */
export type Decision<L extends Loop = Loop> =
  | Changed<L>
  | { readonly kind: "none" }
  | { readonly kind: "refused"; readonly message: string };
