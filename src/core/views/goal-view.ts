/** A goal as other programs see it: in state.json, in `--json` and in the last line of a headless run. */
import { knownCost } from "../cost/usage.ts";
import type { Criterion, End, Evidence, Gate, Goal, Job, Pause, Verification } from "../goal/goal.ts";
import { isMet } from "../goal/proof.ts";
import { currentStep, evidenceOf, verifiedBy } from "../text/goal/goal-facts.ts";
import { momentOf } from "./moment.ts";

interface EvidenceView extends Omit<Evidence, "at" | "met" | "verification"> {
  readonly at: string | null;
}

/** A criterion and how far it is proved. */
interface Proof {
  readonly met: boolean;
  readonly verification: Verification;
  /** null: the check has never run. */
  readonly evidence: EvidenceView | null;
}

export interface NamedProof extends Proof {
  readonly name: string;
}

interface CriterionView extends Proof, Pick<Criterion, "check" | "source"> {}

interface PauseView extends Omit<Pause, "at" | "unanswered"> {
  readonly at: string | null;
}

/** The published words. `gate`, `pause` and `end` say more. */
type StateStatus = "in_progress" | "paused" | "completed" | "cancelled" | "failed";

/** Fields that a view has in common with its goal. */
type Identity = "kind" | "id" | "version" | "session";
type Terms = "spec" | "score" | "shape" | "workflow" | "reversibility";
type Standing = "iteration" | "agent" | "next" | "limits" | "spent" | "tree" | "accepted" | "receipts";

/** The first fields that `viewGoal` writes have the published shape of state.json. The nonce is not public. */
export interface GoalView extends Pick<Goal, Identity | Terms | Standing | "protectedChanges"> {
  readonly criteria: readonly string[];
  readonly criteriaStatus: Readonly<Record<string, CriterionView>>;
  readonly exit_signal: boolean;
  readonly steps: readonly string[];
  readonly completedSteps: readonly string[];
  readonly remainingSteps: readonly string[];
  readonly status: StateStatus;
  readonly circuitBreaker: Pick<
    Goal["breakers"],
    "stuckCount" | "errorCount" | "lastError" | "stillCount" | "noopCount"
  > & { readonly lastUnmet: string | null; readonly unmet: readonly string[] };
  readonly createdAt: string | null;
  readonly step: string | null;
  readonly replacedSteps: readonly string[];
  readonly mustNot: readonly { readonly name: string; readonly command: string | null }[];
  readonly running: (Pick<Job, "kind"> & { readonly id: string; readonly startedAt: string | null }) | null;
  readonly gate:
    | (Omit<Gate, "askedAt" | "answerBy"> & {
        readonly askedAt: string | null;
        readonly answerBy: string | null;
      })
    | null;
  readonly waiting: { readonly until: string | null; readonly reason: string | null } | null;
  readonly pause: PauseView | null;
  readonly end: (Omit<End, "at"> & { readonly at: string | null }) | null;
  readonly greenBefore: readonly string[];
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
    waiting: viewWaiting(goal),
    pause: pause && viewPause(pause),
    end: end && { ...end, at: momentOf(end.at) },
    tree: goal.tree,
    greenBefore: goal.baseline?.green ?? [],
    protectedChanges: goal.protectedChanges,
    accepted: goal.accepted,
    receipts: goal.receipts,
  };
}

export function viewWaiting(loop: Pick<Goal, "waitUntil" | "waitReason">): GoalView["waiting"] {
  return loop.waitUntil === null ? null : { until: momentOf(loop.waitUntil), reason: loop.waitReason };
}

export function viewPause({ code, reason, evidence, goOn, at }: Pause): PauseView {
  return { code, reason, evidence, goOn, at: momentOf(at) };
}

function viewCriterion(goal: Goal, criterion: Criterion): CriterionView {
  const found = evidenceOf(goal, criterion.name);
  const verification = verifiedBy(goal, criterion);
  const { check, source } = criterion;
  if (found === null) return { met: false, verification, check, source, evidence: null };
  return { met: isMet(goal, criterion.name), verification, check, source, evidence: viewEvidence(found) };
}

export function viewEvidence({ met: _met, verification: _by, at, ...rest }: Evidence): EvidenceView {
  return { ...rest, at: momentOf(at) };
}

export function proofsOf(goal: Goal): readonly NamedProof[] {
  return goal.criteria.map((criterion) => {
    const { met, verification, evidence } = viewCriterion(goal, criterion);
    return { name: criterion.name, met, verification, evidence };
  });
}

function statusOf({ status, end }: Goal): StateStatus {
  if (status === "active") return "in_progress";
  if (status === "paused") return "paused";
  return end === null ? "failed" : end.status === "done" ? "completed" : end.status;
}

/** The last line of a headless run. */
export interface EndView extends Pick<Goal["spent"], "unpriced" | "estimatedUsd"> {
  readonly type: "loop.end";
  readonly loop: string;
  readonly status: End["status"] | "paused";
  readonly reason: string;
  readonly verdict: End["verdict"];
  readonly iterations: number;
  /** null: the agent reported no cost. */
  readonly costUsd: number | null;
  readonly criteria: readonly (Omit<NamedProof, "evidence"> & {
    readonly evidence: Pick<EvidenceView, "exitCode" | "at" | "tree" | "tail"> | null;
  })[];
}

export function viewEnd(goal: Goal): EndView {
  const { unpriced, estimatedUsd } = goal.spent;
  return {
    type: "loop.end",
    loop: goal.id,
    ...standOf(goal),
    verdict: goal.end?.verdict ?? null,
    iterations: goal.iteration,
    costUsd: knownCost(goal.spent),
    unpriced,
    ...(estimatedUsd === undefined ? {} : { estimatedUsd }),
    criteria: proofsOf(goal).map(({ evidence, ...proof }) => {
      if (evidence === null) return { ...proof, evidence };
      const { exitCode, at, tree, tail } = evidence;
      return { ...proof, evidence: { exitCode, at, tree, tail } };
    }),
  };
}

/** For the program that started the run, a loop that asks or waits is paused. */
function standOf({ end, pause, gate, waitReason }: Goal): Pick<EndView, "status" | "reason"> {
  if (end !== null) return { status: end.status, reason: end.reason };
  if (pause !== null) return { status: "paused", reason: pause.reason };
  if (gate !== null)
    return { status: "paused", reason: `waits for a person (${gate.kind}): ${gate.question}` };
  return { status: "paused", reason: waitReason ?? "the run stopped before the loop ended" };
}
