/** What the owner before us left unfinished: notices, fires in flight, tasks of conversations that are over. */
import type { LoopEvent } from "../core/event.ts";
import type { Fire, LoopId, Notice, Task } from "../core/loop.ts";
import type { TurnFate } from "../ports.ts";
import type { Applied } from "./apply.ts";
import type { EngineParts } from "./parts.ts";
import type { Turns } from "./turns.ts";

/** false: the lease was lost on the way, and the rest is the next owner's. */
export async function recoverFires(
  { store, clock, self }: EngineParts,
  turns: Turns,
  token: number,
  apply: (id: LoopId, event: LoopEvent) => Promise<Applied>,
  notify: (notice: Notice) => void,
): Promise<boolean> {
  for (const task of [...store.loops()]) {
    const { fire } = task;
    if (task.session !== null && task.session !== self.owner && task.status !== "ended") {
      const applied = await apply(task.id, { type: "task.deleted", reason: "its session ended" });
      if (applied.kind === "fenced") return false;
    }
    if (task.notice !== null) {
      // Handed over twice at worst, when the owner before us died right after it.
      notify(task.notice);
      if ((await apply(task.id, { type: "task.notified" })).kind === "fenced") return false;
    }
    if (fire === null || turns.has(fire.id)) continue;
    // Intended by us in a write that seemed to fail: nobody else can have started it, and we did not.
    if (fire.token === token && task.status !== "ended") {
      turns.start(task, fire, clock.now());
      continue;
    }
    const fate = await turns.reconcile(task, fire, clock.now());
    const event = eventFor(task, fire, fate);
    if (event !== null && (await apply(task.id, event)).kind === "fenced") return false;
  }
  return true;
}

function eventFor(task: Task, fire: Fire, fate: TurnFate): LoopEvent | null {
  const fireId = fire.id;
  switch (fate.kind) {
    case "never":
      return { type: "fire.withdrawn", fireId, reason: "the runner ended before it was delivered" };
    case "lost":
      return {
        type: "fire.interrupted",
        fireId,
        reason: `the runner ended while it ran, and ${fate.reason}`,
      };
    case "running":
      return task.fire?.startedAt === null ? { type: "fire.started", fireId, process: fate.process } : null;
    case "ended":
      return null;
  }
}
