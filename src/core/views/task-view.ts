/** A task as people and other programs see it: in tasks.json, `loop list --json` and the tools. */
import type { Task, TaskStatus } from "../loop.ts";
import { nextFireAt } from "../task/slots.ts";
import { renderCadence } from "../text/human.ts";
import { iso, momentOf } from "./moment.ts";

type Terms = "prompt" | "where" | "missed" | "graceMs" | "timeoutMs" | "expect" | "alertAfter";

export interface TaskView extends Pick<Task, Terms | "jitterMs" | "version"> {
  readonly id: string;
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly tz: string | null;
  readonly recurring: boolean;
  readonly durable: boolean;
  readonly state: TaskStatus;
  readonly stateReason: string | null;
  readonly running: boolean;
  /** A requested run outside the schedule. It starts as soon as a runner is there. */
  readonly waiting: "initial" | "manual" | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastFiredAt: string | null;
  readonly nextFireAt: string | null;
  readonly human: string;
  readonly failuresInARow: number;
}

export function viewTask(task: Task): TaskView {
  const { cadence } = task;
  return {
    id: task.id,
    cron: cadence.kind === "cron" ? cadence.expr : cadence.kind === "once" ? cadence.cron : null,
    everyMs: cadence.kind === "every" ? cadence.everyMs : null,
    tz: cadence.kind === "cron" || cadence.kind === "once" ? cadence.tz : null,
    prompt: task.prompt,
    recurring: cadence.kind !== "once",
    durable: task.session === null,
    where: task.where,
    state: task.status,
    stateReason: task.statusReason,
    running: task.fire !== null,
    waiting: task.request?.kind ?? null,
    createdAt: iso(task.createdAt),
    expiresAt: momentOf(task.expiresAt),
    lastFiredAt: momentOf(task.lastFiredAt),
    nextFireAt: momentOf(nextFireAt(task)),
    jitterMs: task.jitterMs,
    human: renderCadence(cadence),
    missed: task.missed,
    graceMs: task.graceMs,
    timeoutMs: task.timeoutMs,
    expect: task.expect,
    alertAfter: task.alertAfter,
    failuresInARow: task.streak,
    version: task.version,
  };
}
