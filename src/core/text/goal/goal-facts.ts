/** Facts that several texts about a goal share. */
import { verificationOf } from "../../checks/kinds.ts";
import type { Criterion, Evidence, Goal, Verification } from "../../goal/goal.ts";

/** A person may name a criterion `constructor`. */
export function evidenceOf({ evidence }: Goal, name: string): Evidence | null {
  return Object.hasOwn(evidence, name) ? (evidence[name] ?? null) : null;
}

export function verifiedBy(goal: Goal, { name, check }: Criterion): Verification {
  return evidenceOf(goal, name)?.verification ?? verificationOf(check);
}

/** Replaced steps do not count. */
export function stepCounts({ steps }: Goal): { readonly done: number; readonly total: number } {
  const done = steps.filter(({ status }) => status === "done").length;
  return { done, total: done + steps.filter(({ status }) => status === "open").length };
}

export function currentStep({ steps }: Goal): string | null {
  return steps.find(({ status }) => status === "open")?.name ?? null;
}

/** The current or the next iteration. */
export function iterationOf(goal: Goal): string {
  return `${goal.iteration + 1}/${goal.limits.iterations}`;
}
