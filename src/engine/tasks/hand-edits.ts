/** Carries out a person's edits of the published tasks like commands: edit, delete, create. */
import type { LoopEvent, TaskEdit } from "../../core/event.ts";
import type { Cadence, LoopId, Task } from "../../core/loop.ts";
import { planCron } from "../../core/task/plan.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { LoopError } from "../../errors.ts";
import type { LoopStore } from "../../ports/loops.ts";
import type { HandRequest, HandTask, WantedTask } from "../../ports/requests.ts";
import type { Store } from "../../ports/store.ts";
import { addTaskAs, draftTask, fullMessage, requestEvent, type TaskDefaults } from "./tasks.ts";

interface HandEditSettings extends TaskDefaults {
  readonly maxTasks: number;
  /** The zone of tasks that name none. */
  readonly tz: string;
}

/** Does nothing without an edit. `say` tells the person the result. */
export async function carryOutHandEdits(
  store: Store,
  settings: HandEditSettings,
  now: () => number,
  say: (message: string) => void,
): Promise<void> {
  const { requests } = store;
  const request = await requests?.take();
  if (requests === undefined || request == null) return;
  switch (request.kind) {
    case "unreadable":
      say(`tasks.json ${request.why}: moved to ${request.movedTo} and written again from the journal.`);
      break;
    case "lost":
      await restoreLost(store, settings, request, now, say);
      break;
    case "edited":
      await adoptFile(store, settings, request, now(), say);
  }
  await requests.confirm(request);
}

async function adoptFile(
  store: LoopStore,
  settings: HandEditSettings,
  { tasks, knownBy }: Extract<HandRequest, { kind: "edited" }>,
  now: number,
  say: (message: string) => void,
): Promise<void> {
  const done: string[] = [];
  const listed = new Set(tasks.map(({ wanted }) => wanted.id));
  // deletions first, so that a file that replaces all tasks stays below the limit
  for (const task of [...store.loops()].filter((loop) => loop.kind === "task")) {
    const removed =
      task.session === null && task.status !== "ended" && !listed.has(task.id) && task.createdAt <= knownBy;
    if (!removed) continue;
    await requestEvent(store, task, { type: "task.deleted", reason: "removed from tasks.json" }, now);
    done.push(`deleted ${task.id}`);
  }
  for (const each of tasks) {
    try {
      const what = await adoptTask(store, settings, each, now);
      if (what !== null) done.push(what);
    } catch (error) {
      if (!(error instanceof LoopError)) throw error;
      say(`tasks.json, task ${each.wanted.id ?? "(new)"}: ${error.message} This task was skipped.`);
    }
  }
  if (done.length > 0) say(`tasks.json was edited: ${done.join(", ")}.`);
}

/** Restores published tasks when the journal was removed, cut or damaged (A13). */
async function restoreLost(
  store: LoopStore,
  settings: HandEditSettings,
  { tasks, from, keptAs }: Extract<HandRequest, { kind: "lost" }>,
  now: () => number,
  say: (message: string) => void,
): Promise<void> {
  const restored: string[] = [];
  for (const lost of tasks) {
    try {
      const task = await createNew(store, settings, lost, now());
      if (task !== null) restored.push(task.id);
    } catch (error) {
      if (!(error instanceof LoopError)) throw error;
      say(`Cannot restore task ${lost.wanted.id}: ${error.message}`);
    }
  }
  const what =
    keptAs === null ? "The journal was missing" : `The journal was cut or damaged (kept as ${keptAs})`;
  say(`${what}; restored from ${from}: ${restored.join(", ")}. Their schedules start now.`);
}

async function adoptTask(
  store: LoopStore,
  settings: HandEditSettings,
  hand: HandTask,
  now: number,
): Promise<string | null> {
  const { wanted } = hand;
  const task = wanted.id === undefined ? null : liveTask(store, wanted.id as LoopId);
  if (task === null) {
    const created = await createNew(store, settings, hand, now);
    return created === null ? null : `created ${created.id}`;
  }
  const events = changesTo(task, wanted, settings, now);
  if (events.length === 0) return null;
  if (wanted.version !== undefined && wanted.version !== task.version) {
    throw new LoopError("usage", "the task changed after the file was read, so the edit was ignored.");
  }
  let changed = task;
  for (const event of events) changed = await requestEvent(store, changed, event, now);
  return `changed ${task.id}`;
}

function liveTask(store: LoopStore, id: LoopId): Task | null {
  const task = store.load(id);
  return task?.kind !== "task" || task.status === "ended" ? null : task;
}

function changesTo(task: Task, wanted: WantedTask, settings: HandEditSettings, now: number): LoopEvent[] {
  const view = viewTask(task);
  const events: LoopEvent[] = [];
  const cronChanged = (wanted.cron ?? null) !== view.cron || (wanted.everyMs ?? null) !== view.everyMs;
  const zoneChanged = view.cron !== null && wanted.tz != null && wanted.tz !== view.tz;
  const moved =
    !wanted.recurring &&
    wanted.cron == null &&
    wanted.nextFireAt != null &&
    wanted.nextFireAt !== view.nextFireAt;
  const edit: TaskEdit = {
    ...(wanted.prompt === task.prompt ? {} : { prompt: wanted.prompt }),
    ...(cronChanged || zoneChanged || moved ? { cadence: cadenceOf(wanted, settings, now) } : {}),
    ...(wanted.expiresAt === view.expiresAt ? {} : expiryOf(wanted)),
    ...(wanted.missed === undefined || wanted.missed === view.missed ? {} : { missed: wanted.missed }),
    ...((wanted.graceMs ?? null) === task.graceMs ? {} : { graceMs: wanted.graceMs ?? null }),
    ...(wanted.timeoutMs === undefined || wanted.timeoutMs === task.timeoutMs
      ? {}
      : { timeoutMs: wanted.timeoutMs }),
    ...((wanted.expect ?? null) === task.expect ? {} : { expect: wanted.expect ?? null }),
    ...((wanted.alertAfter ?? null) === task.alertAfter ? {} : { alertAfter: wanted.alertAfter ?? null }),
  };
  if (Object.keys(edit).length > 0) events.push({ type: "task.edited", edit });
  if (wanted.state === "paused" && view.state !== "paused") events.push({ type: "task.paused" });
  if (wanted.state === "active" && view.state === "paused") events.push({ type: "task.resumed" });
  return events;
}

/** Several processes may read the same file, but the ids are equal, so a task is created once. null: it exists. */
async function createNew(
  store: LoopStore,
  settings: HandEditSettings,
  { wanted, newId }: HandTask,
  now: number,
): Promise<Task | null> {
  for (let round = 0; ; round++) {
    const id = round === 0 && wanted.id !== undefined ? (wanted.id as LoopId) : newId(round);
    const task = await createFrom(store, settings, wanted, id, now);
    if (task !== null || liveTask(store, id) !== null) return task;
    // an ended task has this id
    if (wanted.version !== undefined)
      throw new LoopError("usage", "the task was deleted after the file was read, and it stays deleted.");
  }
}

/** null: the id is in use. */
async function createFrom(
  store: LoopStore,
  settings: HandEditSettings,
  wanted: WantedTask,
  id: LoopId,
  now: number,
): Promise<Task | null> {
  if (store.load(id) !== undefined) return null;
  const draft = draftTask(
    {
      prompt: wanted.prompt,
      cadence: cadenceOf(wanted, settings, now),
      jitter: wanted.jitterMs !== 0 && settings.jitter,
      missed: wanted.missed ?? null,
      graceMs: wanted.graceMs ?? null,
      expect: wanted.expect ?? null,
      alertAfter: wanted.alertAfter ?? null,
      ...(wanted.timeoutMs === undefined ? {} : { timeoutMs: wanted.timeoutMs }),
      ...expiryOf(wanted),
    },
    settings,
    now,
  );
  const added = await addTaskAs(id, store, draft, settings.maxTasks, now);
  if (added.kind === "full") throw new LoopError("usage", fullMessage(added.live, settings.maxTasks));
  if (added.kind === "taken") return null;
  return wanted.state === "paused"
    ? requestEvent(store, added.task, { type: "task.paused" }, now)
    : added.task;
}

function expiryOf({ expiresAt }: WantedTask): Pick<TaskEdit, "expiresAt"> {
  if (expiresAt === undefined) return {};
  return { expiresAt: expiresAt === null ? null : Date.parse(expiresAt) };
}

function cadenceOf(wanted: WantedTask, settings: HandEditSettings, now: number): Cadence {
  const tz = wanted.tz ?? settings.tz;
  if (wanted.everyMs != null) return { kind: "every", everyMs: wanted.everyMs, anchorAt: now };
  if (wanted.cron != null) {
    const planned = planCron(wanted.cron, wanted.prompt, wanted.recurring, { tz, now });
    if (planned.kind === "plan") return planned.cadence;
    throw new LoopError("usage", planned.kind === "invalid" ? planned.message : "it has no prompt.");
  }
  // a missed one-shot has no next time and stays missed
  const at = Date.parse(wanted.nextFireAt ?? (wanted.state === "missed" ? wanted.createdAt : null) ?? "");
  if (wanted.recurring && Number.isNaN(at)) throw new LoopError("usage", "it has neither cron nor everyMs.");
  if (wanted.recurring) return { kind: "paced", wakeAt: at, reason: "restored from tasks.json" };
  if (Number.isNaN(at)) throw new LoopError("usage", "a one-shot needs nextFireAt or cron.");
  return { kind: "once", at, cron: null, tz };
}
