/** `loop pause | resume | delete | clear`: records a request; the process that holds the lease carries it out. */
import type { LoopEvent } from "../../core/event.ts";
import type { Task } from "../../core/loop.ts";
import { nextFireAt } from "../../core/task/slots.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { allGoals, findGoal } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { findTask, liveTasks, requestEvent } from "../../engine/tasks/tasks.ts";
import { usageError } from "../../errors.ts";
import type { Store } from "../../ports/store.ts";
import { confirmInTerminal } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { oneLine } from "../render/table.ts";
import { renderWhen } from "../render/times.ts";
import { openWithEdits } from "./requests.ts";
import { settleOrphan } from "./settle-fire.ts";

const DELETED: LoopEvent = { type: "task.deleted", reason: "deleted by a person" };

export async function pauseCommand(prefixes: string[], flags: ProjectFlags, io: Io): Promise<number> {
  if (prefixes.length <= 1) {
    const { stopBacklog } = await import("../backlog/stop-backlog.ts");
    const stopped = await stopBacklog("pause", prefixes[0], flags, io);
    if (stopped !== null) return stopped;
  }
  const project = openProject(flags, io);
  const { goals, others } = splitGoals(project.store, prefixes);
  const { pauseGoal } = await import("../goals/goal.ts");
  for (const goal of goals) await pauseGoal(project, goal, flags, io);
  if (goals.length > 0 && others.length === 0) return EXIT.ok;
  return changeTasks(
    { prefixes: others, flags, io },
    () => ({ type: "task.paused" }),
    (task) =>
      task.fire === null ? `Paused ${task.id}.` : `Paused ${task.id}. Its running fire finishes first.`,
  );
}

/** Splits ids of goals from ids of tasks. No id means the active goal loop. */
function splitGoals(store: Store, prefixes: readonly string[]) {
  if (prefixes.length === 0) return { goals: [findGoal(store, undefined)], others: [] };
  const isGoal = (prefix: string) =>
    allGoals(store).some(({ id }) => id.startsWith(prefix.toLowerCase())) &&
    !liveTasks(store).some(({ id }) => id.startsWith(prefix.toLowerCase()));
  return {
    goals: prefixes.filter(isGoal).map((prefix) => findGoal(store, prefix)),
    others: prefixes.filter((prefix) => !isGoal(prefix)),
  };
}

export async function resumeCommand(prefixes: string[], flags: ProjectFlags, io: Io): Promise<number> {
  return changeTasks(
    { prefixes, flags, io },
    () => ({ type: "task.resumed" }),
    (task) => {
      const next = nextFireAt(task);
      if (task.status === "missed")
        return `${task.id} was due during the pause. Run it now with: loop run ${task.id}`;
      return `Resumed ${task.id}${next === null ? "" : `; next ${renderWhen(next, Date.now())}`}.`;
    },
  );
}

export async function deleteCommand(prefixes: string[], flags: ProjectFlags, io: Io): Promise<number> {
  // An agent that deletes its own task may finish its answer.
  const eventFor = (task: Task): LoopEvent => (isOwnTurn(task) ? { type: "task.ending" } : DELETED);
  return changeTasks({ prefixes, flags, io }, eventFor, async (task, project) => {
    if (isOwnTurn(task)) return `${task.id} ends after this turn.`;
    if (task.fire === null) return `Deleted ${task.id}.`;
    const isStopped = await stopFire(project, task, io);
    return `Deleted ${task.id}. ${isStopped ? "Its running fire is stopped." : "The next runner stops its running fire."}`;
  });
}

function isOwnTurn({ fire }: Task): boolean {
  return fire !== null && fire.id === process.env.LOOP_FIRE_ID;
}

/** The runner stops the fire. If the runner was killed, this process does. false: neither can. */
async function stopFire(project: Project, task: Task, io: Io): Promise<boolean> {
  if (liveOwner(project.store, Date.now()) !== null) return true;
  return (await settleOrphan(project, task, io)) || liveOwner(project.store, Date.now()) !== null;
}

export async function clearCommand(flags: ProjectFlags & { yes?: boolean }, io: Io): Promise<number> {
  const project = await openWithEdits(flags, io);
  const tasks = liveTasks(project.store);
  if (tasks.length > 0 && !flags.yes) {
    if (!io.interactive)
      throw usageError(
        "`loop clear` asks first, but there is no terminal.",
        "To delete all tasks without the question: loop clear --yes",
      );
    for (const task of tasks) io.say(`  ${task.id}  ${oneLine(task.prompt).slice(0, 70)}`);
    if (!(await confirmInTerminal(`Delete ${countOf(tasks)}?`))) {
      io.say("Nothing was deleted.");
      return EXIT.ok;
    }
  }
  const deleted: Task[] = [];
  for (const task of tasks) deleted.push(await requestEvent(project.store, task, DELETED, Date.now()));
  if (tasks.length > 0) await project.store.published?.publish();
  for (const task of deleted) if (task.fire !== null) await stopFire(project, task, io);
  const text = tasks.length === 0 ? "There are no tasks." : `Deleted ${countOf(tasks)}.`;
  return answer(flags, io, { deleted: tasks.map((task) => task.id) }, text);
}

function countOf(tasks: readonly Task[]): string {
  return tasks.length === 1 ? "1 task" : `all ${tasks.length} tasks`;
}

/** Finds all tasks before it changes any of them. */
async function changeTasks(
  { prefixes, flags, io }: { prefixes: readonly string[]; flags: ProjectFlags; io: Io },
  eventFor: (task: Task) => LoopEvent,
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
