/** For worlds that hold tasks only: a goal in one of them is a fault of the test. */
import type { Loop, Task } from "../../src/core/loop.ts";

export function asTask(loop: Loop): Task;
export function asTask(loop: Loop | undefined): Task | undefined;
export function asTask(loop: Loop | undefined): Task | undefined {
  if (loop?.kind === "goal" || loop?.kind === "backlog") throw new Error(`${loop.id} is a ${loop.kind}`);
  return loop;
}

export function asTasks(loops: Iterable<Loop>): Task[] {
  return Array.from(loops, (loop) => asTask(loop));
}
