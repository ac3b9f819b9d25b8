/** Any loop by the beginning of its id. */
import type { Loop } from "../core/loop.ts";
import type { LoopStore } from "../ports/loops.ts";
import { pick } from "./tasks/tasks.ts";

/** Tasks that ended are gone; goals and backlogs that ended are still there to be seen. Throws the sentence for the person. */
export function findLoop(store: LoopStore, prefix: string): Loop {
  const loops = [...store.loops()].filter(({ kind, status }) => kind !== "task" || status !== "ended");
  const ids = loops.map(({ id }) => id);
  return loops[pick(prefix, ids, "loop")] as Loop;
}
