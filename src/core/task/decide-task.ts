/** Pure decisions about a task: how an event changes it, and which effects follow. */
import { change, keepNotice, refuse, UNCHANGED } from "../decision.ts";
import type { Decision, Effect, FireEvent, LoopChange, Outcome, TaskEdit, TaskEvent } from "../event.ts";
import type { Cadence, Fire, MissedPolicy, Task, TaskPlace, TaskSettings, Wakeup } from "../loop.ts";
import { decideDue } from "./due.ts";
import { jitterFor } from "./jitter.ts";
import { MAX_PROMPT_LENGTH, TOO_LONG } from "./plan.ts";
import { end, MAX_WAKEUP_MS, MIN_WAKEUP_MS, type PacedCadence, passSlots, settleFire } from "./settle.ts";
import { cadenceSlots, openSlots, type SlotRun } from "./slots.ts";

export interface TaskDraft
  extends Omit<TaskSettings, "where" | "missed">,
    Pick<Task, "id" | "session" | "importedFrom"> {
  /** Left out: any runner. */
  readonly where?: TaskPlace;
  readonly jitter: boolean;
  readonly missed: MissedPolicy | null;
  /** Run once at creation (A4). */
  readonly runNow: boolean;
}

export function createTask(draft: TaskDraft, now: number): LoopChange<Task> {
  const { jitter, runNow, missed, ...kept } = draft;
  const loop: Task = {
    ...kept,
    where: draft.where ?? "either",
    kind: "task",
    version: 1,
    status: "active",
    statusReason: null,
    createdAt: now,
    missed: missed ?? (draft.cadence.kind === "once" ? "ask" : "once"),
    jitterMs: jitter ? jitterFor(draft.id, draft.cadence, now) : 0,
    cursorAt: beginAt(draft.cadence, now),
    era: 0,
    request: runNow ? { kind: "initial", at: now } : null,
    fire: null,
    lastFiredAt: null,
    lastFinishedAt: null,
    streak: 0,
    notice: null,
  };
  return { loop, effects: [], outcomes: [] };
}

/** A one-shot that is restored or written after its time is late, not lost. */
function beginAt(cadence: Cadence, now: number): number {
  const at = cadence.kind === "once" ? cadence.at : cadence.kind === "paced" ? cadence.wakeAt : null;
  return at === null ? now : Math.min(now, at - 1);
}

export function decideTask(task: Task, event: TaskEvent, now: number): Decision<Task> {
  return keepNotice(decideEvent(task, event, now));
}

function decideEvent(task: Task, event: TaskEvent, now: number): Decision<Task> {
  // Late events of a settled fire change nothing.
  if ("fireId" in event)
    return task.fire?.id === event.fireId ? decideFire(task, task.fire, event, now) : UNCHANGED;
  switch (event.type) {
    case "task.created":
      return UNCHANGED;
    case "task.edited":
      return decideEdit(task, event.edit, now);
    case "task.paused":
      return decidePause(task);
    case "task.resumed":
      return decideResume(task, now);
    case "task.deleted":
      return decideDelete(task, event.reason, now);
    case "task.ending":
      return task.fire === null ? UNCHANGED : decideEnding(task, task.fire);
    case "task.run-requested":
      return decideRun(task, now);
    case "task.notified":
      return task.notice === null ? UNCHANGED : change(task, { notice: null });
    case "task.due":
      return decideDue(task, { now, token: event.token, awakeSince: event.awakeSince });
  }
}

function decideFire(task: Task, fire: Fire, event: FireEvent, now: number): Decision<Task> {
  switch (event.type) {
    case "fire.started":
      if (fire.startedAt !== null) return UNCHANGED;
      return change(task, { fire: { ...fire, startedAt: now, process: event.process }, lastFiredAt: now });
    case "fire.finished":
      return decideFinish(task, fire, event, now);
    case "fire.interrupted":
      return settleFire(task, fire, "interrupted", event.reason, now);
    case "fire.withdrawn":
      return decideWithdraw(task, fire, event.reason, now);
    case "fire.wakeup":
      return decideWakeup(task, fire, event.wakeup);
  }
}

function ended({ id }: Task): Decision<Task> {
  return refuse(`Task ${id} has ended.`);
}

function skipAll(task: Task, open: SlotRun | null, reason: string): Outcome[] {
  return open === null ? [] : passSlots(task, open, () => ({ outcome: "skipped", reason }));
}

/** A new cadence starts now. Due slots of the old one are recorded first. */
function decideEdit(task: Task, edit: TaskEdit, now: number): Decision<Task> {
  if (task.status === "ended") return ended(task);
  if ((edit.prompt?.length ?? 0) > MAX_PROMPT_LENGTH) return refuse(TOO_LONG);
  const expiresAt = edit.expiresAt === undefined ? task.expiresAt : edit.expiresAt;
  if (expiresAt !== null && edit.expiresAt !== undefined && expiresAt <= now) {
    return refuse("The new expiry is in the past.");
  }
  const { jitter = task.jitterMs !== 0, ...fields } = edit;
  const cadence = edit.cadence ?? task.cadence;
  const measured = edit.jitter !== undefined || edit.cadence !== undefined;
  const jitterMs = !measured ? task.jitterMs : jitter ? jitterFor(task.id, cadence, now) : 0;
  if (edit.cadence === undefined) return change(task, { ...fields, jitterMs });
  if (cadence.kind === "once" && cadence.at <= now) return refuse("The new time is in the past.");
  // A requested run stays. Due slots of the old cadence do not run, including those that wait for their jitter.
  const open = cadenceSlots(task, Math.max(now, now - task.jitterMs));
  const outcomes = skipAll({ ...task, request: null }, open, "the schedule was changed before it ran");
  // Later slots of the old schedule (after the clock was set back, or of an early one-shot) must not get the same ids
  // as slots of the new one.
  const ahead = Math.max(task.cursorAt, open?.last ?? 0) > now;
  const revived = task.status === "missed" ? ({ status: "active", statusReason: null } as const) : {};
  const edited: Partial<Task> = {
    ...fields,
    ...revived,
    jitterMs,
    cadence: cadence.kind === "paced" ? wakeFrom(cadence, now) : cadence,
    cursorAt: now,
    era: ahead ? task.era + 1 : task.era,
    request: task.request === null ? null : { ...task.request, at: Math.min(task.request.at, now) },
  };
  return change(task, edited, [], outcomes);
}

/** A self-paced task always needs a next wake-up. */
function wakeFrom(cadence: PacedCadence, now: number): PacedCadence {
  return cadence.wakeAt !== null && cadence.wakeAt > now ? cadence : { ...cadence, wakeAt: now + 1 };
}

function decidePause(task: Task): Decision<Task> {
  if (task.status === "ended") return ended(task);
  if (task.status === "paused") return UNCHANGED;
  return change(task, { status: "paused", statusReason: "paused by a person" });
}

/** Slots that came due during the pause are recorded as skipped; a one-shot is then missed. */
function decideResume(task: Task, now: number): Decision<Task> {
  if (task.status === "ended") return ended(task);
  if (task.status !== "paused") return UNCHANGED;
  const { cadence } = task;
  const open = openSlots(task, now);
  const outcomes = skipAll(task, open, "the task was paused");
  const cursorAt = cadenceSlots(task, now - task.jitterMs)?.last ?? task.cursorAt;
  const missed = cadence.kind === "once" && cursorAt >= cadence.at && task.fire === null;
  const resumed: Partial<Task> = {
    status: missed ? "missed" : "active",
    statusReason: missed ? "it was paused when it was due; it waits for a person" : null,
    request: open === null ? task.request : null,
    cursorAt,
    cadence:
      cadence.kind === "paced" && open !== null
        ? { ...cadence, wakeAt: Math.max(now, task.cursorAt) + 1 }
        : cadence,
  };
  return change(task, resumed, [], outcomes);
}

function decideDelete(task: Task, reason: string, now: number): Decision<Task> {
  if (task.status === "ended") return ended(task);
  const outcomes = skipAll(task, openSlots(task, now), "the task was deleted before it ran");
  const effects: Effect[] =
    task.fire === null ? [] : [{ kind: "cancel", fireId: task.fire.id, reason: "the task was deleted" }];
  return change(end(task, reason), {}, effects, outcomes);
}

/** Deleted from inside its own turn: the turn finishes as the final run. */
function decideEnding(task: Task, fire: Fire): Decision<Task> {
  if (task.status === "ended") return ended(task);
  return change(task, { expiresAt: fire.slot, fire: { ...fire, kind: "final" } });
}

function decideRun(task: Task, now: number): Decision<Task> {
  if (task.status === "ended") return ended(task);
  if (task.status === "paused")
    return refuse(`Task ${task.id} is paused. Resume it first: loop resume ${task.id}.`);
  if (task.fire !== null) return refuse(`Task ${task.id} is running now.`);
  if (task.request !== null) return UNCHANGED;
  return change(task, { request: { kind: "manual", at: now }, status: "active", statusReason: null });
}

/** The agent never saw the prompt: the slot is due again, under the rules for late slots. */
function decideWithdraw(task: Task, fire: Fire, reason: string, now: number): Decision<Task> {
  if (task.status === "ended") return settleFire(task, fire, "interrupted", reason, now);
  if (fire.kind === "manual" || fire.kind === "initial") {
    // The initial run comes before all slots, even if an edit after a clock change moved the cursor back.
    const at = fire.kind === "initial" ? Math.min(fire.slot, task.cursorAt) : fire.slot;
    return change(task, { fire: null, request: { kind: fire.kind, at } });
  }
  // Later slots are recorded already, or the schedule is new: this slot cannot be due again.
  if (task.cursorAt !== fire.slot) return settleFire(task, fire, "skipped", reason, now);
  return change(task, { fire: null, cursorAt: fire.slot - 1 });
}

type Finished = Extract<FireEvent, { type: "fire.finished" }>;

function decideFinish(task: Task, fire: Fire, event: Finished, now: number): Decision<Task> {
  const { outcome, reason, wakeup, usage, takenBy } = event;
  // A wake-up that the agent asked for by command comes before a printed one.
  const printed = wakeup === undefined || task.cadence.kind !== "paced" ? null : clampWakeup(wakeup);
  const asked = fire.wakeup ?? printed;
  const settled = settleFire(task, { ...fire, wakeup: asked }, outcome, reason, now);
  const told = {
    ...(usage === undefined ? {} : { usage }),
    ...(takenBy === undefined ? {} : { takenBy }),
  };
  return { ...settled, outcomes: settled.outcomes.map((line) => ({ ...line, ...told })) };
}

function decideWakeup(task: Task, fire: Fire, wakeup: Wakeup): Decision<Task> {
  if (task.cadence.kind !== "paced") return refuse(`Task ${task.id} is not self-paced (loop auto).`);
  return change(task, { fire: { ...fire, wakeup: clampWakeup(wakeup) } });
}

function clampWakeup(wakeup: Wakeup): Wakeup {
  if (wakeup.kind === "stop") return wakeup;
  return { ...wakeup, delayMs: Math.min(MAX_WAKEUP_MS, Math.max(MIN_WAKEUP_MS, wakeup.delayMs)) };
}
