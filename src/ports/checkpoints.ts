/** States of the files that a person can go back to. */
import type { LoopId } from "../core/loop.ts";
import type { Snapshot } from "./checks.ts";

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
