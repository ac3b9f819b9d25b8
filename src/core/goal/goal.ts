/** A goal: a loop that takes turns until the checks are green. The engine runs the checks. Plain JSON data. */
import type { FoundBy, LoopId, Notice, ProcessRef, Usage } from "../base.ts";
import type { Criterion, EvidenceByName, MustNot, Verdict } from "../checks/check.ts";
import type { Phase } from "./phase.ts";

export type * from "../checks/check.ts";

export type JobId = string & { readonly brand: "JobId" };

export type StepStatus = "open" | "done" | "replaced";

export interface Step {
  readonly name: string;
  readonly status: StepStatus;
}

export type Shape = "tool" | "colleague";
export type Workflow = "A" | "B" | "C";
export type Reversibility = "2A" | "2B" | "1";

/** Outages and quotas cost nothing. */
export interface Spent {
  readonly costUsd: number;
  readonly tokens: number;
  /** Time of turns and checks, without waiting for a person or a quota. */
  readonly timeMs: number;
  /** Turns whose cost the agent did not report. */
  readonly unpriced: number;
  /** The part of the cost that comes from a price table; left out: nothing. */
  readonly estimatedUsd?: number;
}

/** The class alone decides how a failure is handled. */
export type FailureClass = "quota" | "auth" | "outage" | "timeout" | "denied" | "overflow" | "fault";

export interface Failure {
  readonly class: FailureClass;
  readonly reason: string;
  /** For `quota`: the end of the quota, from the agent's structured event. */
  readonly resetsAt: number | null;
}

/** What an agent says about its own work. Nothing here is a fact. */
export interface Claims {
  readonly exitSignal: boolean;
  readonly criteria: Readonly<Record<string, boolean>>;
  readonly stuckCount: number | null;
  readonly next: string | null;
  /** The plan, or the new remaining steps; null: as before. */
  readonly steps: readonly string[] | null;
  /** Checks that a plan proposes, written as for `--check`. A person must accept them. */
  readonly checks: readonly string[] | null;
  readonly stepDone: boolean;
}

export type Report =
  | { readonly kind: "valid"; readonly claims: Claims }
  | { readonly kind: "void"; readonly reason: string }
  | { readonly kind: "none" };

export type JobKind = "survey" | "plan" | "precheck" | "work" | "checks";

/** A running turn or round of checks. At most one per goal. */
export interface Job {
  readonly id: JobId;
  readonly kind: JobKind;
  readonly token: number;
  /** Proves that a claim was made in this turn. */
  readonly nonce: string;
  readonly intendedAt: number;
  readonly startedAt: number | null;
  readonly process: ProcessRef | null;
  /** Claims that the agent reported through the tool during the turn. */
  readonly reported: Claims | null;
}

export type GateKind = "G1" | "G2" | "G3" | "pre-check" | "proved";

/** A question to a person. */
export interface Gate {
  readonly kind: GateKind;
  readonly question: string;
  readonly details: readonly string[];
  readonly askedAt: number;
  /** When the default answer counts; null: never. */
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

export interface Pause {
  readonly code: PauseCode;
  readonly reason: string;
  readonly evidence: readonly string[];
  /** The command that continues the loop. */
  readonly goOn: string;
  /** For `rejected`: nobody answered in time, so the default answer counted; left out: a person rejected. */
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

/** A file that checks depend on and that changed since the start. */
export interface ProtectedChange {
  readonly path: string;
  readonly change: "added" | "changed" | "deleted";
  /** Hash of the current content; null: deleted. A person accepts exactly this content. */
  readonly hash: string | null;
  /** The criteria whose checks depend on the file. */
  readonly criteria: readonly string[];
}

/** The state of the project before any work. */
export interface Baseline {
  readonly tree: string;
  /** Digest of the list of protected files. The list is in the run folder. */
  readonly protectedDigest: string;
  readonly protectedCount: number;
  /** Criteria whose check was already green. */
  readonly green: readonly string[];
  /** How many tests ran per criterion, if the output says so. */
  readonly tests?: Readonly<Record<string, number>>;
  readonly isGit: boolean;
}

/** What a turn cost and changed. */
export interface Receipt
  extends Pick<Usage, "costUsd" | "inputTokens" | "outputTokens" | "costFrom" | "pricesDate"> {
  readonly iteration: number;
  readonly kind: "plan" | "precheck" | "work";
  readonly jobId: JobId;
  readonly step: string | null;
  readonly startedAt: number;
  readonly agentMs: number;
  readonly checksMs: number;
  readonly filesChanged: number;
  readonly files: readonly string[];
  readonly toolCalls: number | null;
  /** Criteria that changed: `tests ✓`, `coverage 71 → 76`. */
  readonly moved: readonly string[];
  readonly failure: Failure | null;
  /** Whether the turn counts as an iteration. */
  readonly charged: boolean;
  readonly claimedExit: boolean;
  readonly notes: readonly string[];
  /** The number for `loop rollback` that restores the files after this turn. */
  readonly checkpoint: number | null;
  /** The agent that took the turn; left out: the agent of the goal. */
  readonly takenBy?: string;
  /** How its processes were found, so that they ended with the turn; left out: unknown. */
  readonly foundBy?: FoundBy;
}

export interface Breakers {
  /** How often in a row the same criteria were unmet. */
  readonly stuckCount: number;
  readonly lastUnmet: readonly string[];
  readonly errorCount: number;
  readonly lastError: string | null;
  /** Iterations in a row without a change in any check. */
  readonly stillCount: number;
  /** Failures of one class in a row that cost no iteration. */
  readonly freeFailures: number;
  readonly freeClass: FailureClass | null;
  /** The file that the last turn edited most often. */
  readonly mostEdited: { readonly path: string; readonly count: number } | null;
  /** Claims in a row that were refused because nothing was done. */
  readonly noopCount: number;
  /** How often turns changed the same few files. */
  readonly patterns: Readonly<Record<string, number>>;
}

export interface Limits {
  readonly budgetUsd: number;
  readonly iterations: number;
  readonly timeMs: number | null;
  readonly tokens: number | null;
}

export type AgentSpec =
  | SingleAgentSpec
  /** The next agent takes the turn when a quota or an outage stops the agents before it. */
  | { readonly kind: "chain"; readonly agents: readonly SingleAgentSpec[] };

export type SingleAgentSpec =
  /** `codex`, or `codex:acp` to choose the driver. */
  | { readonly kind: "named"; readonly name: string }
  /** A command that reads the prompt from stdin. */
  | { readonly kind: "command"; readonly command: string }
  /** A command that speaks the Agent Client Protocol on stdin and stdout. */
  | { readonly kind: "acp"; readonly command: string };

export interface GoalPolicy {
  /** Skip the gates. */
  readonly yes: boolean;
  readonly exitOn: "both" | "proof";
  readonly gateTimeoutMs: number | null;
  readonly gateDefault: "approve" | "reject";
  readonly turnTimeoutMs: number;
  readonly checkTimeoutMs: number;
  /** Breaker: this many iterations without a change in any check. */
  readonly stillLimit: number;
  readonly protect: readonly string[];
  readonly allowChanges: readonly string[];
}

export type GoalStatus = "active" | "paused" | "ended";

/** What a person starts a goal with. */
export interface GoalTerms {
  readonly id: LoopId;
  readonly session: string | null;
  readonly spec: string;
  /** Clarity of the spec, 0–10. */
  readonly score: number;
  readonly shape: Shape;
  readonly workflow: Workflow;
  readonly reversibility: Reversibility;
  readonly criteria: readonly Criterion[];
  readonly mustNot: readonly MustNot[];
  /** Whether the first turn plans the steps. */
  readonly needsPlan: boolean;
  readonly limits: Limits;
  readonly context: "fresh" | "continue";
  readonly agent: AgentSpec;
  readonly policy: GoalPolicy;
}

export interface Goal extends GoalTerms {
  readonly kind: "goal";
  readonly version: number;
  readonly status: GoalStatus;
  readonly createdAt: number;
  readonly steps: readonly Step[];
  /** Checks of the plan that a person has not accepted yet. */
  readonly proposed: readonly Criterion[];
  /** Limits that already caused a warning at 80 %. */
  readonly warned: readonly string[];
  readonly spent: Spent;
  readonly iteration: number;
  /** Number of jobs so far. It is part of the next job's id. */
  readonly jobs: number;
  /** The agent's id of the conversation that continues. */
  readonly conversation: string | null;
  /** The agent's running total at the end of the last turn of this conversation. */
  readonly conversationCostUsd: number;
  readonly baseline: Baseline | null;
  /** Changes to protected files that a person accepted; hash null: the deletion. */
  readonly accepted: readonly Pick<ProtectedChange, "path" | "hash">[];
  readonly protectedChanges: readonly ProtectedChange[];
  readonly evidence: EvidenceByName;
  /** Fingerprint of the files after the last round of checks. */
  readonly tree: string | null;
  /** The phase decides what comes next. Only in `survey` is there no baseline. */
  readonly phase: Phase;
  /** Whether the agent signalled the end in the last counted turn. */
  readonly exitSignal: boolean;
  readonly next: string | null;
  readonly job: Job | null;
  readonly gate: Gate | null;
  /** No turn before this time, because of a quota or an outage. */
  readonly waitUntil: number | null;
  readonly waitReason: string | null;
  readonly pause: Pause | null;
  readonly end: End | null;
  readonly breakers: Breakers;
  readonly receipts: readonly Receipt[];
  /** Remarks for the next prompt: a person's answer, a refused claim, a changed protected file. */
  readonly remarks: readonly string[];
  readonly notice: Notice | null;
}
