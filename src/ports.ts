/**
 * What the engine needs from the outside. Each contract says what an adapter must and must not do;
 * the suites under test/ hold every adapter to it.
 */
import type { Backlog } from "./core/backlog/backlog.ts";
import type { NoticeKind } from "./core/base.ts";
import type { Effect, LoopEvent, Outcome } from "./core/event.ts";
import type { Criterion, Goal, MustNot, ProtectedChange } from "./core/goal/goal.ts";
import type { Loop, LoopId } from "./core/loop.ts";

export * from "./agent-ports.ts";

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

export interface CheckEvidence {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The last part of what the command printed. */
  readonly tail: string;
}

/** Runs a command of the person's in the project. Must not throw for anything that the command does. */
export interface Checker {
  /** `mark` names what it is run for, so that `sweep` finds it again after a crash. */
  run(command: string, timeoutMs: number, signal: AbortSignal, mark?: string): Promise<CheckEvidence>;
  /** Ends everything that was run under this mark by a process that is gone. */
  sweep(mark: string): Promise<void>;
}

/** The files of a project at one moment. */
export interface Snapshot {
  /** Same hash, same files. */
  readonly hash: string;
  /** Path, with `/`, and hash of mode and content. */
  readonly files: ReadonlyMap<string, string>;
  readonly isGit: boolean;
}

/**
 * The files that count: what git tracks or would track, or, without git, everything but the folders that tools
 * fill. `.loop` never counts. Must not throw for anything that an agent does to them.
 */
export interface Workspace {
  /** Files that match one of these globs are left out. */
  snapshot(except?: readonly string[]): Promise<Snapshot>;
}

export interface ProtectionRules {
  readonly criteria: readonly Criterion[];
  readonly mustNot: readonly MustNot[];
  /** Globs that add to what is found, and that take away from it. */
  readonly protect: readonly string[];
  readonly allowChanges: readonly string[];
}

/** Path and what changes with every write to the file, also with one that leaves its content as it was. */
export type Stamps = ReadonlyMap<string, string>;

export type ProtectionState =
  | {
      readonly kind: "known";
      readonly changes: readonly ProtectedChange[];
      /** Of the files of the project among them that the checks did not write to themselves before any work. */
      readonly stamps: Stamps;
    }
  /** The record is gone or is not the one that was made. */
  | { readonly kind: "tampered"; readonly reason: string };

/** What checks consist of (B7): found without being named, hashed before any work, compared after each turn. */
export interface Protection {
  /** Before the checks ran for the first time. */
  stamps(rules: ProtectionRules): Promise<Stamps>;
  /** After that: what has another stamp than `before`, or had none, is written by the checks themselves. */
  record(
    loopId: LoopId,
    rules: ProtectionRules,
    before: Stamps,
  ): Promise<{ readonly digest: string; readonly count: number }>;
  compare(loopId: LoopId, digest: string, rules: ProtectionRules): Promise<ProtectionState>;
  /** What a change looks like, as a unified diff for a person. */
  diff(loopId: LoopId, change: ProtectedChange): Promise<string>;
}

export type CheckpointResult =
  | { readonly kind: "saved"; readonly commit: string; readonly step: number }
  /** No git here, or it cannot: what is lost, as a sentence. */
  | { readonly kind: "none"; readonly reason: string };

/** What can be told before it is all done. */
export type CheckpointBegun =
  | { readonly kind: "begun"; readonly step: number }
  | Extract<CheckpointResult, { kind: "none" }>;

export interface Checkpoint {
  /** Its number in the list; 0 is the state before any work. */
  readonly step: number;
  readonly commit: string;
  readonly label: string;
  readonly at: number;
}

export type RollbackResult =
  | { readonly kind: "restored"; readonly files: readonly string[]; readonly undo: string | null }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * States of the files as commits on `refs/loopwright/<loop>/…`. Never touches the person's index, branch, stash or
 * configuration, and runs none of their hooks.
 */
export interface Checkpoints {
  save(loopId: LoopId, label: string): Promise<CheckpointResult>;
  /**
   * Resolves as soon as the files may change again; the rest is done beside it. `known`: the files at the last
   * checkpoint of this process and now, so that they need not be looked for.
   */
  begin(
    loopId: LoopId,
    label: string,
    known: { readonly before: Snapshot; readonly after: Snapshot } | null,
  ): Promise<CheckpointBegun>;
  /** Resolves when all that was begun is done. */
  settle(): Promise<void>;
  /** Oldest first. */
  list(loopId: LoopId): Promise<readonly Checkpoint[]>;
  /** Puts the files back as they were, after saving them as they are now. */
  restore(loopId: LoopId, commit: string): Promise<RollbackResult>;
}

/** Tells a person. Must not throw and must not wait for an answer. */
export interface Notifier {
  notify(title: string, body: string, kind: NoticeKind): void;
}
