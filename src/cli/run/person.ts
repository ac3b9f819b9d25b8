/** Is it a person who says this? */
import type { Goal } from "../../core/goal/goal.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { usageError } from "../../errors.ts";
import type { Store } from "../../ports/store.ts";
import { isDescendantOf } from "../../system/lineage.ts";

/**
 * What only a person may say is not taken from the turn itself. An agent that has this user's rights can always
 * find a way around; one that merely tries the command does not get through.
 */
export function refuseAgent(goal: Goal, what: string): void {
  const turn = process.env.LOOP_FIRE_ID ?? "";
  // typed by the person into the conversation that the turn runs in
  if (process.env.LOOP_TYPED === "1" && process.env.LOOP_SESSION !== undefined) return;
  const pid = goal.job?.process?.pid;
  const isInside = turn.startsWith(`${goal.id}-`) || (pid !== undefined && isDescendantOf(pid));
  if (isInside)
    throw usageError(`Only a person can ${what}: this was called from inside a turn of goal ${goal.id}.`);
}

/** The same for what concerns all loops of the project: not from inside a turn of any of them. */
export function refuseTurns(store: Store, what: string): void {
  for (const goal of allGoals(store)) refuseAgent(goal, what);
  const pids = [...store.loops()].flatMap((loop) =>
    loop.kind === "task" && loop.fire?.process ? loop.fire.process.pid : [],
  );
  if (process.env.LOOP_FIRE_ID || pids.some((pid) => isDescendantOf(pid)))
    throw usageError(`Only a person can ${what}: this was called from inside a turn of a loop.`);
}
