/**
 * The loops of one project, as every process sees them.
 *
 * Several processes, on one machine or on many, may have the same loops open. All commits stand in one order, and
 * everybody sees the same order. Together with `lease.ts` this is the part of a store that needs transactions: a
 * commit is judged against the version of its loop and against the lease in one step.
 */
import type { Backlog } from "../core/backlog/backlog.ts";
import type { Effect, LoopEvent, Outcome } from "../core/event.ts";
import type { Goal } from "../core/goal/goal.ts";
import type { Loop, LoopId } from "../core/loop.ts";

/**
 * One step of one loop. Everything in it is kept, or nothing is. When the loop has to be looked at next follows from
 * `loop`, so a store with a queue of wake-ups can put that wake-up into the same transaction.
 */
export interface Commit {
  readonly id: LoopId;
  /** The version that the decision was made on; 0 for a loop that does not exist yet. */
  readonly expectedVersion: number;
  readonly loop: Loop;
  readonly event: LoopEvent;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly Outcome[];
  readonly at: number;
  /** The owner's token, or `null` for what a person asked for. */
  readonly token: number | null;
  /** For the creation of a task: refuse it when this many are alive. */
  readonly maxLive?: number;
}

export type CommitResult =
  | { readonly kind: "committed" }
  /** Someone else committed first: read the loop again and decide anew. */
  | { readonly kind: "conflict" }
  /** The token is not the current one: this process is not the owner any more. */
  | { readonly kind: "fenced" }
  | { readonly kind: "full"; readonly live: number };

/** Something is wrong with what the store holds. A surface shows it to the person. */
export type StoreFault =
  /** Records that cannot be read. */
  | { readonly kind: "damaged"; readonly count: number }
  /** Loops that were there, as other records show, and are not there any more. */
  | { readonly kind: "lost"; readonly ids: readonly LoopId[] };

/**
 * Reads are synchronous and answer from memory, as of the last `commit`, `catchUp` or `refresh`. After a `conflict`
 * they include the commit that was first.
 */
export interface LoopStore {
  /** Takes in what others committed. */
  catchUp(): Promise<void>;
  /** The same, and tells which loops changed since the last `refresh`, whoever changed them. For one caller only. */
  refresh(): Promise<readonly LoopId[]>;
  load(id: LoopId): Loop | undefined;
  /** All that have not ended, and the goals and backlogs that ended most recently. */
  loops(): IterableIterator<Loop>;
  /**
   * `committed` means: durable, or, where nothing follows from it that could not be done again, durable with the next
   * commit. Rejects when the store cannot tell whether the commit was kept; the caller reads before it repeats.
   */
  commit(commit: Commit): Promise<CommitResult>;
  /** Calls back after a commit of anybody's, within 500 ms of it where the system tells of changes at all. */
  watch(callback: () => void): () => void;
  /** Goals as they were before somebody wrote a record that does not follow from them; each is told once. */
  takeForged(): readonly (Goal | Backlog)[];
  /** Is this still the store that was opened? A person may remove or move a folder while a runner has it open. */
  isInPlace(): boolean;
  /** Empty: nothing is known to be wrong. */
  faults(): readonly StoreFault[];
}
