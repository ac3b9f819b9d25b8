/** `loop pause | resume | delete | clear`: small requests, answered at once, carried out by whoever holds the lease. */

import type { LoopEvent } from "../../core/event.ts";
import type { Goal } from "../../core/goal/goal.ts";
import type { Task } from "../../core/loop.ts";
import { nextFireAt } from "../../core/task/slots.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { allGoals, findGoal } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { findTask, liveTasks, requestEvent } from "../../engine/tasks/tasks.ts";
import { usageError } from "../../errors.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { refuseForeign } from "../../store/folder/origin.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { oneLine } from "../render/table.ts";
import { renderWhen } from "../render/times.ts";
import { adoptEdits } from "./requests.ts";
import { settleOrphan } from "./settle-fire.ts";

export interface ChangeFlags extends ProjectFlags {
  readonly json?: boolean;
}

const DELETED: LoopEvent = { type: "task.deleted", reason: "deleted by a person" };

export async function pauseCommand(prefixes: readonly string[], flags: ChangeFlags, io: Io): Promise<number> {
  if (prefixes.length <= 1) {
    const { stopBacklog } = await import("../backlog/stop-backlog.ts");
    const stopped = await stopBacklog("pause", prefixes[0], flags, io);
    if (stopped !== null) return stopped;
  }
  const goals = await goalsMeant(prefixes, flags, io);
  if (goals !== null) {
    const { pauseGoal } = await import("../goals/goal.ts");
    for (const goal of goals.found) await pauseGoal(goals.project, goal, flags, io);
    if (goals.others.length === 0) return EXIT.ok;
  }
  return changeTasks(
    goals === null ? prefixes : goals.others,
    () => ({ type: "task.paused" }),
    flags,
    io,
    (task) =>
      task.fire === null ? `Paused ${task.id}.` : `Paused ${task.id}; the fire that runs now is let finish.`,
  );
}

interface GoalsMeant {
  readonly project: Project;
  readonly found: readonly Goal[];
  readonly others: readonly string[];
}

/** Ids of goals among those of tasks; no id at all means the goal loop that is at work. null: only tasks. */
async function goalsMeant(
  prefixes: readonly string[],
  flags: ChangeFlags,
  io: Io,
): Promise<GoalsMeant | null> {
  const project = openProject(flags, io);
  const { store } = project;
  if (prefixes.length === 0) return { project, found: [findGoal(store, undefined)], others: [] };
  const isGoal = (prefix: string) =>
    allGoals(store).some(({ id }) => id.startsWith(prefix.toLowerCase())) &&
    !liveTasks(store).some(({ id }) => id.startsWith(prefix.toLowerCase()));
  const found = prefixes.filter(isGoal).map((prefix) => findGoal(store, prefix));
  if (found.length === 0) return null;
  return { project, found, others: prefixes.filter((prefix) => !isGoal(prefix)) };
}

export async function resumeCommand(
  prefixes: readonly string[],
  flags: ChangeFlags,
  io: Io,
): Promise<number> {
  return changeTasks(
    prefixes,
    () => ({ type: "task.resumed" }),
    flags,
    io,
    (task) => {
      const next = nextFireAt(task);
      if (task.status === "missed")
        return `${task.id} was due during the pause; run it now: loop run ${task.id}`;
      return `Resumed ${task.id}${next === null ? "" : `; next ${renderWhen(next, Date.now())}`}.`;
    },
  );
}

export async function deleteCommand(
  prefixes: readonly string[],
  flags: ChangeFlags,
  io: Io,
): Promise<number> {
  // An agent that ends its own loop is not cut off in the middle of its answer.
  const eventFor = (task: Task): LoopEvent => (isOwnTurn(task) ? { type: "task.ending" } : DELETED);
  return changeTasks(prefixes, eventFor, flags, io, async (task, project) => {
    if (isOwnTurn(task)) return `${task.id} ends with this turn.`;
    if (task.fire === null) return `Deleted ${task.id}.`;
    const isStopped = await stopFire(project, task, io);
    return `Deleted ${task.id}; the fire that runs now is stopped${isStopped ? "" : " by the next runner"}.`;
  });
}

function isOwnTurn({ fire }: Task): boolean {
  return fire !== null && fire.id === process.env.LOOP_FIRE_ID;
}

/** A runner that is there stops it; without one (it was killed, its agent was not) we do. false: neither can. */
async function stopFire(project: Project, task: Task, io: Io): Promise<boolean> {
  if (liveOwner(project.store, Date.now()) !== null) return true;
  return (await settleOrphan(project, task, io)) || liveOwner(project.store, Date.now()) !== null;
}

export async function clearCommand(flags: ChangeFlags & { yes?: boolean }, io: Io): Promise<number> {
  const project = await openWithEdits(flags, io);
  const tasks = liveTasks(project.store);
  if (tasks.length > 0 && !flags.yes) {
    if (!io.interactive)
      throw usageError("clear deletes all tasks and asks first; without a terminal add --yes.");
    const { confirm, isCancel } = await import("@clack/prompts");
    for (const task of tasks) io.say(`  ${task.id}  ${oneLine(task.prompt).slice(0, 70)}`);
    const answer = await confirm({ message: `Delete ${count(tasks)}?`, initialValue: false });
    if (isCancel(answer) || !answer) {
      io.say("Nothing was deleted.");
      return EXIT.ok;
    }
  }
  const deleted: Task[] = [];
  for (const task of tasks) deleted.push(await requestEvent(project.store, task, DELETED, Date.now()));
  if (tasks.length > 0) await project.store.published?.publish();
  for (const task of deleted) if (task.fire !== null) await stopFire(project, task, io);
  if (flags.json) io.json({ deleted: tasks.map((task) => task.id) });
  else io.out(tasks.length === 0 ? "There are no tasks." : `Deleted ${count(tasks)}.`);
  return EXIT.ok;
}

function count(tasks: readonly Task[]): string {
  return tasks.length === 1 ? "1 task" : `all ${tasks.length} tasks`;
}

/** All ids are looked up before anything is changed. */
async function changeTasks(
  prefixes: readonly string[],
  eventFor: (task: Task) => LoopEvent,
  flags: ChangeFlags,
  io: Io,
  sentence: (task: Task, project: Project) => string | Promise<string>,
): Promise<number> {
  const project = await openWithEdits(flags, io);
  const tasks = prefixes.map((prefix) => findTask(project.store, prefix));
  const changed: Task[] = [];
  for (const task of new Set(tasks)) {
    changed.push(await requestEvent(project.store, task, eventFor(task), Date.now()));
  }
  await project.store.published?.publish();
  for (const task of changed) {
    const text = await sentence(task, project);
    if (!flags.json) io.out(text);
  }
  if (flags.json) io.json(changed.map((task) => ({ ...viewTask(task), deleted: task.status === "ended" })));
  return EXIT.ok;
}

/** For a change: opens the project and carries out what a person wrote into tasks.json first. */
export async function openWithEdits(flags: ProjectFlags, io: Io): Promise<Project> {
  const project = openProject(flags, io);
  refuseForeign(project.dir);
  await adoptEdits(project, readConfig(project), io);
  return project;
}
