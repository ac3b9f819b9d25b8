/** B18: suggests that the person learns a change which comes back again and again. */
import { commandsOfChecks } from "../../checks/kinds.ts";
import type { Goal } from "../../goal/goal.ts";
import { cleanLine } from "../clean.ts";

const OFTEN = 3;

export function suggestLearnable(goal: Goal): string | null {
  const [most] = Object.entries(goal.breakers.patterns)
    .filter(([, times]) => times >= OFTEN)
    .sort(([a, timesA], [b, timesB]) => timesB - timesA || (a < b ? -1 : 1));
  if (most === undefined) return null;
  const [pattern, times] = most;
  const files = cleanLine(pattern);
  const commands = commandsOfChecks(goal.criteria).map((command) => `Check it: ${cleanLine(command)}`);
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
