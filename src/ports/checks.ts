/** The commands that the engine runs itself, the files they run on, and the files they depend on. */
import type { CommandOutput } from "../core/checks/kind.ts";
import type { Criterion, MustNot, ProtectedChange } from "../core/goal/goal.ts";
import type { LoopId } from "../core/loop.ts";

export type CheckEvidence = CommandOutput;

/** Runs the person's commands in the project. Must not throw, whatever the command does. */
export interface Checker {
  /** `mark` names the purpose of the run, so that `sweep` finds its processes after a crash. */
  run(command: string, timeoutMs: number, signal: AbortSignal, mark?: string): Promise<CheckEvidence>;
  /** Ends every process that a dead engine process started under this mark. */
  sweep(mark: string): Promise<void>;
}

/** The files of a project at one moment. */
export interface Snapshot {
  /** Equal hashes mean equal files. */
  readonly hash: string;
  /** From the path, with `/`, to a hash of mode and content. */
  readonly files: ReadonlyMap<string, string>;
  readonly isGit: boolean;
}

/**
 * The project's files: those that git tracks or would track; without git, every file outside the folders that tools
 * fill. `.loop` is never part of them. Must not throw, whatever an agent does to the files.
 */
export interface Workspace {
  /** Skips files that match one of these globs. */
  snapshot(except?: readonly string[]): Promise<Snapshot>;
}

export interface ProtectionRules {
  readonly criteria: readonly Criterion[];
  readonly mustNot: readonly MustNot[];
  /** Globs of additional protected files, and globs of files that may change. */
  readonly protect: readonly string[];
  readonly allowChanges: readonly string[];
}

/** From the path to a stamp. Every write changes the stamp, even a write of the same content. */
export type Stamps = ReadonlyMap<string, string>;

export type ProtectionState =
  | {
      readonly kind: "known";
      readonly changes: readonly ProtectedChange[];
      /** Stamps of the protected project files, without the files that the checks themselves wrote before any work. */
      readonly stamps: Stamps;
    }
  /** The record is missing, or it is not the record that the engine made. */
  | { readonly kind: "tampered"; readonly reason: string };

/** The files that checks depend on (B7): found automatically, hashed before any work, compared after each turn. */
export interface Protection {
  /** Called before the checks run for the first time. */
  stamps(rules: ProtectionRules): Promise<Stamps>;
  /** Called after that run: a file with a new stamp was written by the checks themselves. */
  record(
    loopId: LoopId,
    rules: ProtectionRules,
    before: Stamps,
  ): Promise<{ readonly digest: string; readonly count: number }>;
  compare(loopId: LoopId, digest: string, rules: ProtectionRules): Promise<ProtectionState>;
  /** Shows the change as a unified diff. */
  diff(loopId: LoopId, change: ProtectedChange): Promise<string>;
}
