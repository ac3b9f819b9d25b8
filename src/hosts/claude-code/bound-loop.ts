/** What of a project's loops concerns one conversation. */
import { loopWakeAt } from "../../core/decide.ts";
import type { Goal } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import type { BoundLoop } from "../../core/stop/route.ts";
import type { Store } from "../../ports.ts";
import type { SessionRecord } from "../../store/session-records.ts";

/** A task that is being delivered, or will be at once, needs the hook that waits. */
export function hasFire(store: Store, owner: string, now: number): boolean {
  return [...store.loops()].some((loop) => {
    if (loop.kind !== "task" || loop.where === "headless") return false;
    if (loop.session !== null && loop.session !== owner) return false;
    return loop.fire !== null || (loopWakeAt(loop) ?? Number.POSITIVE_INFINITY) <= now;
  });
}

/** Does the conversation work on a task just now, and not on a goal or for the person? */
export function hasTurnOfTask(store: Store, { turn }: SessionRecord): boolean {
  return turn?.end === null && store.load(turn.loopId as LoopId)?.kind === "task";
}

/** The one of this conversation that is at work, or else the one that came to rest last. */
export function boundGoal(goals: readonly Goal[], owner: string): Goal | undefined {
  const own = goals.filter(({ session }) => session === owner);
  const restedAt = ({ end, pause, createdAt }: Goal) => end?.at ?? pause?.at ?? createdAt;
  return (
    own.find(({ status }) => status === "active") ?? own.sort((a, b) => restedAt(a) - restedAt(b)).at(-1)
  );
}

/** That of this session, or else the newest of the folder, as the router sees it. */
export function boundLoop(goals: readonly Goal[], owner: string, session: string): BoundLoop | null {
  const goal = boundGoal(goals, owner) ?? goals.at(-1);
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
