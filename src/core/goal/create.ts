/** Creates a goal from what a person asked for. */
import type { LoopChange } from "../event.ts";
import { NO_BREAKERS } from "./breakers.ts";
import type { Goal, GoalTerms } from "./goal.ts";
import { firstStage } from "./stages.ts";

export interface GoalDraft extends GoalTerms {
  readonly steps: readonly string[];
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
