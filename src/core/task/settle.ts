/** What a fire leaves behind: its line in the history, the streak of failures, and whether the task goes on. */
import type { Effect, LoopChange, Outcome, OutcomeKind } from "../event.ts";
import type { Cadence, Fire, FireId, FireKind, Task, Wakeup } from "../loop.ts";
import { expires, isFinal, type SlotRun } from "./slots.ts";

export const MIN_WAKEUP_MS = 60_000;
export const MAX_WAKEUP_MS = 3_600_000;

/**
 * A fire's identity follows from its slot: a second delivery of the same slot has the same id. A run by hand has
 * no slot, only a moment, which can come twice (a clock set back): the version tells such runs apart.
 */
export function fireIdFor(task: Task, slot: number, kind: FireKind): FireId {
  const era = task.era === 0 ? "" : `.${task.era}`;
  const manual = kind === "manual" ? `m${task.version.toString(36)}` : "";
  return `${task.id}-${slot.toString(36)}${manual}${era}` as FireId;
}

/** The fire in flight is over. */
export function settleFire(
  task: Task,
  fire: Fire,
  outcome: OutcomeKind,
  reason: string | null,
  now: number,
): LoopChange<Task> {
  const line: Outcome = {
    fireId: fire.id,
    taskId: task.id,
    slot: fire.slot,
    dueAt: fire.dueAt,
    outcome,
    kind: fire.kind,
    reason,
    startedAt: fire.startedAt,
    finishedAt: now,
  };
  const streak = outcome === "ok" ? 0 : task.streak + 1;
  const ran = outcome === "ok" || outcome === "failed";
  const lastFiredAt = ran ? (fire.startedAt ?? now) : task.lastFiredAt;
  const settled: Task = {
    ...task,
    version: task.version + 1,
    fire: null,
    lastFiredAt,
    lastFinishedAt: now,
    streak,
  };
  // Nobody needs to look after a task that a person deleted while it ran.
  if (task.status === "ended") return { loop: settled, effects: [], outcomes: [line] };
  const loop = goOn(settled, fire, outcome, now);
  return { loop, effects: alert(task, streak, reason), outcomes: [line] };
}

/**
 * Slots that pass without a fire, with the reason. `split` tells those that nobody was there for. A run that is too
 * long to list becomes one line; a waiting run in front of it keeps its own.
 */
export function passSlots(task: Task, run: SlotRun, split: (dueAt: number) => Passing): Outcome[] {
  // The same moment can be a slot too, so that only the first in line is the waiting run.
  const waiting = task.request !== null && task.request.at === run.listed[0] ? task.request : null;
  const slots = waiting === null ? run.listed : run.listed.slice(1);
  const count = run.count - run.listed.length + slots.length;
  const line = (slot: number, kind: FireKind, dueAt: number) =>
    passedLine(task, { slot, kind, dueAt }, split(dueAt));
  const scheduled = (slot: number) => line(slot, "scheduled", slot + task.jitterMs);
  const first = waiting === null ? [] : [line(waiting.at, waiting.kind, waiting.at)];
  if (count <= slots.length) return [...first, ...slots.map(scheduled)];
  return [...first, { ...scheduled(slots[0] ?? run.last), count, untilSlot: run.last }];
}

export interface Passing {
  readonly outcome: "skipped" | "missed";
  readonly reason: string;
}

function passedLine(
  task: Task,
  run: { slot: number; kind: FireKind; dueAt: number },
  { outcome, reason }: Passing,
): Outcome {
  const fireId = fireIdFor(task, run.slot, run.kind);
  return { fireId, taskId: task.id, ...run, outcome, reason, startedAt: null, finishedAt: null };
}

/** The dead-man switch (A18): one alert when the streak reaches the limit, not one per slot after it. */
export function alert(task: Task, streak: number, reason: string | null): Effect[] {
  if (task.alertAfter === null || task.streak >= task.alertAfter || streak < task.alertAfter) return [];
  const times = streak === 1 ? "The last slot" : `The last ${streak} slots`;
  const body = `${times} of task ${task.id} failed or did not run${reason === null ? "" : `: ${reason}`}.`;
  return [{ kind: "notify", notice: { kind: "failing", title: `Task ${task.id} needs a look`, body } }];
}

function goOn(task: Task, fire: Fire, outcome: OutcomeKind, now: number): Task {
  if (isFinal(task, fire)) return end(task, "expired after its final run");
  if (task.cadence.kind === "once") {
    // Not so after a run by hand before its time, or when it was given another time while it ran.
    return task.cursorAt >= task.cadence.at ? end(task, "fired once") : task;
  }
  if (task.cadence.kind === "paced") return pace(task, task.cadence, fire, outcome, now);
  return task;
}

function pace(task: Task, cadence: PacedCadence, fire: Fire, outcome: OutcomeKind, now: number): Task {
  const asked: Wakeup | null = fire.wakeup;
  if (asked?.kind === "stop") return end(task, `stopped by the agent: ${asked.reason}`);
  if (asked?.kind === "sleep") return sleep(task, now + asked.delayMs, asked.reason);
  // A run by hand, or one from before the task was made self-paced: its own wake-up is still to come.
  if (cadence.wakeAt !== null && cadence.wakeAt > task.cursorAt) return task;
  // A turn that broke said nothing, which is not the same as a turn that chose to say nothing.
  if (outcome !== "ok") {
    const backoffMs = Math.min(MAX_WAKEUP_MS, MIN_WAKEUP_MS * 2 ** Math.min(task.streak - 1, 6));
    return sleep(task, now + backoffMs, "the last turn failed; trying again");
  }
  return end(task, "the agent asked for no further wake-up");
}

type PacedCadence = Extract<Cadence, { kind: "paced" }>;

/** Never at or before the cursor, where a clock that was set back a little would put it: that is never woken. */
function sleep(task: Task, at: number, reason: string): Task {
  const wakeAt = Math.max(expires(task) ? Math.min(at, task.expiresAt) : at, task.cursorAt + 1);
  return { ...task, cadence: { kind: "paced", wakeAt, reason } };
}

export function end(task: Task, reason: string): Task {
  return { ...task, status: "ended", statusReason: reason, request: null };
}
