import type { Decision, LoopEvent } from "./event.ts";
import type { Loop } from "./loop.ts";
import { decideTask } from "./task/decide-task.ts";

/** The one decision: the same in a resident runner, a hook, a host extension and a fleet worker. */
export function decide(loop: Loop, event: LoopEvent, now: number): Decision {
  switch (loop.kind) {
    case "task":
      return decideTask(loop, event, now);
  }
}
