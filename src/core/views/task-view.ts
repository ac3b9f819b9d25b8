/** A task as people and other programs see it: in tasks.json, `loop list --json` and the tools. */
import type { MissedPolicy, Task, TaskPlace, TaskStatus } from "../loop.ts";
import { nextFireAt } from "../task/slots.ts";
import { renderCadence } from "../text/human.ts";
import { iso, isoOrNull } from "./moment.ts";

export interface TaskView {
  readonly id: string;
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly tz: string | null;
  readonly prompt: string;
  readonly recurring: boolean;
  readonly durable: boolean;
  readonly where: TaskPlace;
  readonly state: TaskStatus;
  readonly stateReason: string | null;
  readonly running: boolean;
  /** A requested run outside the schedule. It starts as soon as a runner is there. */
  readonly waiting: "initial" | "manual" | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastFiredAt: string | null;
  readonly nextFireAt: string | null;
  readonly jitterMs: number;
  readonly human: string;
  readonly missed: MissedPolicy;
  readonly graceMs: number | null;
  readonly timeoutMs: number;
  readonly expect: string | null;
  readonly alertAfter: number | null;
  readonly failuresInARow: number;
  readonly version: number;
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
    expiresAt: isoOrNull(task.expiresAt),
    lastFiredAt: isoOrNull(task.lastFiredAt),
    nextFireAt: isoOrNull(nextFireAt(task)),
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
