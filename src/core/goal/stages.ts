/** Which stages a goal needs before it may work (B14, B21). */
import type { Goal, GoalTerms } from "./goal.ts";
import type { Stage } from "./phase.ts";

interface Needs extends GoalTerms {
  readonly steps: readonly unknown[];
}

export function firstStage(goal: Needs): Stage {
  return goal.needsPlan && goal.steps.length === 0 ? "planning" : stageAfterPlanning(goal);
}

export function stageAfterPlanning(goal: Needs): Stage {
  return asksForPlan(goal) ? "approval" : stageAfterApproval(goal);
}

export function stageAfterApproval({ reversibility }: Pick<Goal, "reversibility">): Stage {
  return reversibility === "1" ? "pre-check" : "working";
}

/** A person must accept checks that an agent proposes, even with `--yes`. */
export function asksForPlan({ shape, policy, criteria }: Needs): boolean {
  return criteria.length === 0 || (shape === "colleague" && !policy.yes);
}
