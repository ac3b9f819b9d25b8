import type { Decision, LoopEvent, TaskEvent } from "./event.ts";
import { decideGoal } from "./goal/decide-goal.ts";
import type { GoalEvent } from "./goal/event.ts";
import { goalWakeAt } from "./goal/next.ts";
import type { Loop } from "./loop.ts";
import { decideTask } from "./task/decide-task.ts";
import { wakeAt } from "./task/slots.ts";

/** The one decision: the same in a resident runner, a hook, a host extension and a fleet worker. */
export function decide<L extends Loop>(loop: L, event: LoopEvent, now: number): Decision<L>;
export function decide(loop: Loop, event: LoopEvent, now: number): Decision {
  // An event of another kind of loop is late news of one that had the same id.
  if (loop.kind === "task") return isGoalEvent(event) ? { kind: "none" } : decideTask(loop, event, now);
  return isGoalEvent(event) ? decideGoal(loop, event, now) : { kind: "none" };
}

/** When an owner has to look at the loop again; null: not before something happens to it. */
export function loopWakeAt(loop: Loop): number | null {
  return loop.kind === "task" ? wakeAt(loop) : goalWakeAt(loop);
}

function isGoalEvent(event: TaskEvent | GoalEvent): event is GoalEvent {
  return event.type.startsWith("goal.") || event.type.startsWith("job.");
}
