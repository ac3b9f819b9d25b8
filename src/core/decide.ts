import { backlogWakeAt, decideBacklog } from "./backlog/decide-backlog.ts";
import type { BacklogEvent } from "./backlog/event.ts";
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
  switch (loop.kind) {
    case "task":
      return isTaskEvent(event) ? decideTask(loop, event, now) : { kind: "none" };
    case "goal":
      return isGoalEvent(event) ? decideGoal(loop, event, now) : { kind: "none" };
    case "backlog":
      return isBacklogEvent(event) ? decideBacklog(loop, event, now) : { kind: "none" };
  }
}

/** When an owner has to look at the loop again; null: not before something happens to it. */
export function loopWakeAt(loop: Loop): number | null {
  switch (loop.kind) {
    case "task":
      return wakeAt(loop);
    case "goal":
      return goalWakeAt(loop);
    case "backlog":
      return backlogWakeAt(loop);
  }
}

function isTaskEvent(event: LoopEvent): event is TaskEvent {
  return event.type.startsWith("task.") || event.type.startsWith("fire.");
}

function isGoalEvent(event: LoopEvent): event is GoalEvent {
  return event.type.startsWith("goal.") || event.type.startsWith("job.");
}

function isBacklogEvent(event: LoopEvent): event is BacklogEvent {
  return event.type.startsWith("backlog.") || event.type.startsWith("attempt.");
}
