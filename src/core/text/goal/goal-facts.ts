/** What the texts about a goal tell again and again, in the same words. */
import { verificationOf } from "../../checks/kinds.ts";
import type { Criterion, Evidence, Goal, Verification } from "../../goal/goal.ts";

/** Names are anything that a person typed, `constructor` too. */
export function evidenceOf({ evidence }: Goal, name: string): Evidence | null {
  return Object.hasOwn(evidence, name) ? (evidence[name] ?? null) : null;
}

export function verifiedBy(goal: Goal, { name, check }: Criterion): Verification {
  return evidenceOf(goal, name)?.verification ?? verificationOf(check);
}

/** Steps that were replaced are neither done nor left. */
export function stepCounts({ steps }: Goal): { readonly done: number; readonly total: number } {
  const done = steps.filter(({ status }) => status === "done").length;
  return { done, total: done + steps.filter(({ status }) => status === "open").length };
}

/** The step that the next iteration does. */
export function currentStep({ steps }: Goal): string | null {
  return steps.find(({ status }) => status === "open")?.name ?? null;
}

/** The iteration that is under way, or would be next. */
export function iterationOf(goal: Goal): string {
  return `${goal.iteration + 1}/${goal.limits.iterations}`;
}
