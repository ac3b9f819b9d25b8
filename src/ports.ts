/**
 * What the engine needs from the outside. Each contract says what an adapter must and must not do;
 * the suites under test/ hold every adapter to it.
 */
import type { Effect, LoopEvent, Outcome, Usage } from "./core/event.ts";
import type { FireId, FireKind, Loop, LoopId, ProcessRef } from "./core/loop.ts";

export interface Timer {
  cancel(): void;
}

/** The only source of time. */
export interface Clock {
  now(): number;
  /** Calls back once at or after `at`, never synchronously. A moment that has passed means soon. */
  wake(at: number, callback: () => void): Timer;
}

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
  /** For a creation: refuse it when this many loops are alive. */
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
 * A commit that answers `committed` is on disk. Reads answer from memory as of the last commit, `catchUp` or
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
  /** Highest token that was ever given out. */
  lastToken(): number;
  release(token: number, at: number): Promise<void>;
  /** Must not reject: a sign of life that fails is a sign that comes later. */
  heartbeat(lease: Lease, at: number): Promise<void>;
  holderState(lease: Lease, now: number): HolderState;
  /** Cheap enough to ask all the time: true is certain, false means that `holderState` has to tell. */
  isHolderGone(lease: Lease): boolean;
  /**
   * Rewrites the published files. Must not reject: what is in its way is said, what is damaged is moved aside. A
   * file that a person edited stays until its requests were taken: `adopted` is its text as it was taken, and one
   * that was edited since stays for the next time.
   */
  publish(options?: { readonly adopted?: string }): Promise<void>;
  /** Calls back after a commit of anybody's, within 500 ms of it where the system tells of changes at all. */
  watch(callback: () => void): () => void;
}

/** One prompt for an agent. `token` names the attempt: a turn is started at most once per token. */
export interface Turn {
  readonly fireId: FireId;
  readonly taskId: LoopId;
  readonly token: number;
  readonly slot: number;
  readonly fireKind: FireKind;
  readonly text: string;
  /** Absolute; the turn is stopped then. */
  readonly deadlineAt: number;
}

/** How a turn ended. `cancelled` only after the caller's signal. */
export type TurnEnd =
  | { readonly kind: "ok"; readonly answer: string; readonly usage: Usage | null }
  | {
      readonly kind: "failed";
      readonly reason: string;
      readonly answer: string;
      readonly usage: Usage | null;
    }
  | { readonly kind: "cancelled" };

/** What became of a turn whose runner died. */
export type TurnFate =
  /** It never started and, from this answer on, never will. */
  | { readonly kind: "never" }
  | { readonly kind: "running"; readonly process: ProcessRef | null; readonly end: Promise<TurnEnd> }
  | { readonly kind: "ended"; readonly end: TurnEnd }
  | { readonly kind: "lost"; readonly reason: string };

/** A host that takes prompts. Must not throw for anything that an agent does. */
export interface Agent {
  readonly name: string;
  run(turn: Turn, control: TurnControl): Promise<TurnEnd>;
  /** For a turn that another process intended under `turn.token`. */
  reconcile(turn: Turn, control: TurnControl): Promise<TurnFate>;
}

export interface TurnControl {
  /**
   * Stops the turn and everything it started. With `ABANDONED` as its reason nothing is stopped: another owner has
   * the turn now, and this process only lets go of it.
   */
  readonly signal: AbortSignal;
  /** Called at most once, when the agent's process exists. */
  readonly onStarted: (process: ProcessRef | null) => void;
}

export const ABANDONED = "abandoned";

export interface CheckEvidence {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The last part of what the command printed. */
  readonly tail: string;
}

/** Runs a command of the person's in the project. Must not throw for anything that the command does. */
export interface Checker {
  run(command: string, timeoutMs: number, signal: AbortSignal): Promise<CheckEvidence>;
}

/** Tells a person. Must not throw and must not wait for an answer. */
export interface Notifier {
  notify(title: string, body: string): void;
}
