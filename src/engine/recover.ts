/** Recovers the unfinished work of the owner before: notices, running fires and jobs, loops of ended conversations. */
import type { Backlog } from "../core/backlog/backlog.ts";
import type { LoopEvent } from "../core/event.ts";
import type { Job } from "../core/goal/goal.ts";
import type { Fire, Loop, LoopId, Notice, Task } from "../core/loop.ts";
import type { TurnFate } from "../ports/agent.ts";
import type { Store } from "../ports/store.ts";
import type { Applied } from "./apply.ts";
import type { BacklogWork } from "./backlogs/backlog-work.ts";
import type { GoalWork } from "./goals/goal-work.ts";
import type { EngineParts } from "./parts.ts";
import type { Turns } from "./tasks/turns.ts";
import { isForUs } from "./time/schedule.ts";
import type { Underway } from "./underway.ts";

export const SESSION_ENDED: LoopEvent = { type: "task.deleted", reason: "its session ended" };

export function tasksOfSession(store: Store, owner: string): readonly LoopId[] {
  const loops = [...store.loops()].filter((loop) => loop.kind === "task" && loop.session === owner);
  return loops.map(({ id }) => id);
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
  notify: (notice: Notice) => void,
): Promise<boolean> {
  const { store, clock, self } = parts;
  for (const loop of [...store.loops()]) {
    // the loop of a dead runner: another runner finds its turn by its ticket
    if (loop.kind !== "task" && loop.session === null && !isForUs(parts, loop)) continue;
    const isElsewhere = loop.session !== null && loop.session !== self.owner;
    if (isElsewhere && !store.sessions.isOver(loop.session ?? "")) continue;
    if (isElsewhere && loop.kind === "task" && loop.status !== "ended") {
      const applied = await apply(loop.id, SESSION_ENDED);
      if (applied.kind === "fenced") return false;
    }
    if (loop.notice !== null) {
      // sent twice if the owner before died right after sending it
      notify(loop.notice);
      if ((await apply(loop.id, notifiedEvent(loop))).kind === "fenced") return false;
    }
    const isCut = isElsewhere && loop.kind === "goal" && loop.job !== null;
    if (loop.kind === "backlog") {
      if (!(await recoverAttempts(loop, crew, token, apply))) return false;
      continue;
    }
    const event = isCut
      ? conversationOver(loop.job)
      : (cutFire(parts, loop) ?? (await recoverLoop(loop, crew, token, clock.now())));
    if (event !== null && (await apply(loop.id, event)).kind === "fenced") return false;
  }
  return true;
}

/** The conversation is over, so the end of its job is unknown. */
function conversationOver(job: Job): LoopEvent {
  return { type: "job.interrupted", jobId: job.id, reason: "its conversation ended while it ran" };
}

/** The fire ran in another conversation, so its end is unknown. */
function cutFire({ store, self }: EngineParts, loop: Loop): LoopEvent | null {
  if (loop.kind !== "task" || loop.fire === null) return null;
  const session = store.sessions.deliveredTo(loop.fire.id);
  if (session === null || session === self.owner) return null;
  const reason = "its conversation was closed while it ran";
  return { type: "fire.interrupted", fireId: loop.fire.id, reason };
}

export function notifiedEvent(loop: Loop): LoopEvent {
  return { type: `${loop.kind}.notified` };
}

/** Several attempts may run at the same time. */
async function recoverAttempts(
  backlog: Backlog,
  { backlogs, underway }: Crew,
  token: number,
  apply: (id: LoopId, event: LoopEvent) => Promise<Applied>,
): Promise<boolean> {
  for (const attempt of backlog.attempts) {
    const { job } = attempt;
    if (job === null || backlogs === null || underway.has(job.id)) continue;
    const event = await backlogs.recover(backlog, attempt, job, token);
    if (event !== null && (await apply(backlog.id, event)).kind === "fenced") return false;
  }
  return true;
}

function recoverLoop(
  loop: Exclude<Loop, Backlog>,
  crew: Crew,
  token: number,
  now: number,
): Promise<LoopEvent | null> {
  if (loop.kind === "task") return recoverFire(loop, crew, token, now);
  if (loop.job === null || crew.goals === null || crew.underway.has(loop.job.id))
    return Promise.resolve(null);
  return crew.goals.recover(loop, loop.job, token, now);
}

async function recoverFire(task: Task, crew: Crew, token: number, now: number): Promise<LoopEvent | null> {
  const { fire } = task;
  if (fire === null || crew.underway.has(fire.id)) return null;
  // intended by this process in a write that seemed to fail, so no process has started it
  if (fire.token === token && task.status !== "ended") {
    crew.turns.start(task, fire, now);
    return null;
  }
  return eventFor(task, fire, await crew.turns.reconcile(task, fire, now));
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
