/** Where loops are kept, and who may act for them. */
import type { Backlog } from "../core/backlog/backlog.ts";
import type { Effect, LoopEvent, Outcome } from "../core/event.ts";
import type { Goal } from "../core/goal/goal.ts";
import type { Loop, LoopId } from "../core/loop.ts";

/** Who may act for the project. The token rises with every new holder and fences every write. */
export interface Lease {
  readonly token: number;
  readonly owner: string;
  readonly pid: number;
  readonly procStart: string | null;
  readonly host: string;
  readonly acquiredAt: number;
}

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

/**
 * What is known of the process that holds a lease. `gone`: it has ended, for certain. `silent`: it gave no sign of
 * life for too long; it may have slept with the machine, or its host is gone. `frozen`: silent, and stopped.
 */
export type HolderState = "alive" | "silent" | "frozen" | "gone";

/**
 * All loops of one project. Several processes may have the same store open; commits are totally ordered.
 * A commit that answers `committed` is on disk, or, where nothing follows from it that could not be done again, will
 * be with the next. Reads answer from memory as of the last commit, `catchUp` or
 * `refresh`; after `conflict` they include what was first.
 */
export interface Store {
  /** Takes in what others committed. */
  catchUp(): Promise<void>;
  /** The same, and tells which loops changed since the last `refresh`, whoever changed them. For one caller only. */
  refresh(): Promise<readonly LoopId[]>;
  load(id: LoopId): Loop | undefined;
  loops(): IterableIterator<Loop>;
  commit(commit: Commit): Promise<CommitResult>;
  lease(): Lease | null;
  /** Compare-and-set on the token. `null`: someone else was first. */
  acquire(lease: Omit<Lease, "token">, expectedToken: number): Promise<Lease | null>;
  /** Tells the holder that another process has something to do that only it may do. Must not reject. */
  askForLease(by: Omit<Lease, "token">): void;
  /** Who asked last, and when (`acquiredAt`); null: nobody does. */
  leaseAsked(): Omit<Lease, "token"> | null;
  /** Highest token that was ever given out. */
  lastToken(): number;
  release(token: number, at: number): Promise<void>;
  /** Must not reject: a sign of life that fails is a sign that comes later. */
  heartbeat(lease: Lease, at: number): Promise<void>;
  holderState(lease: Lease, now: number): HolderState;
  /** Goals as they were before somebody wrote a line that does not follow from them; each is told once. */
  takeForged(): readonly (Goal | Backlog)[];
  /** Cheap enough to ask all the time: true is certain, false means that `holderState` has to tell. */
  isHolderGone(lease: Lease): boolean;
  /** The host session that was handed this fire or job, as loops name it; null: none. */
  deliveredTo(turnId: string): string | null;
  /** Is the host session over that a loop was bound to? */
  isSessionOver(session: string): boolean;
  /**
   * Rewrites the published files. Must not reject: what is in its way is said, what is damaged is moved aside. A
   * file that a person edited stays until its requests were taken: `adopted` is its text as it was taken, and one
   * that was edited since stays for the next time.
   */
  publish(options?: { readonly adopted?: string }): Promise<void>;
  /** Calls back after a commit of anybody's, within 500 ms of it where the system tells of changes at all. */
  watch(callback: () => void): () => void;
}
