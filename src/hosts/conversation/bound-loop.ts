/** Which of a project's loops belong to one conversation. */
import type { Backlog } from "../../core/backlog/backlog.ts";
import { loopWakeAt } from "../../core/decide.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { isBusy } from "../../core/loop.ts";
import type { BoundLoop } from "../../core/stop/route.ts";
import type { Store } from "../../ports/store.ts";

/** Does a task fire now or at once? Then it needs the waiting hook. */
export function hasFire(store: Store, owner: string, now: number): boolean {
  return [...store.loops()].some((loop) => {
    if (loop.kind !== "task" || loop.where === "headless") return false;
    if (loop.session !== null && loop.session !== owner) return false;
    return loop.fire !== null || (loopWakeAt(loop) ?? Number.POSITIVE_INFINITY) <= now;
  });
}

/** Loops that can be bound to a conversation. */
export type Bound = Goal | Backlog;

/** Oldest first. */
export function boundable(store: Store): readonly Bound[] {
  const found = [...store.loops()].filter((loop) => loop.kind !== "task");
  return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** This conversation's active loop, or else the one that paused or ended last. */
export function boundTo(loops: readonly Bound[], owner: string): Bound | undefined {
  const own = loops.filter(({ session }) => session === owner);
  const restedAt = ({ end, pause, createdAt }: Bound) => end?.at ?? pause?.at ?? createdAt;
  return (
    own.find(({ status }) => status === "active") ?? own.sort((a, b) => restedAt(a) - restedAt(b)).at(-1)
  );
}

/** The loop of this session, or else the newest loop of the folder, in the router's form. */
export function boundLoop(loops: readonly Bound[], owner: string, session: string): BoundLoop | null {
  const loop = boundTo(loops, owner) ?? loops.at(-1);
  if (loop === undefined) return null;
  const { end } = loop;
  return {
    id: loop.id,
    session: loop.session === owner ? session : loop.session,
    status: loop.status,
    pause: loop.pause,
    end: end === null ? null : { status: "status" in end ? end.status : end.outcome, reason: end.reason },
    gate: loop.kind === "goal" ? loop.gate : null,
    waitUntil: loop.waitUntil,
    waitReason: loop.waitReason,
    isBusy: isBusy(loop),
  };
}

/** Does the loop have nothing to do now? */
export function isResting(loop: Bound, now: number): boolean {
  if (isBusy(loop)) return false;
  if (loop.status !== "active" || (loop.kind === "goal" && loop.gate !== null)) return true;
  return loop.waitUntil !== null && loop.waitUntil > now;
}
