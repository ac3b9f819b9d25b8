/** Saved states of the project's files that a person can restore. */
import type { LoopId } from "../core/loop.ts";
import type { Snapshot } from "./checks.ts";

export type CheckpointResult =
  | { readonly kind: "saved"; readonly commit: string; readonly step: number }
  /** Git is absent or fails. `reason` is a sentence that says what is lost. */
  | { readonly kind: "none"; readonly reason: string };

/** The answer of `begin`, before the checkpoint is complete. */
export type CheckpointBegun =
  | { readonly kind: "begun"; readonly step: number }
  | Extract<CheckpointResult, { kind: "none" }>;

export interface Checkpoint {
  /** The number in the list; 0 is the state before any work. */
  readonly step: number;
  readonly commit: string;
  readonly label: string;
  readonly at: number;
}

export type RollbackResult =
  | { readonly kind: "restored"; readonly files: readonly string[]; readonly undo: string | null }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Keeps states of the files as commits on `refs/loopwright/<loop>/…`. Never touches the person's index, branch, stash
 * or configuration, and runs none of their hooks.
 */
export interface Checkpoints {
  save(loopId: LoopId, label: string): Promise<CheckpointResult>;
  /**
   * Resolves as soon as the files may change again; the rest happens in the background. `known` saves a scan: the
   * files at the last checkpoint of this process, and the files now.
   */
  begin(
    loopId: LoopId,
    label: string,
    known: { readonly before: Snapshot; readonly after: Snapshot } | null,
  ): Promise<CheckpointBegun>;
  /** Resolves when every checkpoint that was begun is complete. */
  settle(): Promise<void>;
  /** Oldest first. */
  list(loopId: LoopId): Promise<readonly Checkpoint[]>;
  /** Saves the current files first, then restores the files of `commit`. */
  restore(loopId: LoopId, commit: string): Promise<RollbackResult>;
}
