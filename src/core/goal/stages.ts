/** Which stages a goal needs before it may work (B14, B21). */
import type { Criterion, GoalPolicy, Reversibility, Shape } from "./goal.ts";
import type { Stage } from "./phase.ts";

/** What the stages follow from. */
export interface Way {
  readonly needsPlan: boolean;
  readonly steps: readonly unknown[];
  readonly shape: Shape;
  readonly reversibility: Reversibility;
  readonly criteria: readonly Criterion[];
  readonly policy: Pick<GoalPolicy, "yes">;
}

export function firstStage(way: Way): Stage {
  return way.needsPlan && way.steps.length === 0 ? "planning" : stageAfterPlanning(way);
}

export function stageAfterPlanning(way: Way): Stage {
  return asksForPlan(way) ? "approval" : stageAfterApproval(way);
}

export function stageAfterApproval({ reversibility }: Pick<Way, "reversibility">): Stage {
  return reversibility === "1" ? "pre-check" : "working";
}

/** Checks that an agent proposes are a person's to accept, whatever was said beforehand. */
export function asksForPlan({ shape, policy, criteria }: Way): boolean {
  return criteria.length === 0 || (shape === "colleague" && !policy.yes);
}
