/** Slots of a cadence: the moments at which a task is due, before jitter. */
import type { Cadence, Fire, Task } from "../loop.ts";
import { nextSlot, previousSlot } from "./cron.ts";

/** The first slot strictly after `afterAt`, or null when there is none. */
export function slotAfter(cadence: Cadence, afterAt: number): number | null {
  switch (cadence.kind) {
    case "cron":
      return nextCronSlot(cadence.expr, cadence.tz, afterAt);
    case "every": {
      const passed = Math.max(0, Math.floor((afterAt - cadence.anchorAt) / cadence.everyMs));
      return cadence.anchorAt + (passed + 1) * cadence.everyMs;
    }
    case "once":
      return cadence.at > afterAt ? cadence.at : null;
    case "paced":
      return cadence.wakeAt !== null && cadence.wakeAt > afterAt ? cadence.wakeAt : null;
  }
}

/** Years can pass between two slots: 29 February, or a Friday 13th in June. */
function nextCronSlot(expr: string, tz: string, afterAt: number): number | null {
  for (let year = 0; year < MAX_GAP_YEARS; year++) {
    const slot = nextSlot(expr, tz, afterAt + year * YEAR_MS);
    if (slot !== null) return slot;
  }
  return null;
}

const YEAR_MS = 365 * 86_400_000;
/** There is no 29 February between 2096 and 2104. */
const MAX_GAP_YEARS = 9;

/** The last slot at or before `at` and after `floorAt`. */
export function slotUpTo(cadence: Cadence, at: number, floorAt: number): number | null {
  const slot = lastSlot(cadence, at);
  return slot !== null && slot > floorAt ? slot : null;
}

function lastSlot(cadence: Cadence, at: number): number | null {
  switch (cadence.kind) {
    case "cron":
      return previousSlot(cadence.expr, cadence.tz, at + 1);
    case "every": {
      const passed = Math.floor((at - cadence.anchorAt) / cadence.everyMs);
      return passed >= 1 ? cadence.anchorAt + passed * cadence.everyMs : null;
    }
    case "once":
      return cadence.at <= at ? cadence.at : null;
    case "paced":
      return cadence.wakeAt !== null && cadence.wakeAt <= at ? cadence.wakeAt : null;
  }
}

/** Slots in a row. A long run lists only its first slots. */
export interface SlotRun {
  readonly listed: readonly number[];
  readonly last: number;
  readonly count: number;
}

/** A longer run is recorded as one line with a count. */
export const MAX_LISTED_SLOTS = 1000;
/** Two months of a minute task. Beyond it the count is a lower bound. */
const MAX_COUNTED_SLOTS = 100_000;

/** All slots in (afterAt, untilAt]. */
export function slotRun(cadence: Cadence, afterAt: number, untilAt: number): SlotRun | null {
  const listed: number[] = [];
  let slot = slotAfter(cadence, afterAt);
  while (slot !== null && slot <= untilAt && listed.length < MAX_LISTED_SLOTS) {
    listed.push(slot);
    slot = slotAfter(cadence, slot);
  }
  const first = listed[0];
  if (first === undefined) return null;
  if (slot === null || slot > untilAt) return { listed, last: listed.at(-1) ?? first, count: listed.length };
  const last = slotUpTo(cadence, untilAt, afterAt) ?? slot;
  if (cadence.kind === "every") {
    return { listed, last, count: Math.round((last - first) / cadence.everyMs) + 1 };
  }
  let count = listed.length;
  while (slot !== null && slot <= last && count < MAX_COUNTED_SLOTS) {
    count += 1;
    slot = slotAfter(cadence, slot);
  }
  return { listed, last, count };
}

/** Slots of the cadence up to `untilAt` that are not recorded yet. */
export function cadenceSlots(task: Task, untilAt: number): SlotRun | null {
  return slotRun(task.cadence, task.cursorAt, expires(task) ? Math.min(untilAt, task.expiresAt) : untilAt);
}

/** Slots that were due by `now` and are not recorded yet. A requested run counts as a slot before the others. */
export function openSlots(task: Task, now: number): SlotRun | null {
  const run = cadenceSlots(task, now - task.jitterMs);
  if (task.request === null || task.request.at > now) return run;
  const first = task.request.at;
  if (run === null) return { listed: [first], last: first, count: 1 };
  return { listed: [first, ...run.listed], last: run.last, count: run.count + 1 };
}

/** When the owner must look at the task next; null: only after an event. */
export function wakeAt(task: Task): number | null {
  if (task.status !== "active" || task.fire !== null) return null;
  if (task.request !== null) return task.request.at;
  const slot = slotAfter(task.cadence, task.cursorAt);
  if (expires(task) && (slot === null || slot > task.expiresAt)) return task.expiresAt;
  return slot === null ? null : slot + task.jitterMs;
}

/** The next time to show to a person: like `wakeAt`, without requested runs. */
export function nextFireAt(task: Task): number | null {
  if (task.fire !== null && isFinal(task, task.fire)) return null;
  return wakeAt({ ...task, request: null, fire: null });
}

/** A final fire stays final unless the expiry was moved since. */
export function isFinal(task: Task, fire: Fire): boolean {
  return fire.kind === "final" && isLastSlot(task, fire.slot);
}

/** No other slot follows before the task expires. */
export function isLastSlot(task: Task, slot: number): boolean {
  if (!expires(task)) return false;
  if (task.cadence.kind === "paced") return slot >= task.expiresAt;
  const next = slotAfter(task.cadence, slot);
  return next === null || next > task.expiresAt;
}

/** A one-shot does not expire: it ends when it has fired. */
export function expires(task: Task): task is Task & { expiresAt: number } {
  return task.expiresAt !== null && task.cadence.kind !== "once";
}
