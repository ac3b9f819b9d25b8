/** What can happen to a backlog loop. */
import type { ProcessRef, Usage } from "../base.ts";
import type { RoundEvidence } from "../checks/check.ts";
import type { Failure, JobId } from "../goal/goal.ts";
import type { Attempt, Diff, StoryPlace, ToolVerdict } from "./backlog.ts";
import type { Story } from "./stories.ts";

/** How an agent's turn ended. */
interface AgentRecord {
  readonly failure: Failure | null;
  readonly usage: Usage | null;
  /** The fallback agent that took the turn. */
  readonly takenBy?: string;
  readonly durationMs: number;
  /** It changed prd.json. The engine restored the file. */
  readonly bentStories: boolean;
}

export interface GeneratorRecord extends AgentRecord {
  /** It wrote no text at all. */
  readonly isSilent: boolean;
  readonly diff: Diff | null;
  /** Why it exceeds the scope budget; null: it does not. */
  readonly overScope: string | null;
}

export interface EvaluatorRecord extends AgentRecord {
  readonly verdict: NonNullable<Attempt["verdict"]>;
  /** The fingerprint of the files afterwards: an evaluator that ran the code may have left files. */
  readonly tree: string;
}

/** All checks that count for a story: its own, the project's, and those of the stories that have passed. */
export type StoryRound = RoundEvidence;

export type MergeRecord =
  | { readonly kind: "merged"; readonly round: StoryRound }
  /** The checks pass in its worktree, but not together with earlier merges. */
  | { readonly kind: "red"; readonly round: StoryRound }
  | { readonly kind: "conflict"; readonly files: readonly string[] }
  | { readonly kind: "impossible"; readonly reason: string };

type PartEnded<Type extends string, Result> = Result & {
  readonly type: Type;
  readonly jobId: JobId;
  readonly nextNonce: string;
};

export type BacklogEvent =
  | { readonly type: "backlog.created" }
  /** The owner's clock reached it. `stories`: the current content of the file. */
  | {
      readonly type: "backlog.due";
      readonly token: number;
      readonly nonce: string;
      readonly stories: readonly Story[] | null;
      /** Why the stories cannot be read. */
      readonly problem: string | null;
    }
  | { readonly type: "backlog.notified" }
  /** The run ends after its current jobs. */
  | { readonly type: "backlog.stopping" }
  | {
      readonly type: "backlog.paused";
      readonly code: "person" | "interrupted" | "surroundings" | "forged";
      readonly reason: string;
      /** Set by the process that did this job: the job is over. */
      readonly jobId?: JobId;
    }
  | {
      readonly type: "backlog.continued";
      readonly iterations: number;
      readonly budgetUsd: number;
      /** The conversation that owns the run now, null: none; left out: unchanged. */
      readonly session?: string | null;
      /** The person's version of the file; left out: unchanged. */
      readonly stories?: readonly Story[];
    }
  | { readonly type: "backlog.cancelled"; readonly reason: string }
  | {
      readonly type: "attempt.started";
      readonly jobId: JobId;
      readonly process: ProcessRef | null;
      /** Of a generator: where it works, and from which state. */
      readonly place?: StoryPlace;
    }
  | PartEnded<"attempt.generated", { readonly turn: GeneratorRecord }>
  | PartEnded<"attempt.checked", { readonly round: StoryRound }>
  /** A verdict through the tool. It counts at the end of the turn, together with the answer. */
  | { readonly type: "attempt.judged"; readonly jobId: JobId; readonly said: ToolVerdict }
  | PartEnded<"attempt.evaluated", { readonly turn: EvaluatorRecord }>
  | { readonly type: "attempt.merged"; readonly jobId: JobId; readonly merge: MergeRecord }
  /** The runner or the agent was stopped; there is no result. */
  | { readonly type: "attempt.interrupted"; readonly jobId: JobId; readonly reason: string }
  /** It is certain that the agent never saw the prompt and never will. */
  | { readonly type: "attempt.withdrawn"; readonly jobId: JobId; readonly reason: string };
