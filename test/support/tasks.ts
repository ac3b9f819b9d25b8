/** Tasks and short ways to put them through decisions, for the tests of `core`. */
import { decide } from "../../src/core/decide.ts";
import type { Decision, LoopEvent } from "../../src/core/event.ts";
import type { Cadence, LoopId, Task, Wakeup } from "../../src/core/loop.ts";
import { createTask, type TaskDraft } from "../../src/core/task/decide-task.ts";
import { DRAFT, START } from "./memory-ports.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export { START };

export const cron = (expr: string, tz = "UTC"): Cadence => ({ kind: "cron", expr, tz });
export const every = (everyMs: number, anchorAt = START): Cadence => ({ kind: "every", everyMs, anchorAt });
export const once = (at: number, tz = "UTC"): Cadence => ({ kind: "once", at, cron: null, tz });
export const paced = (wakeAt: number | null = null): Cadence => ({ kind: "paced", wakeAt, reason: null });

export function task(cadence: Cadence, draft: Partial<TaskDraft> = {}, now = START): Task {
  const id = draft.id ?? ("a1b2c3d4" as LoopId);
  return createTask({ ...DRAFT, ...draft, id, cadence }, now).loop;
}

export type Changed = Extract<Decision<Task>, { kind: "change" }>;

/** The decision, which must change something. */
export function changed(loop: Task, event: LoopEvent, now: number): Changed {
  const decision = decide(loop, event, now);
  if (decision.kind !== "change") throw new Error(`${event.type} at ${now}: ${JSON.stringify(decision)}`);
  return decision;
}

/** The owner looks; it has been there since `awakeSince` (always, when left out). */
export function due(loop: Task, now: number, awakeSince = 0): Decision<Task> {
  return decide(loop, { type: "task.due", token: 1, awakeSince }, now);
}

export function fires(loop: Task, now: number, awakeSince = 0): Changed {
  const decision = due(loop, now, awakeSince);
  if (decision.kind !== "change" || decision.loop.fire === null)
    throw new Error(`no fire at ${now}: ${JSON.stringify(decision)}`);
  return decision;
}

export function finish(loop: Task, now: number, outcome: "ok" | "failed" = "ok"): Changed {
  if (loop.fire === null) throw new Error("nothing is in flight");
  const reason = outcome === "ok" ? null : "exit 1";
  return changed(loop, { type: "fire.finished", fireId: loop.fire.id, outcome, reason }, now);
}

export const minuteOf = (at: number): string => new Date(at).toISOString().slice(11, 16);

/** The wish of a self-paced agent to be woken after `delayMs`. */
export const wakeIn = (delayMs: number, reason = "the build takes long"): Wakeup => ({
  kind: "sleep",
  delayMs,
  reason,
});
