/** A goal as a person asked for it, before anything was done. */
import type { LoopChange } from "../event.ts";
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
import { firstStage } from "./stages.ts";

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

export function createGoal(draft: GoalDraft, now: number): LoopChange<Goal> {
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
    phase: { kind: "survey", next: firstStage(draft) },
    exitSignal: false,
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
