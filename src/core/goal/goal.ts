/**
 * What a goal loop is. It runs turn after turn until checks that the engine itself runs are green. Plain data, as
 * every loop: it goes through the journal as JSON and comes back the same.
 */
import type { LoopId, Notice, ProcessRef } from "../base.ts";
import type { Criterion, EvidenceByName, MustNot, Verdict } from "../checks/check.ts";
import type { Phase } from "./phase.ts";
import type { AgentSpec, GoalPolicy, Limits } from "./terms.ts";

export type {
  Check,
  Comparison,
  Criterion,
  CriterionSource,
  Evidence,
  MustNot,
  Verdict,
  Verification,
} from "../checks/check.ts";
export type { AgentSpec, GoalPolicy, Limits } from "./terms.ts";

/** One turn or one round of checks of a goal. */
export type JobId = string & { readonly brand: "JobId" };

export type StepStatus = "open" | "done" | "replaced";

export interface Step {
  readonly name: string;
  readonly status: StepStatus;
}

export type Shape = "tool" | "colleague";
export type Workflow = "A" | "B" | "C";
export type Reversibility = "2A" | "2B" | "1";

/** What was used up. Outages and quotas cost nothing. */
export interface Spent {
  readonly costUsd: number;
  readonly tokens: number;
  /** Turns and checks, not the time that it waited for a person or a quota. */
  readonly timeMs: number;
  /** Turns of which the agent did not tell the cost. */
  readonly unpriced: number;
  /** What of the cost is by a price table, and not the agent's own figure; left out: nothing. */
  readonly estimatedUsd?: number;
}

/** How an agent's failure is dealt with follows from its class alone. */
export type FailureClass = "quota" | "auth" | "outage" | "timeout" | "denied" | "overflow" | "fault";

export interface Failure {
  readonly class: FailureClass;
  readonly reason: string;
  /** quota: when it is over, as the agent's structured event says. */
  readonly resetsAt: number | null;
}

/** What an agent says of its own work. Nothing here is a fact. */
export interface Claims {
  readonly exitSignal: boolean;
  readonly criteria: Readonly<Record<string, boolean>>;
  readonly stuckCount: number | null;
  readonly next: string | null;
  /** The plan, or the remaining steps when they turned out wrong; null: as before. */
  readonly steps: readonly string[] | null;
  /** Checks that a plan proposes, in the form of `--check`. A person accepts them. */
  readonly checks: readonly string[] | null;
  /** The step of this turn: done unless it says that it is still open. */
  readonly stepDone: boolean;
}

/** What the claims of a turn are worth. */
export type Report =
  | { readonly kind: "valid"; readonly claims: Claims }
  | { readonly kind: "void"; readonly reason: string }
  | { readonly kind: "none" };

export type JobKind = "survey" | "plan" | "precheck" | "work" | "checks";

/** What is under way. At most one per goal. */
export interface Job {
  readonly id: JobId;
  readonly kind: JobKind;
  readonly token: number;
  /** Proves that a claim was made in this very turn. */
  readonly nonce: string;
  readonly intendedAt: number;
  readonly startedAt: number | null;
  readonly process: ProcessRef | null;
  /** Reported through the tool while the turn ran. */
  readonly reported: Claims | null;
}

export type GateKind = "G1" | "G2" | "G3" | "pre-check" | "proved";

/** A question to a person. It holds nothing while it waits. */
export interface Gate {
  readonly kind: GateKind;
  readonly question: string;
  readonly details: readonly string[];
  readonly askedAt: number;
  /** When the default answer is taken; null: waits for ever. */
  readonly answerBy: number | null;
}

export type PauseCode =
  | "budget"
  | "tokens"
  | "time"
  | "iterations"
  | "breaker"
  | "must-not"
  | "integrity"
  | "forged"
  | "person"
  | "interrupted"
  | "rejected"
  | "auth"
  | "denied"
  | "failures"
  | "surroundings";

/** Why it stands still, and how to go on. */
export interface Pause {
  readonly code: PauseCode;
  readonly reason: string;
  readonly evidence: readonly string[];
  /** The command that goes on. */
  readonly goOn: string;
  /** `rejected`: by the default answer, because nobody answered in time; left out: by a person. */
  readonly unanswered?: true;
  readonly at: number;
}

export type EndStatus = "done" | "cancelled" | "failed";

export interface End {
  readonly status: EndStatus;
  readonly reason: string;
  readonly at: number;
  readonly verdict: Verdict | null;
  readonly notes: readonly string[];
}

/** A file that checks consist of, and that was changed since the start. */
export interface ProtectedChange {
  readonly path: string;
  readonly change: "added" | "changed" | "deleted";
  /** Of the content as it is now; null: deleted. What is accepted is this very content. */
  readonly hash: string | null;
  /** The criteria whose checks consist of it. */
  readonly criteria: readonly string[];
}

/** The state before any work. */
export interface Baseline {
  readonly tree: string;
  /** Digest of the list of protected files; the list itself is in the run's folder. */
  readonly protectedDigest: string;
  readonly protectedCount: number;
  /** Criteria whose check was green already. */
  readonly green: readonly string[];
  /** How many tests ran for each criterion, where the output told. */
  readonly tests?: Readonly<Record<string, number>>;
  readonly isGit: boolean;
}

/** What an iteration cost and moved. */
export interface Receipt {
  readonly iteration: number;
  readonly kind: "plan" | "precheck" | "work";
  readonly jobId: JobId;
  readonly step: string | null;
  readonly startedAt: number;
  readonly agentMs: number;
  readonly checksMs: number;
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly filesChanged: number;
  /** The first of them. */
  readonly files: readonly string[];
  readonly toolCalls: number | null;
  /** Names of criteria, with where they went: `tests ✓`, `coverage 71 → 76`. */
  readonly moved: readonly string[];
  readonly failure: Failure | null;
  /** Did it count as an iteration? */
  readonly charged: boolean;
  readonly claimedExit: boolean;
  readonly notes: readonly string[];
  /** The step of `loop rollback` that brings back the files after it. */
  readonly checkpoint: number | null;
  /** Left out: its cost is the agent's own figure. */
  readonly costFrom?: "prices";
  readonly pricesDate?: string;
  /** Left out: the agent that the goal was started with. */
  readonly takenBy?: string;
}

export interface Breakers {
  /** Times in a row that the same criteria were unmet, and which. */
  readonly stuckCount: number;
  readonly lastUnmet: readonly string[];
  readonly errorCount: number;
  readonly lastError: string | null;
  /** Iterations in a row in which no check moved. */
  readonly stillCount: number;
  /** Failures of one class in a row that cost no iteration, and which class. */
  readonly freeFailures: number;
  readonly freeClass: FailureClass | null;
  /** The file that the last turn edited most often, and how often. */
  readonly mostEdited: { readonly path: string; readonly count: number } | null;
  /** Claims of done in a row that were refused as no-ops. */
  readonly noopCount: number;
  /** Actions that came back: what, and how often. */
  readonly patterns: Readonly<Record<string, number>>;
}

export type GoalStatus = "active" | "paused" | "ended";

export interface Goal {
  readonly kind: "goal";
  readonly id: LoopId;
  readonly version: number;
  readonly session: string | null;
  readonly status: GoalStatus;
  readonly createdAt: number;
  /** What the person typed. */
  readonly spec: string;
  /** 0–10 by the rubric. */
  readonly score: number;
  readonly shape: Shape;
  readonly workflow: Workflow;
  readonly reversibility: Reversibility;
  readonly criteria: readonly Criterion[];
  readonly mustNot: readonly MustNot[];
  readonly steps: readonly Step[];
  /** Does the spec have to be taken apart by a first turn? */
  readonly needsPlan: boolean;
  /** Checks that the plan proposed and that a person has still to accept. */
  readonly proposed: readonly Criterion[];
  readonly limits: Limits;
  /** The limit of which a person was warned at 80 %, so that it is said once. */
  readonly warned: readonly string[];
  readonly spent: Spent;
  /** Iterations that counted. */
  readonly iteration: number;
  /** Jobs that were ever intended: part of the id of the next. */
  readonly jobs: number;
  readonly context: "fresh" | "continue";
  /** The agent's own name of the conversation that goes on. */
  readonly conversation: string | null;
  /** What the agent's own running total was at the end of the last turn of this conversation. */
  readonly conversationCostUsd: number;
  readonly agent: AgentSpec;
  readonly policy: GoalPolicy;
  readonly baseline: Baseline | null;
  /** Contents of protected files that a person accepted: path and hash (null: its deletion). */
  readonly accepted: readonly { readonly path: string; readonly hash: string | null }[];
  readonly protectedChanges: readonly ProtectedChange[];
  readonly evidence: EvidenceByName;
  /** Fingerprint of the files after the last round of checks. */
  readonly tree: string | null;
  /** Where it stands, and so what comes next. In `survey` there is no baseline; in every other phase there is one. */
  readonly phase: Phase;
  /** Did the agent signal the end in the last turn that counted? */
  readonly exitSignal: boolean;
  readonly next: string | null;
  readonly job: Job | null;
  readonly gate: Gate | null;
  /** Quota or outage: not before this. */
  readonly waitUntil: number | null;
  readonly waitReason: string | null;
  readonly pause: Pause | null;
  readonly end: End | null;
  readonly breakers: Breakers;
  readonly receipts: readonly Receipt[];
  /** What the next prompt has to tell: a person's answer, a refused claim, a change of a protected file. */
  readonly remarks: readonly string[];
  readonly notice: Notice | null;
}
