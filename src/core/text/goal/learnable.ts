/** B18: what comes back again and again is better known to the person than done for them. */
import type { Goal } from "../../goal/goal.ts";
import { cleanLine } from "../clean.ts";

const OFTEN = 3;

/** null: nothing has come back often enough. */
export function suggestLearnable(goal: Goal): string | null {
  const [most] = Object.entries(goal.breakers.patterns)
    .filter(([, times]) => times >= OFTEN)
    .sort(([a, timesA], [b, timesB]) => timesB - timesA || (a < b ? -1 : 1));
  if (most === undefined) return null;
  const [pattern, times] = most;
  const files = cleanLine(pattern);
  const commands = goal.criteria.flatMap(({ check }) =>
    check.kind === "command" || check.kind === "measure" ? [`Check it: ${cleanLine(check.command)}`] : [],
  );
  const steps = [
    `See what was changed each time: loop report ${goal.id}`,
    `Make the same change yourself in ${files}`,
    ...new Set(commands),
  ];
  return [
    `This is a learnable pattern: ${files} (${times} times). Want the steps to run yourself?`,
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
  ].join("\n");
}
