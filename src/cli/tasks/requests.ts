/**
 * What a person wrote into tasks.json is carried out like commands: changed prompts and schedules are edits,
 * missing tasks are deletions, new ones creations. Whatever cannot be understood is moved aside and said so.
 */
import { createHash } from "node:crypto";
import type { LoopEvent, TaskEdit } from "../../core/event.ts";
import type { Cadence, LoopId, Task } from "../../core/loop.ts";
import { planCron } from "../../core/task/plan.ts";
import { viewTask } from "../../core/task/view.ts";
import { addTaskAs, draftTask, fullMessage, requestEvent } from "../../engine/tasks/tasks.ts";
import { LoopError } from "../../errors.ts";
import type { Config } from "../../schema/config.ts";
import type { FileTask } from "../../schema/tasks-file.ts";
import { localTimeZone } from "../../store/files/config-file.ts";
import { quarantineTasksFile, readTasksFile, type TasksFileState } from "../../store/files/tasks-file.ts";
import { originOf } from "../../store/folder/origin.ts";
import type { Io } from "../io.ts";
import type { Project } from "../project.ts";

const SETTLE_MS = 40;
const SETTLE_LOOKS = 5;

export async function adoptEdits(project: Project, config: Config, io: Io): Promise<void> {
  if (!hasEdits(project)) return;
  const { dir, store } = project;
  const file = await readSettled(dir);
  const now = Date.now();
  if (file.kind === "absent" || !isRequest(file, store)) return;
  if (file.kind === "published") return restoreLost(project, config, io, file.text);
  const { tasksFileSchema } = await import("../../schema/tasks-file.ts");
  const content = file.kind === "damaged" ? null : file.content;
  const parsed = tasksFileSchema.safeParse(content);
  if (!parsed.success) {
    const aside = quarantineTasksFile(dir, now);
    const issue = parsed.error.issues[0];
    const why =
      file.kind === "damaged"
        ? "did not parse"
        : `has a fault at ${issue?.path.join(".")}: ${issue?.message}`;
    io.say(`tasks.json ${why}: moved to ${aside} and written anew from the journal.`);
    await store.publish();
    return;
  }
  const knownBy = Date.parse(parsed.data.publishedAt ?? "") || 0;
  const done: string[] = [];
  const listed = new Set(parsed.data.tasks.map(({ id }) => id));
  // first, so that a file that replaces all tasks does not meet the limit
  for (const task of [...store.loops()].filter((loop) => loop.kind === "task")) {
    const removed =
      task.session === null && task.status !== "ended" && !listed.has(task.id) && task.createdAt <= knownBy;
    if (!removed) continue;
    await requestEvent(store, task, { type: "task.deleted", reason: "removed from tasks.json" }, now);
    done.push(`deleted ${task.id}`);
  }
  const newIdFor = idsFrom(content);
  for (const wanted of parsed.data.tasks) {
    try {
      const what = await adoptTask(project, config, wanted, newIdFor(wanted), now);
      if (what !== null) done.push(what);
    } catch (error) {
      if (!(error instanceof LoopError)) throw error;
      io.say(`tasks.json, task ${wanted.id ?? "(new)"}: ${error.message} It was left out.`);
    }
  }
  if (done.length > 0) io.say(`tasks.json was edited: ${done.join(", ")}.`);
  await store.publish(file.text === null ? {} : { adopted: file.text });
}

/** The journal is gone, cut or damaged, but what it said was published: tasks must not vanish with it (A13). */
async function restoreLost({ dir, store }: Project, config: Config, io: Io, adopted: string): Promise<void> {
  const { fileTaskSchema } = await import("../../schema/tasks-file.ts");
  const aside = store.journal.keepAside(Date.now());
  const restored: string[] = [];
  for (const lost of store.lostTasks()) {
    try {
      const task = await createNew(
        store,
        config,
        fileTaskSchema.parse(lost),
        () => lost.id as LoopId,
        Date.now(),
      );
      if (task !== null) restored.push(task.id);
    } catch (error) {
      if (!(error instanceof LoopError)) throw error;
      io.say(`Task ${lost.id} could not be restored: ${error.message}`);
    }
  }
  const what = aside === null ? "The journal was gone" : `The journal was cut or damaged (kept as ${aside})`;
  io.say(`${what}; restored from tasks.json in ${dir}: ${restored.join(", ")}. Slots count from now.`);
  await store.publish({ adopted });
}

/** An editor that saves in place leaves half a file for a moment: only what stays broken is damaged. */
async function readSettled(dir: string): Promise<TasksFileState> {
  let file = readTasksFile(dir);
  for (let look = 0; look < SETTLE_LOOKS && file.kind === "damaged"; look++) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    file = readTasksFile(dir);
  }
  return file;
}

async function adoptTask(
  { store }: Project,
  config: Config,
  wanted: FileTask,
  newId: (round: number) => LoopId,
  now: number,
): Promise<string | null> {
  const task = wanted.id === undefined ? null : liveTask(store, wanted.id as LoopId);
  if (task === null) {
    const created = await createNew(store, config, wanted, newId, now);
    return created === null ? null : `created ${created.id}`;
  }
  const events = changesTo(task, wanted, config, now);
  if (events.length === 0) return null;
  if (wanted.version !== undefined && wanted.version !== task.version) {
    throw new LoopError("usage", "it changed elsewhere after the file was read, so the edit was not taken.");
  }
  let changed = task;
  for (const event of events) changed = await requestEvent(store, changed, event, now);
  return `changed ${task.id}`;
}

function liveTask(store: Project["store"], id: LoopId): Task | null {
  const task = store.load(id);
  return task?.kind !== "task" || task.status === "ended" ? null : task;
}

function changesTo(task: Task, wanted: FileTask, config: Config, now: number): LoopEvent[] {
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
    ...(cronChanged || zoneChanged || moved ? { cadence: cadenceOf(wanted, config, now) } : {}),
    ...(wanted.expiresAt === undefined || wanted.expiresAt === view.expiresAt
      ? {}
      : { expiresAt: wanted.expiresAt === null ? null : Date.parse(wanted.expiresAt) }),
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

/**
 * Several processes may read the same file at once: all of them come to the same ids, so that a new task is created
 * once. null: another process was faster.
 */
async function createNew(
  store: Project["store"],
  config: Config,
  wanted: FileTask,
  newId: (round: number) => LoopId,
  now: number,
): Promise<Task | null> {
  for (let round = 0; ; round++) {
    const id = round === 0 && wanted.id !== undefined ? (wanted.id as LoopId) : newId(round);
    const task = await createFrom(store, config, wanted, id, now);
    if (task !== null || liveTask(store, id) !== null) return task;
    // The id was used before, by a task that has ended.
    if (wanted.version !== undefined)
      throw new LoopError("usage", "it was deleted after the file was read, and stays deleted.");
  }
}

/**
 * An id follows from the task and from the publication that was edited: a person who saves twice before the file is
 * published anew adds a task once.
 */
function idsFrom(content: unknown): (wanted: FileTask) => (round: number) => LoopId {
  const { publishedAt, journal } = content as { publishedAt?: string; journal?: unknown };
  const base = publishedAt === undefined ? content : [publishedAt, journal];
  const seen = new Map<string, number>();
  return (wanted) => {
    const task = JSON.stringify(wanted);
    const twin = seen.get(task) ?? 0;
    seen.set(task, twin + 1);
    return (round) => {
      const text = JSON.stringify([round, twin, task, base]);
      return createHash("sha256").update(text).digest("hex").slice(0, 8) as LoopId;
    };
  };
}

/** null: the id is taken. */
async function createFrom(
  store: Project["store"],
  config: Config,
  wanted: FileTask,
  id: LoopId,
  now: number,
): Promise<Task | null> {
  if (store.load(id) !== undefined) return null;
  const draft = draftTask(
    {
      prompt: wanted.prompt,
      cadence: cadenceOf(wanted, config, now),
      jitter: wanted.jitterMs !== 0 && config.jitter,
      missed: wanted.missed ?? null,
      graceMs: wanted.graceMs ?? null,
      expect: wanted.expect ?? null,
      alertAfter: wanted.alertAfter ?? null,
      ...(wanted.timeoutMs === undefined ? {} : { timeoutMs: wanted.timeoutMs }),
      ...(wanted.expiresAt === undefined
        ? {}
        : { expiresAt: wanted.expiresAt === null ? null : Date.parse(wanted.expiresAt) }),
    },
    config,
    now,
  );
  const added = await addTaskAs(id, store, draft, config.maxTasks, now);
  if (added.kind === "full") throw new LoopError("usage", fullMessage(added.live, config.maxTasks));
  if (added.kind === "taken") return null;
  return wanted.state === "paused"
    ? requestEvent(store, added.task, { type: "task.paused" }, now)
    : added.task;
}

function cadenceOf(wanted: FileTask, config: Config, now: number): Cadence {
  const tz = wanted.tz ?? localTimeZone(config);
  if (wanted.everyMs != null) return { kind: "every", everyMs: wanted.everyMs, anchorAt: now };
  if (wanted.cron != null) {
    const planned = planCron(wanted.cron, wanted.prompt, wanted.recurring, { tz, now });
    if (planned.kind === "plan") return planned.cadence;
    throw new LoopError("usage", planned.kind === "invalid" ? planned.message : "it has no prompt.");
  }
  // A one-shot that was missed has no next time; it stays missed.
  const at = Date.parse(wanted.nextFireAt ?? (wanted.state === "missed" ? wanted.createdAt : null) ?? "");
  if (wanted.recurring && Number.isNaN(at)) throw new LoopError("usage", "it has neither cron nor everyMs.");
  if (wanted.recurring) return { kind: "paced", wakeAt: at, reason: "restored from tasks.json" };
  if (Number.isNaN(at)) throw new LoopError("usage", "a one-shot needs nextFireAt or cron.");
  return { kind: "once", at, cron: null, tz };
}

/** Did a person change, damage or bring back tasks.json? What a repository brought along is no person's word. */
export function hasEdits({ dir, store }: Project): boolean {
  return originOf(dir) !== "foreign" && isRequest(readTasksFile(dir), store);
}

function isRequest(file: TasksFileState, store: Project["store"]): boolean {
  if (file.kind === "published") return store.lostTasks().length > 0;
  return file.kind !== "absent";
}
