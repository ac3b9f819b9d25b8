/** Recovers the unfinished work of the owner before: notices, running fires and jobs, loops of ended conversations. */
import type { LoopEvent } from "../core/event.ts";
import type { Loop, LoopId, Task } from "../core/loop.ts";
import type { Store } from "../ports/store.ts";
import type { Applied } from "./apply.ts";
import type { BacklogWork } from "./backlogs/backlog-work.ts";
import type { GoalWork } from "./goals/goal-work.ts";
import { type EngineParts, notifySafely } from "./parts.ts";
import { loopsOf } from "./tasks/tasks.ts";
import type { Turns } from "./tasks/turns.ts";
import { isForUs } from "./time/schedule.ts";
import type { Underway } from "./underway.ts";

export const SESSION_ENDED: LoopEvent = { type: "task.deleted", reason: "its session ended" };

export function tasksOfSession(store: Store, owner: string): readonly LoopId[] {
  const tasks = loopsOf(store, "task").filter(({ session }) => session === owner);
  return tasks.map(({ id }) => id);
}

export interface Crew {
  readonly underway: Underway;
  readonly turns: Turns;
  readonly goals: GoalWork | null;
  readonly backlogs: BacklogWork | null;
}

/** false: the lease was lost meanwhile, and the next owner does the rest. */
export async function recoverWork(
  parts: EngineParts,
  crew: Crew,
  token: number,
  apply: (id: LoopId, event: LoopEvent) => Promise<Applied>,
): Promise<boolean> {
  const { store, self } = parts;
  for (const loop of [...store.loops()]) {
    // the loop of a dead runner: another runner finds its turn by its ticket
    if (loop.kind !== "task" && loop.session === null && !isForUs(parts, loop)) continue;
    const isElsewhere = loop.session !== null && loop.session !== self.owner;
    if (isElsewhere && !store.sessions.isOver(loop.session ?? "")) continue;
    if (isElsewhere && loop.kind === "task" && loop.status !== "ended")
      if ((await apply(loop.id, SESSION_ENDED)).kind === "fenced") return false;
    if (loop.notice !== null) {
      // sent twice if the owner before died right after sending it
      notifySafely(parts, loop.notice);
      if ((await apply(loop.id, notifiedEvent(loop))).kind === "fenced") return false;
    }
    for await (const event of settlements(parts, crew, loop, token, isElsewhere))
      if (event !== null && (await apply(loop.id, event)).kind === "fenced") return false;
  }
  return true;
}

/** The events that settle the work of a loop; null: the work continues. Several attempts may run at the same time. */
async function* settlements(
  parts: EngineParts,
  crew: Crew,
  loop: Loop,
  token: number,
  isElsewhere: boolean,
): AsyncGenerator<LoopEvent | null> {
  const { goals, backlogs, underway } = crew;
  const now = parts.clock.now();
  if (loop.kind === "task") yield cutFire(parts, loop) ?? (await recoverFire(loop, crew, token, now));
  else if (loop.kind === "backlog") {
    for (const attempt of loop.attempts) {
      const { job } = attempt;
      if (job !== null && backlogs !== null && !underway.has(job.id))
        yield await backlogs.recover(loop, attempt, job, token);
    }
  } else if (loop.job !== null && isElsewhere) {
    // the conversation is over, so the end of its job is unknown
    yield { type: "job.interrupted", jobId: loop.job.id, reason: "its conversation ended while it ran" };
  } else if (loop.job !== null && goals !== null && !underway.has(loop.job.id))
    yield await goals.recover(loop, loop.job, token, now);
}

/** The fire ran in another conversation, so its end is unknown. */
function cutFire({ store, self }: EngineParts, { fire }: Task): LoopEvent | null {
  const session = fire && store.sessions.deliveredTo(fire.id);
  if (fire === null || session === null || session === self.owner) return null;
  const reason = "its conversation was closed while it ran";
  return { type: "fire.interrupted", fireId: fire.id, reason };
}

export function notifiedEvent(loop: Loop): LoopEvent {
  return { type: `${loop.kind}.notified` };
}

async function recoverFire(task: Task, crew: Crew, token: number, now: number): Promise<LoopEvent | null> {
  const { fire } = task;
  if (fire === null || crew.underway.has(fire.id)) return null;
  // intended by this process in a write that seemed to fail, so no process has started it
  if (fire.token === token && task.status !== "ended") {
    crew.turns.start(task, fire, now);
    return null;
  }
  const fate = await crew.turns.reconcile(task, fire, now);
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
      return fire.startedAt === null ? { type: "fire.started", fireId, process: fate.process } : null;
    case "ended":
      return null;
  }
}

/** Stops work whose task was deleted, or whose goal or backlog was paused or ended, by another process. */
export function stopUnwanted(underway: Underway, store: Store): void {
  for (const [workId, loopId] of underway.loops()) {
    const loop = store.load(loopId);
    if (loop === undefined || (loop.kind === "task" && loop.status === "ended"))
      underway.stop(workId, "the task was deleted");
    else if (loop.kind !== "task" && loop.status !== "active")
      underway.stop(workId, loop.pause?.reason ?? loop.end?.reason ?? "it has ended");
  }
}
