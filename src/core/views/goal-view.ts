/** A goal as other programs see it: in state.json, in `--json` and in the last line of a headless run. */

import type {
  AgentSpec,
  Criterion,
  EndStatus,
  Evidence,
  GateKind,
  Goal,
  JobKind,
  Limits,
  Pause,
  PauseCode,
  ProtectedChange,
  Receipt,
  Reversibility,
  Shape,
  Spent,
  Verdict,
  Verification,
  Workflow,
} from "../goal/goal.ts";
import { isMet } from "../goal/proof.ts";
import { currentStep, evidenceOf, verifiedBy } from "../text/goal/goal-facts.ts";
import { momentOf } from "./moment.ts";

export interface EvidenceView extends Omit<Evidence, "at" | "met" | "verification"> {
  readonly at: string | null;
}

export interface CriterionView {
  readonly met: boolean;
  readonly verification: Verification;
  readonly check: Criterion["check"];
  readonly source: Criterion["source"];
  /** null: the check has never run. */
  readonly evidence: EvidenceView | null;
}

/** The words of the seed; ours are finer, in `gate`, `pause` and `end`. */
export type StateStatus = "in_progress" | "paused" | "completed" | "cancelled" | "failed";

/** The first part has the seed's names and shape, for programs that know those. The nonce is in no part of it. */
export interface GoalView {
  readonly spec: string;
  readonly criteria: readonly string[];
  readonly criteriaStatus: Readonly<Record<string, CriterionView>>;
  readonly exit_signal: boolean;
  readonly steps: readonly string[];
  readonly completedSteps: readonly string[];
  readonly remainingSteps: readonly string[];
  readonly iteration: number;
  readonly status: StateStatus;
  readonly circuitBreaker: {
    readonly stuckCount: number;
    readonly lastUnmet: string | null;
    readonly unmet: readonly string[];
    readonly errorCount: number;
    readonly lastError: string | null;
    readonly stillCount: number;
    readonly noopCount: number;
  };

  readonly kind: "goal";
  readonly id: string;
  readonly version: number;
  readonly session: string | null;
  readonly createdAt: string | null;
  readonly score: number;
  readonly shape: Shape;
  readonly workflow: Workflow;
  readonly reversibility: Reversibility;
  readonly agent: AgentSpec;
  readonly step: string | null;
  readonly replacedSteps: readonly string[];
  readonly next: string | null;
  readonly mustNot: readonly { readonly name: string; readonly command: string | null }[];
  readonly limits: Limits;
  readonly spent: Spent;
  readonly running: { readonly id: string; readonly kind: JobKind; readonly startedAt: string | null } | null;
  readonly gate: {
    readonly kind: GateKind;
    readonly question: string;
    readonly details: readonly string[];
    readonly askedAt: string | null;
    readonly answerBy: string | null;
  } | null;
  readonly waiting: { readonly until: string | null; readonly reason: string | null } | null;
  readonly pause: {
    readonly code: PauseCode;
    readonly reason: string;
    readonly evidence: readonly string[];
    readonly goOn: string;
    readonly at: string | null;
  } | null;
  readonly end: {
    readonly status: EndStatus;
    readonly reason: string;
    readonly verdict: Verdict | null;
    readonly notes: readonly string[];
    readonly at: string | null;
  } | null;
  readonly tree: string | null;
  readonly greenBefore: readonly string[];
  readonly protectedChanges: readonly ProtectedChange[];
  readonly accepted: Goal["accepted"];
  readonly receipts: readonly Receipt[];
}

export function viewGoal(goal: Goal): GoalView {
  const named = (status: Goal["steps"][number]["status"]) =>
    goal.steps.filter((step) => step.status === status).map(({ name }) => name);
  const { breakers, job, gate, pause, end } = goal;
  return {
    spec: goal.spec,
    criteria: goal.criteria.map(({ name }) => name),
    criteriaStatus: Object.fromEntries(goal.criteria.map((each) => [each.name, viewCriterion(goal, each)])),
    exit_signal: goal.exitSignal,
    steps: goal.steps.filter(({ status }) => status !== "replaced").map(({ name }) => name),
    completedSteps: named("done"),
    remainingSteps: named("open"),
    iteration: goal.iteration,
    status: statusOf(goal),
    circuitBreaker: {
      stuckCount: breakers.stuckCount,
      lastUnmet: breakers.lastUnmet[0] ?? null,
      unmet: breakers.lastUnmet,
      errorCount: breakers.errorCount,
      lastError: breakers.lastError,
      stillCount: breakers.stillCount,
      noopCount: breakers.noopCount,
    },
    kind: "goal",
    id: goal.id,
    version: goal.version,
    session: goal.session,
    createdAt: momentOf(goal.createdAt),
    score: goal.score,
    shape: goal.shape,
    workflow: goal.workflow,
    reversibility: goal.reversibility,
    agent: goal.agent,
    step: currentStep(goal),
    replacedSteps: named("replaced"),
    next: goal.next,
    mustNot: goal.mustNot.map(({ name, command }) => ({ name, command })),
    limits: goal.limits,
    spent: goal.spent,
    running: job === null ? null : { id: job.id, kind: job.kind, startedAt: momentOf(job.startedAt) },
    gate: gate && { ...gate, askedAt: momentOf(gate.askedAt), answerBy: momentOf(gate.answerBy) },
    waiting: goal.waitUntil === null ? null : { until: momentOf(goal.waitUntil), reason: goal.waitReason },
    pause: pause && viewPause(pause),
    end: end && { ...end, at: momentOf(end.at) },
    tree: goal.tree,
    greenBefore: goal.baseline?.green ?? [],
    protectedChanges: goal.protectedChanges,
    accepted: goal.accepted,
    receipts: goal.receipts,
  };
}

function viewPause({ code, reason, evidence, goOn, at }: Pause): GoalView["pause"] {
  return { code, reason, evidence, goOn, at: momentOf(at) };
}

function viewCriterion(goal: Goal, criterion: Criterion): CriterionView {
  const found = evidenceOf(goal, criterion.name);
  const verification = verifiedBy(goal, criterion);
  const { check, source } = criterion;
  if (found === null) return { met: false, verification, check, source, evidence: null };
  const { met: _met, verification: _verification, at, ...rest } = found;
  const evidence = { ...rest, at: momentOf(at) };
  return { met: isMet(goal, criterion.name), verification, check, source, evidence };
}

function statusOf({ status, end }: Goal): StateStatus {
  if (status === "active") return "in_progress";
  if (status === "paused") return "paused";
  return end === null || end.status === "failed"
    ? "failed"
    : end.status === "done"
      ? "completed"
      : "cancelled";
}

/** What a program that started a run reads from its last line. */
export interface EndView {
  readonly type: "loop.end";
  readonly loop: string;
  readonly status: EndStatus | "paused";
  readonly reason: string;
  readonly verdict: Verdict | null;
  readonly iterations: number;
  /** null: the agent told the cost of no turn. */
  readonly costUsd: number | null;
  /** Turns of which the cost is not in it. */
  readonly unpriced: number;
  /** What of the cost is by a price table; left out: nothing. */
  readonly estimatedUsd?: number;
  readonly criteria: readonly {
    readonly name: string;
    readonly met: boolean;
    readonly verification: Verification;
    readonly evidence: {
      readonly exitCode: number | null;
      readonly at: string | null;
      readonly tree: string;
      readonly tail: string;
    } | null;
  }[];
}

export function viewEnd(goal: Goal): EndView {
  const { costUsd, unpriced, estimatedUsd } = goal.spent;
  return {
    type: "loop.end",
    loop: goal.id,
    ...standOf(goal),
    verdict: goal.end?.verdict ?? null,
    iterations: goal.iteration,
    costUsd: costUsd === 0 && unpriced > 0 ? null : costUsd,
    unpriced,
    ...(estimatedUsd === undefined ? {} : { estimatedUsd }),
    criteria: goal.criteria.map((criterion) => {
      const found = evidenceOf(goal, criterion.name);
      return {
        name: criterion.name,
        met: isMet(goal, criterion.name),
        verification: verifiedBy(goal, criterion),
        evidence: found && {
          exitCode: found.exitCode,
          at: momentOf(found.at),
          tree: found.tree,
          tail: found.tail,
        },
      };
    }),
  };
}

/** A loop that still asks or waits stands still for the program that ran it: it is no less paused than another. */
function standOf({ end, pause, gate, waitReason }: Goal): Pick<EndView, "status" | "reason"> {
  if (end !== null) return { status: end.status, reason: end.reason };
  if (pause !== null) return { status: "paused", reason: pause.reason };
  if (gate !== null)
    return { status: "paused", reason: `waits for a person (${gate.kind}): ${gate.question}` };
  return { status: "paused", reason: waitReason ?? "the run stopped before the loop ended" };
}
