/** Proved, and the agent does not say that it is through (B9). */
import { ask, type GoalDecision } from "./change.ts";
import type { Goal } from "./goal.ts";

export function askUnsignalled(goal: Goal, now: number): GoalDecision {
  return ask(
    goal,
    "proved",
    "All criteria are proved, but the agent did not signal the end. Done?",
    proofLines(goal),
    now,
  );
}

/** What a person looks at before the answer. */
export function proofLines(goal: Goal): readonly string[] {
  return goal.criteria.map(({ name }) => {
    const found = goal.evidence[name];
    const mark = found?.met === true ? "✓" : "✗";
    return `${mark} ${name}${found === undefined ? "" : ` (${found.verification})`}`;
  });
}
