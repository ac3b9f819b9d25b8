/** What can happen to a backlog loop. */
import type { ProcessRef, Usage } from "../base.ts";
import type { RoundEvidence } from "../checks/check.ts";
import type { Failure, JobId } from "../goal/goal.ts";
import type { Attempt, Diff, StoryPlace, ToolVerdict } from "./backlog.ts";
import type { Story } from "./stories.ts";

/** How a generator's turn ended, and what it left behind. */
export interface GeneratorRecord {
  readonly failure: Failure | null;
  /** It said nothing at all. */
  readonly isSilent: boolean;
  readonly usage: Usage | null;
  /** Who took the turn, where that is not the first agent of a chain. */
  readonly takenBy?: string;
  readonly durationMs: number;
  readonly diff: Diff | null;
  /** The figures, when it did more than the mode allows; null: it kept to it. */
  readonly overScope: string | null;
  /** It wrote into prd.json, which was put back. */
  readonly bentStories: boolean;
}

export interface EvaluatorRecord {
  readonly failure: Failure | null;
  readonly usage: Usage | null;
  /** Who took the turn, where that is not the first agent of a chain. */
  readonly takenBy?: string;
  readonly durationMs: number;
  readonly verdict: NonNullable<Attempt["verdict"]>;
  /** The files after it: a judge that ran the code may have left something. */
  readonly tree: string;
  readonly bentStories: boolean;
}

/** All checks that count for a story: its own, the project's, and those of the stories that have passed. */
export type StoryRound = RoundEvidence;

export type MergeRecord =
  | { readonly kind: "merged"; readonly round: StoryRound }
  /** Green in its worktree, and not together with what came before. */
  | { readonly kind: "red"; readonly round: StoryRound }
  | { readonly kind: "conflict"; readonly files: readonly string[] }
  | { readonly kind: "impossible"; readonly reason: string };

export type BacklogEvent =
  | { readonly type: "backlog.created" }
  /** The owner's clock reached it; with the stories as the file has them now. */
  | {
      readonly type: "backlog.due";
      readonly token: number;
      readonly nonce: string;
      readonly stories: readonly Story[] | null;
      /** Why they cannot be read. */
      readonly problem: string | null;
    }
  | { readonly type: "backlog.notified" }
  /** Ends after what is under way. */
  | { readonly type: "backlog.stopping" }
  | {
      readonly type: "backlog.paused";
      readonly code: "person" | "interrupted" | "surroundings" | "forged";
      readonly reason: string;
      /** Said by the one who did the job: nothing of it is left to stop. */
      readonly jobId?: JobId;
    }
  | {
      readonly type: "backlog.continued";
      readonly iterations: number;
      readonly budgetUsd: number;
      /** The conversation that it goes on in, null: none; left out: as before. */
      readonly session?: string | null;
      /** As a person left them in the file; left out: as before. */
      readonly stories?: readonly Story[];
    }
  | { readonly type: "backlog.cancelled"; readonly reason: string }
  | {
      readonly type: "attempt.started";
      readonly jobId: JobId;
      readonly process: ProcessRef | null;
      /** Of a generator: where it works, and what it began with. */
      readonly place?: StoryPlace;
    }
  | {
      readonly type: "attempt.generated";
      readonly jobId: JobId;
      readonly turn: GeneratorRecord;
      readonly nextNonce: string;
    }
  | {
      readonly type: "attempt.checked";
      readonly jobId: JobId;
      readonly round: StoryRound;
      readonly nextNonce: string;
    }
  /** The evaluator's own word, through a tool of the runner's. It counts when its turn is over, with what it wrote. */
  | { readonly type: "attempt.judged"; readonly jobId: JobId; readonly said: ToolVerdict }
  | {
      readonly type: "attempt.evaluated";
      readonly jobId: JobId;
      readonly turn: EvaluatorRecord;
      readonly nextNonce: string;
    }
  | { readonly type: "attempt.merged"; readonly jobId: JobId; readonly merge: MergeRecord }
  /** Over with no result: the runner or the agent was stopped. */
  | { readonly type: "attempt.interrupted"; readonly jobId: JobId; readonly reason: string }
  /** Proved: the agent never saw the prompt and never will. */
  | { readonly type: "attempt.withdrawn"; readonly jobId: JobId; readonly reason: string };
