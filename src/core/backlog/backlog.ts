/**
 * What a backlog loop is: stories done one after another, or some at a time, each by a generator, judged by an
 * evaluator, and proved by checks that neither of them runs. Plain data, as every loop.
 */
import type { LoopId, Notice, ProcessRef } from "../base.ts";
import type { AgentSpec, Criterion, Evidence, Failure, JobId, Pause, Spent } from "../goal/goal.ts";
import type { Depth, Story } from "./stories.ts";

export type Mode = "explore" | "implement" | "fix";

export interface ScopeBudget {
  readonly maxFilesToRead: number;
  readonly maxLinesToWrite: number;
  readonly maxFilesToModify: number;
}

/** What a person agreed to when the run was started. */
export interface BacklogTerms {
  readonly mode: Mode;
  readonly maxIterations: number;
  readonly branchPrefix: string;
  /** The branch that parallel work is merged into; null: there is none. */
  readonly target: string | null;
  /** A story that was rejected so often is blocked. */
  readonly evalRetries: number;
  readonly skipEval: boolean;
  /** Stories at a time; more than one: each in a worktree of its own. */
  readonly parallel: number;
  /** Only this story; null: all. */
  readonly only: string | null;
  readonly scope: ScopeBudget;
  readonly generator: AgentSpec;
  readonly evaluator: AgentSpec;
  /** Models by name, where the agent can be told: of a role, or else of a depth. */
  readonly models: {
    readonly generator: string | null;
    readonly evaluator: string | null;
    readonly depths: Readonly<Record<Depth, string | null>>;
  };
  /** The project's own, beside those of each story. */
  readonly checks: readonly Criterion[];
  readonly budgetUsd: number;
  readonly turnTimeoutMs: number;
  readonly checkTimeoutMs: number;
}

export type AttemptPhase = "generate" | "check" | "evaluate" | "merge";

/** What is under way for a story. */
export interface AttemptJob {
  readonly id: JobId;
  readonly phase: AttemptPhase;
  readonly token: number;
  /** Proves that a verdict was given in this very turn. */
  readonly nonce: string;
  readonly intendedAt: number;
  readonly startedAt: number | null;
  readonly process: ProcessRef | null;
  /** Of an evaluator: what it has said through the tool, the last PASS and the last REJECT; left out: nothing. */
  readonly verdicts?: readonly ToolVerdict[];
}

/** A verdict as structured data. */
export interface ToolVerdict {
  readonly nonce: string;
  readonly verdict: "PASS" | "REJECT";
  readonly reason: string | null;
}

/** What the generator left behind, as the engine found it. */
export interface Diff {
  /** The commit before it, and the fingerprint of the files. */
  readonly sha: string | null;
  readonly treeBefore: string;
  readonly tree: string;
  readonly filesChanged: number;
  readonly files: readonly string[];
  readonly linesWritten: number;
  /** null: the agent does not tell. */
  readonly filesRead: number | null;
  /** Commits that were there before it are not any more. */
  readonly isRewritten: boolean;
}

/** Where the work tree stood before anything was done for the story. */
export interface Base {
  /** null: there was no commit yet. */
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
  /** null: it waits, and `next` is what it waits for. */
  readonly job: AttemptJob | null;
  readonly next: AttemptPhase;
  readonly diff: Diff | null;
  /** By name: `<story>: <check>`, or `project: <check>`. */
  readonly evidence: Readonly<Record<string, Evidence>>;
  /** The files that the evidence is of. */
  readonly checkedTree: string | null;
  /** What the evaluator says. */
  readonly verdict: { readonly kind: "pass" | "reject" | "none"; readonly reason: string | null } | null;
  /** Where it works: null until the generator has begun. */
  readonly place: StoryPlace | null;
  readonly spent: Spent;
  /** Written by its agents, where they tell. */
  readonly outputTokens: number;
  /** Agents that took a turn of it in the place of others. */
  readonly takenBy?: readonly string[];
}

/** What one attempt cost and came to. */
export interface StoryReceipt {
  readonly story: string;
  readonly iteration: number;
  readonly outcome: "passed" | "rejected" | "failed" | "interrupted";
  readonly reason: string | null;
  readonly failure: Failure | null;
  readonly at: number;
  readonly spent: Spent;
  readonly outputTokens: number;
  readonly filesChanged: number;
  /** What was red, for the prompt of the next attempt. */
  readonly failing: Readonly<Record<string, Evidence>>;
  readonly takenBy?: readonly string[];
}

/** How a run ended. */
export type BacklogOutcome = "done" | "max_iterations" | "blocked" | "stopped" | "cancelled" | "error";

export interface BacklogEnd {
  readonly outcome: BacklogOutcome;
  readonly reason: string;
  readonly at: number;
}

export type BacklogStatus = "active" | "paused" | "ended";

export interface Backlog {
  readonly kind: "backlog";
  readonly id: LoopId;
  readonly version: number;
  readonly session: string | null;
  readonly status: BacklogStatus;
  readonly createdAt: number;
  readonly terms: BacklogTerms;
  /** As the engine knows them: what a file or an agent says of them is a request at most. */
  readonly stories: readonly Story[];
  readonly attempts: readonly Attempt[];
  /** Of stories that were begun and have not passed. */
  readonly places: readonly StoryPlace[];
  readonly iteration: number;
  /** Jobs that were ever intended: part of the id of the next. */
  readonly jobs: number;
  readonly spent: Spent;
  readonly receipts: readonly StoryReceipt[];
  /** Failures in a row that cost no story an attempt. */
  readonly freeFailures: number;
  readonly waitUntil: number | null;
  readonly waitReason: string | null;
  /** A person wants it to end after what is under way (C12). */
  readonly isStopping: boolean;
  readonly pause: Pause | null;
  readonly end: BacklogEnd | null;
  readonly notice: Notice | null;
}
