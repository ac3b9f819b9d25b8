/** What a fire leaves behind: its line in the history, the streak of failures, and whether the task goes on. */
import type { Change, Effect, Outcome, OutcomeKind } from "../event.ts";
import type { Cadence, Fire, FireId, FireKind, Task, Wakeup } from "../loop.ts";
import { expires, type SlotRun } from "./slots.ts";

export const MIN_WAKEUP_MS = 60_000;
export const MAX_WAKEUP_MS = 3_600_000;

/** A fire's identity follows from its slot: a second delivery of the same slot has the same id. */
export function fireIdFor(task: Task, slot: number, kind: FireKind): FireId {
  const era = task.era === 0 ? "" : `.${task.era}`;
  const manual = kind === "manual" ? "m" : "";
  return `${task.id}-${slot.toString(36)}${manual}${era}` as FireId;
}

/** The fire in flight is over. */
export function settleFire(
  task: Task,
  fire: Fire,
  outcome: OutcomeKind,
  reason: string | null,
  now: number,
): Change {
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
  const lastFiredAt = outcome === "interrupted" ? task.lastFiredAt : (fire.startedAt ?? now);
  const settled: Task = {
    ...task,
    version: task.version + 1,
    fire: null,
    lastFiredAt,
    lastFinishedAt: now,
    streak,
  };
  const loop = task.status === "ended" ? settled : goOn(settled, fire, outcome, now);
  return { loop, effects: alert(task, streak, reason), outcomes: [line] };
}

/** Slots that pass without a fire, with the reason. `split` tells those that nobody was there for. */
export function passSlots(task: Task, run: SlotRun, split: (dueAt: number) => Passing): Outcome[] {
  if (run.count > run.listed.length) {
    const first = run.listed[0] ?? run.last;
    return [
      { ...passedLine(task, first, split(first + task.jitterMs)), count: run.count, untilSlot: run.last },
    ];
  }
  return run.listed.map((slot) => passedLine(task, slot, split(slot + task.jitterMs)));
}

export interface Passing {
  readonly outcome: "skipped" | "missed";
  readonly reason: string;
}

function passedLine(task: Task, slot: number, passing: Passing): Outcome {
  const kind = task.request?.at === slot ? task.request.kind : "scheduled";
  return {
    fireId: fireIdFor(task, slot, kind),
    taskId: task.id,
    slot,
    dueAt: kind === "scheduled" ? slot + task.jitterMs : slot,
    outcome: passing.outcome,
    kind,
    reason: passing.reason,
    startedAt: null,
    finishedAt: null,
  };
}

/** The dead-man switch (A18): one alert when the streak reaches the limit, not one per slot after it. */
export function alert(task: Task, streak: number, reason: string | null): Effect[] {
  if (task.alertAfter === null || task.streak >= task.alertAfter || streak < task.alertAfter) return [];
  const times = streak === 1 ? "The last slot" : `The last ${streak} slots`;
  const body = `${times} of task ${task.id} failed or did not run${reason === null ? "" : `: ${reason}`}.`;
  return [{ kind: "notify", title: `Task ${task.id} needs a look`, body }];
}

function goOn(task: Task, fire: Fire, outcome: OutcomeKind, now: number): Task {
  if (fire.kind === "final") return end(task, "expired after its final run");
  if (task.cadence.kind === "once") {
    const consumed = fire.kind !== "manual" || task.cursorAt >= task.cadence.at;
    return consumed ? end(task, "fired once") : task;
  }
  if (task.cadence.kind === "paced") return pace(task, task.cadence, fire, outcome, now);
  return task;
}

function pace(task: Task, cadence: PacedCadence, fire: Fire, outcome: OutcomeKind, now: number): Task {
  const asked: Wakeup | null = fire.wakeup;
  if (asked?.kind === "stop") return end(task, `stopped by the agent: ${asked.reason}`);
  if (asked?.kind === "sleep") return sleep(task, now + asked.delayMs, asked.reason);
  const pending = cadence.wakeAt !== null && cadence.wakeAt > task.cursorAt;
  if (fire.kind === "manual" && pending) return task;
  // A turn that broke said nothing, which is not the same as a turn that chose to say nothing.
  if (outcome !== "ok") {
    const backoffMs = Math.min(MAX_WAKEUP_MS, MIN_WAKEUP_MS * 2 ** Math.min(task.streak - 1, 6));
    return sleep(task, now + backoffMs, "the last turn failed; trying again");
  }
  return end(task, "the agent asked for no further wake-up");
}

type PacedCadence = Extract<Cadence, { kind: "paced" }>;

function sleep(task: Task, at: number, reason: string): Task {
  const wakeAt = expires(task) ? Math.min(at, task.expiresAt) : at;
  return { ...task, cadence: { kind: "paced", wakeAt, reason } };
}

export function end(task: Task, reason: string): Task {
  return { ...task, status: "ended", statusReason: reason, request: null };
}
