/**
 * The loops of one project. Several processes, on one machine or on many, may have the same loops open. All commits
 * have one order, and every process sees the same order. This port and `lease.ts` need transactions: the store
 * compares a commit with the version of its loop and with the lease in one step.
 */
import type { Backlog } from "../core/backlog/backlog.ts";
import type { Effect, LoopEvent, Outcome } from "../core/event.ts";
import type { Goal } from "../core/goal/goal.ts";
import type { Loop, LoopId } from "../core/loop.ts";

/**
 * One step of one loop. The store keeps all of it or nothing. The next wake-up follows from `loop`, so a store with a
 * queue of wake-ups can write it in the same transaction.
 */
export interface Commit {
  readonly id: LoopId;
  /** The version that the decision is based on; 0 for a new loop. */
  readonly expectedVersion: number;
  readonly loop: Loop;
  readonly event: LoopEvent;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
  readonly at: number;
  /** The owner's token; null: a person asked for this step. */
  readonly token: number | null;
  /** When a task is created: refuse it if this many tasks are live. */
  readonly maxLive?: number;
}

export type CommitResult =
  | { readonly kind: "committed" }
  /** Another process committed first: read the loop and decide again. */
  | { readonly kind: "conflict" }
  /** The token is not the current one: this process is no longer the owner. */
  | { readonly kind: "fenced" }
  | { readonly kind: "full"; readonly live: number };

/** A fault in the stored data. A surface shows it to the person. */
export type StoreFault =
  /** The number of unreadable records. */
  | { readonly kind: "damaged"; readonly count: number }
  /** Loops that other records mention and that are missing. */
  | { readonly kind: "lost"; readonly ids: readonly LoopId[] }
  /** The number of records that this user did not write. They do not count. */
  | { readonly kind: "foreign"; readonly count: number }
  /** Loops that were further than the records say. They do not run until a person says that this state counts. */
  | { readonly kind: "held"; readonly loops: readonly HeldLoop[] };

export interface HeldLoop {
  readonly id: LoopId;
  /** The newest state that is left; null: none. */
  readonly left: Loop | null;
  /** The version that is left, and the version that there was. */
  readonly has: number;
  readonly had: number;
}

/**
 * Reads are synchronous and answer from memory. They show the state of the last `commit`, `catchUp` or `refresh`. After
 * a `conflict` they include the commit that was first.
 */
export interface LoopStore {
  /** Reads the commits of other processes. */
  catchUp(): Promise<void>;
  /** Like `catchUp`. Returns the loops that any process changed since the last `refresh`. For one caller only. */
  refresh(): Promise<readonly LoopId[]>;
  load(id: LoopId): Loop | undefined;
  /** The loops that have not ended, and the goals and backlogs that ended most recently. */
  loops(): IterableIterator<Loop>;
  /**
   * `committed` means durable. A step that can be repeated safely may become durable with the next commit. Rejects when
   * the store cannot tell whether it kept the commit; the caller reads the loop before it tries again.
   */
  commit(commit: Commit): Promise<CommitResult>;
  /** Calls back after a commit of any process, within 500 ms where the system reports changes. */
  watch(callback: () => void): () => void;
  /** Goals and backlogs as they were before somebody forged a record of them. Each one is returned once. */
  takeForged(): readonly (Goal | Backlog)[];
  /** Is this still the store that was opened? A person may remove or move the folder while a runner has it open. */
  isInPlace(): boolean;
  /** Empty: the store knows of no fault. */
  faults(): readonly StoreFault[];
}
