/** What a round of checks is taken with. */
import type { Goal, Job } from "../../core/goal/goal.ts";
import type { ProtectionState, Snapshot } from "../../ports/checks.ts";
import type { EngineParts, GoalParts } from "../parts.ts";

export interface Round {
  readonly parts: EngineParts;
  readonly goals: GoalParts;
  readonly goal: Goal;
  readonly job: Job;
  readonly signal: AbortSignal;
  /** What somebody just saw. */
  readonly known: Sight | null;
  /** The files at the last checkpoint of this process. */
  readonly saved: Snapshot | null;
}

/** The files, and what the checks consist of, at one moment. */
export interface Sight {
  readonly snapshot: Snapshot;
  /** null: not compared. */
  readonly protection: ProtectionState | null;
}

export const TAIL_KEPT = 4_000;
export const PASSES = 2;
