/** What can happen to a goal. */
import type { ProcessRef, Usage } from "../base.ts";
import type { RoundEvidence } from "../checks/check.ts";
import type { Baseline, Claims, Failure, GateKind, JobId, ProtectedChange, Report } from "./goal.ts";

/** What a person adds to the limits. */
export interface Raise {
  readonly budgetUsd?: number;
  readonly iterations?: number;
  readonly timeMs?: number;
  readonly tokens?: number;
}

/** How a turn of a goal ended, and what it left behind. */
export interface TurnRecord {
  readonly failure: Failure | null;
  readonly report: Report;
  /** Of a pre-check: what the second agent thinks. */
  readonly verdict: { readonly kind: "pass" | "reject" | "none"; readonly reason: string | null } | null;
  readonly usage: Usage | null;
  /** Who took it, where that is not the first agent of a chain, and why. */
  readonly takenBy?: string;
  readonly takenWhy?: string;
  /** The conversation that the next turn can go on with, and the agent's own running total of its cost. */
  readonly conversation: string | null;
  readonly conversationCostUsd: number | null;
  readonly filesChanged: number;
  /** The first of them. */
  readonly files: readonly string[];
  /** Fingerprint of the files after it. */
  readonly tree: string;
  readonly toolCalls: number | null;
  /** The file that was edited most often, and how often. */
  readonly mostEdited: { readonly path: string; readonly count: number } | null;
  /** Tools that it was not allowed to use. */
  readonly denials: readonly string[];
  readonly durationMs: number;
  /** It wrote into state.json: claims, and no facts. */
  readonly wroteState: boolean;
  /** For the judges of the round of checks that follows. */
  readonly nextNonce: string;
}

/** One round of all checks of a goal. */
export interface CheckRound extends RoundEvidence {
  /** Those that turned true, with what their command printed. */
  readonly mustNot: readonly { readonly name: string; readonly tail: string }[];
  readonly protectedChanges: readonly ProtectedChange[];
  /** The record of the protected files itself was changed or is gone. */
  readonly tampered: string | null;
  /** What judges cost. */
  readonly usage: Usage | null;
  /** A judge could not be asked: the round is taken again. */
  readonly failure: Failure | null;
  /** Its step, as `loop rollback` lists it. */
  readonly checkpoint: number | null;
  readonly notes: readonly string[];
}

export type GoalEvent =
  | { readonly type: "goal.created" }
  /** The owner's clock reached the goal. */
  | { readonly type: "goal.due"; readonly token: number; readonly nonce: string }
  | { readonly type: "goal.notified" }
  | {
      readonly type: "goal.paused";
      readonly code: "person" | "interrupted" | "surroundings" | "forged";
      readonly reason: string;
    }
  | {
      readonly type: "goal.continued";
      readonly raise: Raise;
      readonly retryNow: boolean;
      /** The conversation that it goes on in, null: none; left out: as before. */
      readonly session?: string | null;
    }
  | { readonly type: "goal.raised"; readonly raise: Raise }
  | { readonly type: "goal.cancelled"; readonly reason: string }
  | {
      readonly type: "goal.accepted";
      readonly changes: readonly { readonly path: string; readonly hash: string | null }[];
    }
  | {
      readonly type: "goal.answered";
      readonly gate: GateKind;
      readonly answer: "approve" | "reject";
      readonly note: string | null;
    }
  | { readonly type: "goal.rolled-back"; readonly checkpoint: string; readonly tree: string }
  | { readonly type: "job.started"; readonly jobId: JobId; readonly process: ProcessRef | null }
  /** The agent's own word, through a tool. */
  | {
      readonly type: "job.reported";
      readonly jobId: JobId;
      readonly nonce: string;
      readonly claims: Claims;
    }
  | {
      readonly type: "job.surveyed";
      readonly jobId: JobId;
      readonly baseline: Omit<Baseline, "green" | "tests">;
      readonly round: CheckRound;
    }
  | { readonly type: "job.turned"; readonly jobId: JobId; readonly turn: TurnRecord }
  /** What a turn used, where that comes to be known only after its end. */
  | { readonly type: "job.priced"; readonly jobId: JobId; readonly usage: Usage }
  | { readonly type: "job.checked"; readonly jobId: JobId; readonly round: CheckRound }
  /** Over with no result: the runner or the agent was stopped. */
  | {
      readonly type: "job.interrupted";
      readonly jobId: JobId;
      readonly reason: string;
      /** The conversation that it had begun. */
      readonly conversation?: string;
    }
  /** Proved: the agent never saw the prompt and never will. */
  | { readonly type: "job.withdrawn"; readonly jobId: JobId; readonly reason: string };
