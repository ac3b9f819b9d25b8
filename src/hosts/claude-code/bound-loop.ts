/** What of a project's loops concerns one conversation. */
import type { Goal } from "../../core/goal/goal.ts";
import type { BoundLoop } from "../../core/stop/route.ts";
import type { Store } from "../../ports.ts";

/** A task that is being delivered needs the hook that waits. */
export function hasFire(store: Store, owner: string): boolean {
  const isOurs = (session: string | null) => session === null || session === owner;
  return [...store.loops()].some(
    (loop) => loop.kind === "task" && loop.fire !== null && isOurs(loop.session),
  );
}

/** The newest of this session, or else of the folder, as the router sees it. */
export function boundLoop(goals: readonly Goal[], owner: string, session: string): BoundLoop | null {
  const goal = goals.findLast((each) => each.session === owner) ?? goals.at(-1);
  if (goal === undefined) return null;
  return {
    id: goal.id,
    session: goal.session === owner ? session : goal.session,
    status: goal.status,
    pause: goal.pause,
    end: goal.end,
    gate: goal.gate,
    waitUntil: goal.waitUntil,
    waitReason: goal.waitReason,
    isBusy: goal.job !== null,
  };
}
