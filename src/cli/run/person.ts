/** Refuses commands that only a person may use, when an agent uses them inside a turn. */
import type { Goal } from "../../core/goal/goal.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { usageError } from "../../errors.ts";
import type { Store } from "../../ports/store.ts";
import { isDescendantOf } from "../../system/lineage.ts";

/** Not a security boundary: an agent with the user's rights can get around it, but does not by merely trying. */
export function refuseAgent(goal: Goal, what: string): void {
  const turn = process.env.LOOP_FIRE_ID ?? "";
  // the person typed it into the conversation of the turn
  if (process.env.LOOP_TYPED === "1" && process.env.LOOP_SESSION !== undefined) return;
  const pid = goal.job?.process?.pid;
  const isInside = turn.startsWith(`${goal.id}-`) || (pid !== undefined && isDescendantOf(pid));
  if (isInside)
    throw usageError(`Only a person can ${what}: this was called from inside a turn of goal ${goal.id}.`);
}

/** The same for commands that concern all loops of the project. */
export function refuseTurns(store: Store, what: string): void {
  for (const goal of allGoals(store)) refuseAgent(goal, what);
  const pids = [...store.loops()].flatMap((loop) =>
    loop.kind === "task" && loop.fire?.process ? loop.fire.process.pid : [],
  );
  if (process.env.LOOP_FIRE_ID || pids.some((pid) => isDescendantOf(pid)))
    throw usageError(`Only a person can ${what}: this was called from inside a turn of a loop.`);
}
