/** Events of a goal. */
import type { ProcessRef, Usage } from "../base.ts";
import type { RoundEvidence } from "../checks/check.ts";
import type { Baseline, Claims, Failure, GateKind, Goal, JobId, Limits, Report } from "./goal.ts";

/** What a person adds to the limits. */
export type Raise = { readonly [K in keyof Limits]?: number };

export interface TurnRecord {
  readonly failure: Failure | null;
  readonly report: Report;
  /** The second agent's opinion, in a pre-check. */
  readonly verdict: { readonly kind: "pass" | "reject" | "none"; readonly reason: string | null } | null;
  readonly usage: Usage | null;
  /** The agent of the chain that took the turn, if not the first, and why. */
  readonly takenBy?: string;
  readonly takenWhy?: string;
  /** The conversation that the next turn can continue, and the agent's running total of its cost. */
  readonly conversation: string | null;
  readonly conversationCostUsd: number | null;
  readonly filesChanged: number;
  readonly files: readonly string[];
  /** Fingerprint of the files after the turn. */
  readonly tree: string;
  readonly toolCalls: number | null;
  readonly mostEdited: { readonly path: string; readonly count: number } | null;
  /** Tools that the agent was not allowed to use. */
  readonly denials: readonly string[];
  /** Tools that the agent may use without asking again. Absent: none. */
  readonly permanent?: readonly string[];
  readonly durationMs: number;
  /** The agent wrote into state.json. This counts only as a claim. */
  readonly wroteState: boolean;
  /** For the judges of the next round of checks. */
  readonly nextNonce: string;
}

export interface CheckRound extends RoundEvidence {
  /** The conditions that are true, with the output of their commands. */
  readonly mustNot: readonly { readonly name: string; readonly tail: string }[];
  readonly protectedChanges: Goal["protectedChanges"];
  /** Why the record of the protected files cannot be trusted: it was changed or is gone. */
  readonly tampered: string | null;
  /** The cost of the judges. */
  readonly usage: Usage | null;
  /** A judge did not answer: the round runs again. */
  readonly failure: Failure | null;
  /** The number in the list of `loop rollback`. */
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
      /** The conversation that continues the goal; null: none; left out: as before. */
      readonly session?: string | null;
    }
  | { readonly type: "goal.raised"; readonly raise: Raise }
  | { readonly type: "goal.cancelled"; readonly reason: string }
  | { readonly type: "goal.accepted"; readonly changes: Goal["accepted"] }
  | {
      readonly type: "goal.answered";
      readonly gate: GateKind;
      readonly answer: "approve" | "reject";
      readonly note: string | null;
    }
  | { readonly type: "goal.rolled-back"; readonly checkpoint: string; readonly tree: string }
  | JobEvent
  /** The usage of a turn, when it is known only after the end of the turn. */
  | { readonly type: "job.priced"; readonly jobId: JobId; readonly usage: Usage };

export type EventOf<Type extends GoalEvent["type"]> = Extract<GoalEvent, { type: Type }>;

/** Events of the running job. */
export type JobEvent = { readonly jobId: JobId } & (
  | { readonly type: "job.started"; readonly process: ProcessRef | null }
  /** The agent reports through a tool. */
  | { readonly type: "job.reported"; readonly nonce: string; readonly claims: Claims }
  | {
      readonly type: "job.surveyed";
      readonly baseline: Omit<Baseline, "green" | "tests">;
      readonly round: CheckRound;
    }
  | { readonly type: "job.turned"; readonly turn: TurnRecord }
  | { readonly type: "job.checked"; readonly round: CheckRound }
  /** The runner or the agent was stopped, so there is no result. `conversation`: the job started it. */
  | { readonly type: "job.interrupted"; readonly reason: string; readonly conversation?: string }
  /** It is certain that the agent never saw the prompt. */
  | { readonly type: "job.withdrawn"; readonly reason: string }
);
