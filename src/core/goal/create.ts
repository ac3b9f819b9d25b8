/** A goal as a person asked for it, before anything was done. */
import type { Change } from "../event.ts";
import type { LoopId } from "../loop.ts";
import { NO_BREAKERS } from "./breakers.ts";
import type {
  AgentSpec,
  Criterion,
  Goal,
  GoalPolicy,
  Limits,
  MustNot,
  Reversibility,
  Shape,
  Workflow,
} from "./goal.ts";

export interface GoalDraft {
  readonly id: LoopId;
  readonly session: string | null;
  readonly spec: string;
  readonly score: number;
  readonly shape: Shape;
  readonly workflow: Workflow;
  readonly reversibility: Reversibility;
  readonly criteria: readonly Criterion[];
  readonly mustNot: readonly MustNot[];
  readonly steps: readonly string[];
  readonly needsPlan: boolean;
  readonly limits: Limits;
  readonly context: "fresh" | "continue";
  readonly agent: AgentSpec;
  readonly policy: GoalPolicy;
}

export function createGoal(draft: GoalDraft, now: number): Change<Goal> {
  const loop: Goal = {
    ...draft,
    kind: "goal",
    version: 1,
    status: "active",
    createdAt: now,
    steps: draft.steps.map((name) => ({ name, status: "open" })),
    proposed: [],
    warned: [],
    spent: { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 },
    iteration: 0,
    jobs: 0,
    conversation: null,
    conversationCostUsd: 0,
    baseline: null,
    accepted: [],
    protectedChanges: [],
    evidence: {},
    tree: null,
    approved: !asksFirst(draft),
    prechecked: draft.reversibility !== "1",
    unchecked: false,
    uncounted: false,
    exitSignal: false,
    confirmed: false,
    provedTree: null,
    next: null,
    job: null,
    gate: null,
    waitUntil: null,
    waitReason: null,
    pause: null,
    end: null,
    breakers: NO_BREAKERS,
    receipts: [],
    remarks: [],
    notice: null,
  };
  return { loop, effects: [], outcomes: [] };
}

/** Checks that an agent proposes are a person's to accept, whatever was said beforehand. */
function asksFirst({ shape, policy, criteria }: GoalDraft): boolean {
  return criteria.length === 0 || (shape === "colleague" && !policy.yes);
}
