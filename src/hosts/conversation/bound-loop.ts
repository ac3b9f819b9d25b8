/** What of a project's loops concerns one conversation. */

import type { Backlog } from "../../core/backlog/backlog.ts";
import { loopWakeAt } from "../../core/decide.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { isBusy, type LoopId } from "../../core/loop.ts";
import type { BoundLoop } from "../../core/stop/route.ts";
import { request } from "../../engine/tasks/tasks.ts";
import type { SessionRecord } from "../../ports/sessions.ts";
import type { Store } from "../../ports/store.ts";

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

/** What can be bound to a conversation: it goes on turn after turn. */
export type Bound = Goal | Backlog;

/** Oldest first. */
export function boundable(store: Store): readonly Bound[] {
  const found = [...store.loops()].filter((loop) => loop.kind !== "task");
  return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** The one of this conversation that is at work, or else the one that came to rest last. */
export function boundTo(loops: readonly Bound[], owner: string): Bound | undefined {
  const own = loops.filter(({ session }) => session === owner);
  const restedAt = ({ end, pause, createdAt }: Bound) => end?.at ?? pause?.at ?? createdAt;
  return (
    own.find(({ status }) => status === "active") ?? own.sort((a, b) => restedAt(a) - restedAt(b)).at(-1)
  );
}

/** That of this session, or else the newest of the folder, as the router sees it. */
export function boundLoop(loops: readonly Bound[], owner: string, session: string): BoundLoop | null {
  const loop = boundTo(loops, owner) ?? loops.at(-1);
  if (loop === undefined) return null;
  return {
    id: loop.id,
    session: loop.session === owner ? session : loop.session,
    status: loop.status,
    pause: loop.pause,
    end: loop.end === null ? null : { status: statusOf(loop.end), reason: loop.end.reason },
    gate: loop.kind === "goal" ? loop.gate : null,
    waitUntil: loop.waitUntil,
    waitReason: loop.waitReason,
    isBusy: isBusy(loop),
  };
}

function statusOf(end: NonNullable<Bound["end"]>): string {
  return "status" in end ? end.status : end.outcome;
}

/** Does nothing follow from it just now? */
export function isResting(loop: Bound, now: number): boolean {
  if (isBusy(loop)) return false;
  if (loop.status !== "active" || (loop.kind === "goal" && loop.gate !== null)) return true;
  return loop.waitUntil !== null && loop.waitUntil > now;
}

/** A stopped loop stays stopped: it goes on when a person says so. */
export async function pauseBound(store: Store, loop: Bound, reason: string, now: number): Promise<void> {
  await request(store, loop, { type: `${loop.kind}.paused`, code: "interrupted", reason }, now);
}
