/**
 * What a backlog loop is: stories, done one after another or some at a time. A generator does each story, an
 * evaluator judges it, and checks that the engine runs prove it. Plain data.
 */
import type { FoundBy } from "../base.ts";
import type { AgentSpec, Criterion, Evidence, Failure, Goal, Job, Spent } from "../goal/goal.ts";
import type { Depth, Story } from "./stories.ts";

export type Mode = "explore" | "implement" | "fix";

export interface ScopeBudget {
  readonly maxFilesToRead: number;
  readonly maxLinesToWrite: number;
  readonly maxFilesToModify: number;
}

/** What a person agreed to at the start of the run. */
export interface BacklogTerms {
  readonly mode: Mode;
  readonly maxIterations: number;
  readonly branchPrefix: string;
  /** The branch that parallel work is merged into; null: none. */
  readonly target: string | null;
  /** After so many rejections a story is blocked. */
  readonly evalRetries: number;
  readonly skipEval: boolean;
  /** Stories at a time. With more than one, each has its own worktree. */
  readonly parallel: number;
  /** Only this story; null: all. */
  readonly only: string | null;
  readonly scope: ScopeBudget;
  readonly generator: AgentSpec;
  readonly evaluator: AgentSpec;
  /** Models by name, for agents that accept one. The model of a role comes before that of a depth. */
  readonly models: {
    readonly generator: string | null;
    readonly evaluator: string | null;
    readonly depths: Readonly<Record<Depth, string | null>>;
  };
  /** The project's own checks, besides those of each story. */
  readonly checks: readonly Criterion[];
  readonly budgetUsd: number;
  readonly turnTimeoutMs: number;
  readonly checkTimeoutMs: number;
}

export type AttemptPhase = "generate" | "check" | "evaluate" | "merge";

/** Its nonce proves that a verdict was given in this turn. */
export interface AttemptJob extends Omit<Job, "kind" | "reported"> {
  readonly phase: AttemptPhase;
  /** The last PASS and the last REJECT that the evaluator gave through the tool. */
  readonly verdicts?: readonly ToolVerdict[];
}

export interface ToolVerdict {
  readonly nonce: string;
  readonly verdict: "PASS" | "REJECT";
  readonly reason: string | null;
}

/** The generator's changes, measured by the engine. */
export interface Diff {
  /** The commit before the turn. Trees are fingerprints of the files. */
  readonly sha: string | null;
  readonly treeBefore: string;
  readonly tree: string;
  readonly filesChanged: number;
  readonly files: readonly string[];
  readonly linesWritten: number;
  /** null: the agent does not report it. */
  readonly filesRead: number | null;
  /** Earlier commits are gone. */
  readonly isRewritten: boolean;
}

/** The work tree before the first attempt at the story. */
export interface Base {
  /** null: no commit yet. */
  readonly head: string | null;
  readonly branch: string | null;
  readonly tree: string | null;
}

/** What is kept of a story between its attempts. */
export interface StoryPlace {
  readonly story: string;
  /** The worktree; null: the project's own folder. */
  readonly worktree: string | null;
  readonly base: Base | null;
}

export interface Attempt {
  readonly story: string;
  readonly iteration: number;
  /** null: the attempt waits for `next`. */
  readonly job: AttemptJob | null;
  readonly next: AttemptPhase;
  readonly diff: Diff | null;
  /** By name: `<story>: <check>`, or `project: <check>`. */
  readonly evidence: Readonly<Record<string, Evidence>>;
  /** The fingerprint of the files that the evidence is about. */
  readonly checkedTree: string | null;
  readonly verdict: { readonly kind: "pass" | "reject" | "none"; readonly reason: string | null } | null;
  /** null until the generator has started. */
  readonly place: StoryPlace | null;
  readonly spent: Spent;
  /** Written by its agents, as far as they report it. */
  readonly outputTokens: number;
  /** Fallback agents that took a turn of it. */
  readonly takenBy?: readonly string[];
  /** How the processes of its last turn were found, so that they ended with it; left out: unknown. */
  readonly foundBy?: FoundBy;
}

/** The cost and the result of one attempt. */
export interface StoryReceipt
  extends Pick<Attempt, "story" | "iteration" | "spent" | "outputTokens" | "takenBy" | "foundBy"> {
  readonly outcome: "passed" | "rejected" | "failed" | "interrupted";
  readonly reason: string | null;
  readonly failure: Failure | null;
  readonly at: number;
  readonly filesChanged: number;
  /** Failing checks, for the prompt of the next attempt. */
  readonly failing: Readonly<Record<string, Evidence>>;
}

export type BacklogOutcome = "done" | "max_iterations" | "blocked" | "stopped" | "cancelled" | "error";

/** What a backlog has in common with a goal. */
type Identity = "id" | "version" | "session" | "status" | "createdAt";
type Standing = "iteration" | "jobs" | "spent" | "waitUntil" | "waitReason" | "pause" | "notice";

export interface Backlog extends Pick<Goal, Identity | Standing> {
  readonly kind: "backlog";
  readonly terms: BacklogTerms;
  /** The engine's own record. prd.json and agents can only request changes. */
  readonly stories: readonly Story[];
  readonly attempts: readonly Attempt[];
  /** Of stories that have an attempt and have not passed. */
  readonly places: readonly StoryPlace[];
  readonly receipts: readonly StoryReceipt[];
  /** Failures in a row that no story is charged for. */
  readonly freeFailures: number;
  /** A person wants the run to end after its current jobs (C12). */
  readonly isStopping: boolean;
  readonly end: { readonly outcome: BacklogOutcome; readonly reason: string; readonly at: number } | null;
}
