/** Commands that the engine runs itself, the files they run on, and the files they depend on. */
import type { Criterion, MustNot, ProtectedChange } from "../core/goal/goal.ts";
import type { LoopId } from "../core/loop.ts";

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
