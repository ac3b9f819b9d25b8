/**
 * Decides what to do when a task is due.
 *
 * 1. A slot at or before `cursorAt` is never delivered. Delivering a slot moves the cursor onto it.
 * 2. The cursor passes an undelivered slot only together with an outcome that says why.
 * 3. Nothing is delivered during a fire, or when the task is not active.
 */
import { change, UNCHANGED } from "../decision.ts";
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

/** How late a slot may be before `--missed skip` drops it, and before a one-shot asks a person. */
const DEFAULT_GRACE_MS = 60_000;
/** After a smaller step back of the clock the task waits; after a larger one its slots start over. */
const REWIND_TOLERANCE_MS = 5 * 60_000;

interface Situation {
  readonly now: number;
  readonly token: number;
  readonly awakeSince: number;
}

export function decideDue(task: Task, situation: Situation): Decision<Task> {
  if (task.status !== "active" || task.fire !== null) return UNCHANGED;
  if (clockWentBack(task, situation.now)) return startOver(task, situation.now);
  if (task.request?.kind === "manual" || (task.request !== null && task.cadence.kind === "once")) {
    const { at, kind } = task.request;
    return deliver({ ...task, request: null }, { slot: at, dueAt: at, kind }, situation);
  }
  const due = openSlots(task, situation.now);
  if (due === null) return isOver(task, situation.now) ? deliverFinal(task, situation) : UNCHANGED;
  return task.cadence.kind === "once"
    ? decideOnce(task, due, situation)
    : decideRecurring(task, due, situation);
}

function decideRecurring(task: Task, due: SlotRun, situation: Situation): Decision<Task> {
  const atEnd = isExpired(task, situation.now) && due.last === task.expiresAt;
  // The last slot before the expiry is the final run, however late.
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
    return deliver(moved, { slot: pick, dueAt, kind }, situation, { outcomes, alerts });
  }
  if (isOver(moved, situation.now)) return deliverFinal(moved, situation, { outcomes, alerts });
  return change(moved, {}, alerts, outcomes);
}

/** The due slot to deliver now: the newest, or with `all` the oldest; null: all are too late. */
function pickSlot(task: Task, due: SlotRun, now: number): number | null {
  // A skipped wake-up would end the loop, because no other slot follows (A17).
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
  // Too many slots to list, and `pick` is not among the listed ones.
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
    return { outcome: "skipped", reason: "too late, beyond its grace: another turn was running" };
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

/** A7: expired, and no slot is left for the final run. Jitter can put the last slot behind the expiry. */
function isOver(task: Task, now: number): boolean {
  return isExpired(task, now) && wakeAt({ ...task, request: null }) === task.expiresAt;
}

/** The cursor can be after the expiry, when the clock was set back or the expiry moved. No slot runs twice. */
function deliverFinal(task: Task, situation: Situation, passed?: Passed): Decision<Task> {
  const slot = Math.max(task.expiresAt ?? situation.now, task.cursorAt + 1);
  const moved = { ...task, cursorAt: Math.max(task.cursorAt, slot) };
  return deliver(moved, { slot, dueAt: slot, kind: "final" }, situation, passed);
}

/** A10: a one-shot that came due while nothing ran waits for a person by default. */
function decideOnce(task: Task, due: SlotRun, situation: Situation): Decision<Task> {
  const slot = due.last;
  const dueAt = slot + task.jitterMs;
  const cursorAt = Math.max(task.cursorAt, slot);
  const missed = dueAt < situation.awakeSince && situation.now - dueAt > (task.graceMs ?? DEFAULT_GRACE_MS);
  // An explicit grace applies to every policy. Without one, `once` and `all` deliver however late.
  const isLateWelcome = (task.missed === "once" || task.missed === "all") && task.graceMs === null;
  if (!missed || isLateWelcome) {
    const kind = missed ? "late" : "scheduled";
    return deliver({ ...task, cursorAt }, { slot, dueAt, kind }, situation);
  }
  const dropped = task.missed !== "ask";
  const reason = dropped
    ? "nothing was running when it was due"
    : "nothing was running when it was due; it waits for a person";
  const outcomes = passSlots(task, due, () => ({ outcome: "missed", reason }));
  const passed: Task = { ...task, cursorAt, streak: task.streak + 1 };
  if (dropped)
    return change(end(passed, "missed its only slot"), {}, alert(task, passed.streak, reason), outcomes);
  const title = `One-shot task ${task.id} was missed`;
  const body = `It was due at ${new Date(dueAt).toISOString()}. Run it now: loop run ${task.id}. Drop it: loop delete ${task.id}.`;
  const notify = { kind: "notify", notice: { kind: "missed", title, body } } as const;
  return change(passed, { status: "missed", statusReason: reason }, [notify], outcomes);
}

/** What follows from slots that were passed over. */
interface Passed {
  readonly outcomes: readonly Outcome[];
  readonly alerts: readonly Effect[];
}

function deliver(
  task: Task,
  run: Pick<Fire, "slot" | "dueAt" | "kind">,
  { now, token }: Situation,
  { outcomes, alerts }: Passed = { outcomes: [], alerts: [] },
): Decision<Task> {
  const id = fireIdFor(task, run.slot, run.kind);
  const fire: Fire = { id, ...run, token, intendedAt: now, startedAt: null, process: null, wakeup: null };
  return change(task, { fire }, [...alerts, { kind: "deliver", fireId: id }], outcomes);
}

/** The clock was set back far behind the cursor, so the slots must start over. */
export function clockWentBack(task: Task, now: number): boolean {
  return task.status === "active" && task.fire === null && task.cursorAt - now > REWIND_TOLERANCE_MS;
}

/**
 * Without this, a clock that was a year ahead for a minute would silence the task for a year. A new era keeps the ids
 * of fires unique.
 */
function startOver(task: Task, now: number): Decision<Task> {
  const backMs = task.cursorAt - now;
  const restarted: Task = {
    ...task,
    cadence: moveBack(task.cadence, backMs, now),
    cursorAt: now,
    era: task.era + 1,
    expiresAt: task.expiresAt === null ? null : task.expiresAt - backMs,
    // The slot `now` is the line below.
    request: task.request === null ? null : { ...task.request, at: Math.min(task.request.at, now - 1) },
    lastFinishedAt: task.lastFinishedAt === null ? null : Math.min(task.lastFinishedAt, now),
  };
  const reason = `the clock was set back by ${Math.round(backMs / 60_000)} minutes; slots start over from here`;
  const run = { listed: [now], last: now, count: 1 };
  const outcomes = passSlots(restarted, run, () => ({ outcome: "skipped", reason }));
  return change(restarted, {}, [], outcomes);
}

/** Lengths of time move with the clock; times of day stay. */
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
