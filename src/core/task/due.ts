/**
 * The heart of recurring loops: a task's time has come, what now?
 *
 * Invariants kept here:
 * 1. A slot at or before `cursorAt` is never delivered (again). Delivering a slot moves the cursor onto it.
 * 2. The cursor passes over an undelivered slot only together with an outcome that says why.
 * 3. Nothing is delivered while a fire is in flight, or when the task is not active.
 */
import type { Decision, Effect, Outcome } from "../event.ts";
import type { Cadence, Fire, FireKind, Task } from "../loop.ts";
import { alert, end, fireIdFor, type Passing, passSlots } from "./settle.ts";
import {
  expires,
  isLastSlot,
  openSlots,
  type SlotRun,
  slotAfter,
  slotRun,
  slotUpTo,
  wakeAt,
} from "./slots.ts";

/** How late a slot may be before `--missed skip` drops it and before a one-shot asks first. */
export const DEFAULT_GRACE_MS = 60_000;
/** A clock that goes back by less simply waits for its slots to come round; beyond, they start over. */
const REWIND_TOLERANCE_MS = 5 * 60_000;

interface Situation {
  readonly now: number;
  readonly token: number;
  readonly awakeSince: number;
}

export function decideDue(task: Task, situation: Situation): Decision<Task> {
  if (task.status !== "active" || task.fire !== null) return { kind: "none" };
  if (clockWentBack(task, situation.now)) return startOver(task, situation.now);
  if (task.request?.kind === "manual" || (task.request !== null && task.cadence.kind === "once")) {
    const { at, kind } = task.request;
    return deliver({ ...task, request: null }, { slot: at, dueAt: at, kind }, [], situation);
  }
  const due = openSlots(task, situation.now);
  if (due === null) return isOver(task, situation.now) ? deliverFinal(task, [], situation) : { kind: "none" };
  return task.cadence.kind === "once"
    ? decideOnce(task, due, situation)
    : decideRecurring(task, due, situation);
}

function decideRecurring(task: Task, due: SlotRun, situation: Situation): Decision<Task> {
  const atEnd = isExpired(task, situation.now) && due.last === task.expiresAt;
  // A slot at the very end is the final run, however late.
  const pick = pickSlot(task, due, situation.now) ?? (atEnd ? due.last : null);
  const passed = before(task, due, pick);
  const outcomes = passed === null ? [] : passSlots(task, passed, (dueAt) => passing(task, dueAt, situation));
  const cursorAt = Math.max(task.cursorAt, pick ?? due.last);
  const moved: Task = { ...task, cursorAt, request: null, streak: task.streak + (passed?.count ?? 0) };
  const alerts = alert(task, moved.streak, outcomes.at(-1)?.reason ?? null);
  if (pick !== null) {
    const initial = task.request?.at === pick;
    const dueAt = initial ? pick : pick + task.jitterMs;
    const kind = fireKind(task, pick, initial, dueAt < situation.awakeSince);
    return withAlerts(alerts, deliver(moved, { slot: pick, dueAt, kind }, outcomes, situation));
  }
  if (isOver(moved, situation.now)) return withAlerts(alerts, deliverFinal(moved, outcomes, situation));
  return { kind: "change", loop: { ...moved, version: task.version + 1 }, effects: alerts, outcomes };
}

function withAlerts(alerts: readonly Effect[], decision: Decision<Task>): Decision<Task> {
  return decision.kind === "change" ? { ...decision, effects: [...alerts, ...decision.effects] } : decision;
}

/** Which of the due slots is delivered now: the newest, or with `all` the oldest; null when each is too late. */
function pickSlot(task: Task, due: SlotRun, now: number): number | null {
  // A wake-up has no next one that could stand in for it: skipped, the loop would be silent for ever (A17).
  if (task.cadence.kind === "paced") return due.last;
  const inTimeFrom = now - task.jitterMs - graceOf(task);
  if (task.missed !== "all") return due.last >= inTimeFrom ? due.last : null;
  const first = due.listed[0] ?? due.last;
  if (first >= inTimeFrom) return first;
  const slot = slotAfter(task.cadence, Math.max(task.cursorAt, inTimeFrom - 1));
  return slot !== null && slot <= due.last ? slot : null;
}

/** How late a slot may be and still be delivered. */
function graceOf(task: Task): number {
  return task.graceMs ?? (task.missed === "skip" ? DEFAULT_GRACE_MS : Number.POSITIVE_INFINITY);
}

/** The due slots that are passed over when `pick` is delivered. */
function before(task: Task, due: SlotRun, pick: number | null): SlotRun | null {
  if (pick === null) return due;
  const listed = due.listed.filter((slot) => slot < pick);
  if (listed.length < due.listed.length || due.count === due.listed.length) {
    return listed.length === 0 ? null : { listed, last: listed.at(-1) ?? pick, count: listed.length };
  }
  // Too many to list, and `pick` is none of the listed.
  const last = slotUpTo(task.cadence, pick - 1, task.cursorAt) ?? pick;
  if (pick === due.last) return { listed, last, count: due.count - 1 };
  const waiting = due.listed[0] === task.request?.at ? 1 : 0;
  const count = waiting + (slotRun(task.cadence, task.cursorAt, last)?.count ?? 0);
  return { listed, last, count };
}

function passing(task: Task, dueAt: number, { awakeSince, now }: Situation): Passing {
  if (dueAt < awakeSince) return { outcome: "missed", reason: "nothing was running when it was due" };
  if (task.lastFinishedAt !== null && dueAt <= task.lastFinishedAt) {
    return { outcome: "skipped", reason: "the previous fire was still running" };
  }
  if (now - dueAt > graceOf(task)) {
    return { outcome: "skipped", reason: "late beyond its grace: another turn was running" };
  }
  return { outcome: "skipped", reason: "another turn was running, and a later slot came due" };
}

function fireKind(task: Task, slot: number, initial: boolean, late: boolean): FireKind {
  if (initial) return "initial";
  if (isLastSlot(task, slot)) return "final";
  return late ? "late" : "scheduled";
}

function isExpired(task: Task, now: number): boolean {
  return expires(task) && now >= task.expiresAt;
}

/** A7: expired with no slot left to be the final one. Jitter can put the last slot behind the expiry. */
function isOver(task: Task, now: number): boolean {
  return isExpired(task, now) && wakeAt({ ...task, request: null }) === task.expiresAt;
}

/** The cursor is behind the expiry only when the clock was set back or the expiry moved; never a slot twice. */
function deliverFinal(task: Task, outcomes: readonly Outcome[], situation: Situation): Decision<Task> {
  const slot = Math.max(task.expiresAt ?? situation.now, task.cursorAt + 1);
  return deliver(
    { ...task, cursorAt: Math.max(task.cursorAt, slot) },
    { slot, dueAt: slot, kind: "final" },
    outcomes,
    situation,
  );
}

/** A10: a one-shot that passed while nothing ran waits for a person, unless told otherwise. */
function decideOnce(task: Task, due: SlotRun, situation: Situation): Decision<Task> {
  const slot = due.last;
  const dueAt = slot + task.jitterMs;
  const cursorAt = Math.max(task.cursorAt, slot);
  const missed = dueAt < situation.awakeSince && situation.now - dueAt > (task.graceMs ?? DEFAULT_GRACE_MS);
  // A grace that a person gave holds for every policy; without one, `once` and `all` deliver however late.
  const isLateWelcome = (task.missed === "once" || task.missed === "all") && task.graceMs === null;
  if (!missed || isLateWelcome) {
    return deliver(
      { ...task, cursorAt },
      { slot, dueAt, kind: missed ? "late" : "scheduled" },
      [],
      situation,
    );
  }
  const dropped = task.missed !== "ask";
  const reason = dropped
    ? "nothing was running when it was due"
    : "nothing was running when it was due; it waits for a person";
  const outcomes = passSlots(task, due, () => ({ outcome: "missed", reason }));
  const passed: Task = { ...task, version: task.version + 1, cursorAt, streak: task.streak + 1 };
  if (dropped) {
    const effects = alert(task, passed.streak, reason);
    return { kind: "change", loop: end(passed, "missed its only slot"), effects, outcomes };
  }
  const body = `It was due at ${new Date(dueAt).toISOString()}. Run it now: loop run ${task.id}. Drop it: loop delete ${task.id}.`;
  return {
    kind: "change",
    loop: { ...passed, status: "missed", statusReason: reason },
    effects: [
      { kind: "notify", notice: { kind: "missed", title: `One-shot task ${task.id} was missed`, body } },
    ],
    outcomes,
  };
}

function deliver(
  task: Task,
  run: { slot: number; dueAt: number; kind: FireKind },
  outcomes: readonly Outcome[],
  { now, token }: Situation,
): Decision<Task> {
  const id = fireIdFor(task, run.slot, run.kind);
  const fire: Fire = { id, ...run, token, intendedAt: now, startedAt: null, process: null, wakeup: null };
  const loop: Task = { ...task, version: task.version + 1, fire };
  return { kind: "change", loop, effects: [{ kind: "deliver", fireId: id }], outcomes };
}

/** Should the slots of this task start over, because the clock was set back far behind its cursor? */
export function clockWentBack(task: Task, now: number): boolean {
  return task.status === "active" && task.fire === null && task.cursorAt - now > REWIND_TOLERANCE_MS;
}

/**
 * Without this a clock that was a year ahead for a minute would silence the task for a year. Slots get a new
 * era, so that no fire has the identity of an earlier one.
 */
function startOver(task: Task, now: number): Decision<Task> {
  const backMs = task.cursorAt - now;
  const loop: Task = {
    ...task,
    version: task.version + 1,
    cadence: moveBack(task.cadence, backMs, now),
    cursorAt: now,
    era: task.era + 1,
    expiresAt: task.expiresAt === null ? null : task.expiresAt - backMs,
    // The moment `now` itself is the line below.
    request: task.request === null ? null : { ...task.request, at: Math.min(task.request.at, now - 1) },
    lastFinishedAt: task.lastFinishedAt === null ? null : Math.min(task.lastFinishedAt, now),
  };
  const reason = `the clock was set back by ${Math.round(backMs / 60_000)} minutes; slots count anew from here`;
  const line = passSlots(loop, { listed: [now], last: now, count: 1 }, () => ({
    outcome: "skipped",
    reason,
  }));
  return { kind: "change", loop, effects: [], outcomes: line };
}

/** What was meant as a length of time keeps its length; what was meant as a time of day stays where it is. */
function moveBack(cadence: Cadence, backMs: number, now: number): Cadence {
  switch (cadence.kind) {
    case "every":
      return cadence.anchorAt > now ? { ...cadence, anchorAt: now } : cadence;
    case "paced":
      return { ...cadence, wakeAt: cadence.wakeAt === null ? null : cadence.wakeAt - backMs };
    case "cron":
    case "once":
      return cadence;
  }
}
