/** The end of a fire: its line in the history, the streak of failures, and what happens to the task. */
import { foundByOf } from "../base.ts";
import { change } from "../decision.ts";
import type { Changed, Effect, Outcome, OutcomeKind } from "../event.ts";
import type { Cadence, Fire, FireId, FireKind, Task, Wakeup } from "../loop.ts";
import { expires, isFinal, type SlotRun } from "./slots.ts";

export const MIN_WAKEUP_MS = 60_000;
export const MAX_WAKEUP_MS = 3_600_000;

/**
 * The id of a fire follows from its slot: a second delivery of the slot has the same id. A run by hand has no slot,
 * and its moment can come twice when the clock is set back: the version tells such runs apart.
 */
export function fireIdFor(task: Task, slot: number, kind: FireKind): FireId {
  const era = task.era === 0 ? "" : `.${task.era}`;
  const manual = kind === "manual" ? `m${task.version.toString(36)}` : "";
  return `${task.id}-${slot.toString(36)}${manual}${era}` as FireId;
}

export function settleFire(
  task: Task,
  fire: Fire,
  outcome: OutcomeKind,
  reason: string | null,
  now: number,
): Changed<Task> {
  const { id: fireId, slot, dueAt, kind, startedAt } = fire;
  const at = { slot, dueAt, startedAt, finishedAt: now };
  const line = { fireId, taskId: task.id, ...at, outcome, kind, reason, ...foundByOf(fire.process) };
  const streak = outcome === "ok" ? 0 : task.streak + 1;
  const ran = outcome === "ok" || outcome === "failed";
  const lastFiredAt = ran ? (startedAt ?? now) : task.lastFiredAt;
  const settled: Task = { ...task, fire: null, lastFiredAt, lastFinishedAt: now, streak };
  // A person deleted the task while it ran, so no alert is needed.
  if (task.status === "ended") return change(settled, {}, [], [line]);
  return change(goOn(settled, fire, outcome, now), {}, alert(task, streak, reason), [line]);
}

/**
 * Slots that pass without a fire. `split` gives the outcome and the reason of each. A run that is too long to list
 * becomes one line; a requested run before it keeps its own line.
 */
export function passSlots(task: Task, run: SlotRun, split: (dueAt: number) => Passing): Outcome[] {
  // A slot can be at the same moment, so only the first entry is the requested run.
  const waiting = task.request !== null && task.request.at === run.listed[0] ? task.request : null;
  const slots = waiting === null ? run.listed : run.listed.slice(1);
  const count = run.count - run.listed.length + slots.length;
  const line = (slot: number, kind: FireKind, dueAt: number): Outcome => {
    const fireId = fireIdFor(task, slot, kind);
    return { fireId, taskId: task.id, slot, kind, dueAt, ...split(dueAt), startedAt: null, finishedAt: null };
  };
  const scheduled = (slot: number) => line(slot, "scheduled", slot + task.jitterMs);
  const first = waiting === null ? [] : [line(waiting.at, waiting.kind, waiting.at)];
  if (count <= slots.length) return [...first, ...slots.map(scheduled)];
  return [...first, { ...scheduled(slots[0] ?? run.last), count, untilSlot: run.last }];
}

export interface Passing {
  readonly outcome: "skipped" | "missed";
  readonly reason: string;
}

/** The dead-man switch (A18): one alert when the streak reaches the limit, and no more after it. */
export function alert(task: Task, streak: number, reason: string | null): Effect[] {
  if (task.alertAfter === null || task.streak >= task.alertAfter || streak < task.alertAfter) return [];
  const times = streak === 1 ? "The last slot" : `The last ${streak} slots`;
  const body = `${times} of task ${task.id} failed or did not run${reason === null ? "" : `: ${reason}`}.`;
  return [{ kind: "notify", notice: { kind: "failing", title: `Task ${task.id} needs attention`, body } }];
}

function goOn(task: Task, fire: Fire, outcome: OutcomeKind, now: number): Task {
  if (isFinal(task, fire)) return end(task, "expired after its final run");
  if (task.cadence.kind === "once") {
    // A run by hand may come early, and an edit may set another time during the run. Then the task stays.
    return task.cursorAt >= task.cadence.at ? end(task, "fired once") : task;
  }
  if (task.cadence.kind === "paced") return pace(task, task.cadence, fire, outcome, now);
  return task;
}

function pace(task: Task, cadence: PacedCadence, fire: Fire, outcome: OutcomeKind, now: number): Task {
  const asked: Wakeup | null = fire.wakeup;
  if (asked?.kind === "stop") return end(task, `stopped by the agent: ${asked.reason}`);
  if (asked?.kind === "sleep") return sleep(task, now + asked.delayMs, asked.reason);
  // A run by hand, or one from before the task became self-paced: the next wake-up is set already.
  if (cadence.wakeAt !== null && cadence.wakeAt > task.cursorAt) return task;
  // A failed turn did not decide to stop.
  if (outcome !== "ok") {
    const backoffMs = Math.min(MAX_WAKEUP_MS, MIN_WAKEUP_MS * 2 ** Math.min(task.streak - 1, 6));
    return sleep(task, now + backoffMs, "the last turn failed; trying again");
  }
  return end(task, "the agent asked for no further wake-up");
}

export type PacedCadence = Extract<Cadence, { kind: "paced" }>;

/** Always after the cursor, even when the clock was set back: an earlier wake-up would never run. */
function sleep(task: Task, at: number, reason: string): Task {
  const wakeAt = Math.max(expires(task) ? Math.min(at, task.expiresAt) : at, task.cursorAt + 1);
  return { ...task, cadence: { kind: "paced", wakeAt, reason } };
}

export function end(task: Task, reason: string): Task {
  return { ...task, status: "ended", statusReason: reason, request: null };
}
