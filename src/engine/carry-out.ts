/** What a decision asks the outside to do, once it is committed. */
import type { Applied } from "./apply.ts";
import type { Notices } from "./notices.ts";
import type { EngineParts } from "./parts.ts";
import type { Crew } from "./recover.ts";

export function carryOut(
  { observe, clock }: EngineParts,
  { turns, goals, underway }: Crew,
  notices: Notices,
  { loop, effects }: Extract<Applied, { kind: "committed" }>,
  /** Why the engine is on its way out; null: it is not. */
  stopping: string | null,
): void {
  for (const effect of effects) {
    switch (effect.kind) {
      case "deliver":
        if (loop.kind !== "task" || loop.fire === null) break;
        observe({ type: "fire.intended", task: loop });
        turns.start(loop, loop.fire, clock.now());
        break;
      case "work":
        if (loop.kind !== "goal" || loop.job === null) break;
        goals?.start(loop, loop.job);
        // On the way out: recorded as interrupted, and taken again by the next owner.
        if (stopping !== null) underway.stop(loop.job.id, stopping);
        break;
      case "notify":
        notices.hand(loop.id, effect);
        break;
      case "cancel":
        underway.stop(effect.fireId, effect.reason);
        break;
    }
  }
}
