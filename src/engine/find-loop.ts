/** Finds a loop of any kind by the beginning of its id. */
import type { Loop } from "../core/loop.ts";
import type { LoopStore } from "../ports/loops.ts";
import { pick } from "./tasks/tasks.ts";

/** Skips ended tasks, but finds ended goals and backlogs. Throws a sentence for the person. */
export function findLoop(store: LoopStore, prefix: string): Loop {
  const loops = [...store.loops()].filter(({ kind, status }) => kind !== "task" || status !== "ended");
  const ids = loops.map(({ id }) => id);
  return loops[pick(prefix, ids, "loop")] as Loop;
}
