import { backlogWakeAt, decideBacklog } from "./backlog/decide-backlog.ts";
import type { BacklogEvent } from "./backlog/event.ts";
import { UNCHANGED } from "./decision.ts";
import type { Decision, LoopEvent, TaskEvent } from "./event.ts";
import { decideGoal } from "./goal/decide-goal.ts";
import type { GoalEvent } from "./goal/event.ts";
import { goalWakeAt } from "./goal/next.ts";
import type { Loop } from "./loop.ts";
import { decideTask } from "./task/decide-task.ts";
import { wakeAt } from "./task/slots.ts";

/** The one decision function: the same in a resident runner, a hook, a host extension and a fleet worker. */
export function decide<L extends Loop>(loop: L, event: LoopEvent, now: number): Decision<L>;
export function decide(loop: Loop, event: LoopEvent, now: number): Decision {
  // An event of another kind belongs to an earlier loop with the same id.
  switch (loop.kind) {
    case "task":
      return isOf<TaskEvent>(event, "task.", "fire.") ? decideTask(loop, event, now) : UNCHANGED;
    case "goal":
      return isOf<GoalEvent>(event, "goal.", "job.") ? decideGoal(loop, event, now) : UNCHANGED;
    case "backlog":
      return isOf<BacklogEvent>(event, "backlog.", "attempt.") ? decideBacklog(loop, event, now) : UNCHANGED;
  }
}

/** When the loop is due; null: only after another event. */
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

function isOf<E extends LoopEvent>(event: LoopEvent, ...prefixes: readonly string[]): event is E {
  return prefixes.some((prefix) => event.type.startsWith(prefix));
}
