/** Renders `loop list`. Must not use Intl: its first use takes half as long as Node's start. */
import type { BacklogLine, GoalLine } from "../../core/views/line.ts";
import type { TaskView } from "../../core/views/task-view.ts";
import type { Io } from "../io.ts";
import { type Cell, oneLine, renderTable, titles } from "./table.ts";
import { nextMidnight, renderClock, renderWhen, whenChanges } from "./times.ts";

const NARROW = 72;

/** `timeZone`: the person's own. */
export function renderTaskList(
  tasks: readonly TaskView[],
  timeZone: string,
  now: number,
  io: Io,
  width: number,
): string {
  // a narrow terminal shows fewer times, so that the prompt fits
  const narrow = width < NARROW;
  const head = titles("ID", "SCHEDULE", "NEXT", ...(narrow ? [] : ["LAST"]), "PROMPT");
  const rows = tasks.map((task): Cell[] => [
    { style: "bold", text: task.id },
    renderSchedule(task, timeZone) + (task.durable ? "" : " (session)"),
    renderNext(task, now, narrow),
    ...(narrow ? [] : [task.lastFiredAt === null ? "never" : renderClock(Date.parse(task.lastFiredAt), now)]),
    task.prompt,
  ]);
  return renderTable([head, ...rows], width, io);
}

/** Goal loops that have not ended. */
export function renderGoalList(goals: readonly GoalLine[], io: Io, width: number): string {
  const head = titles("GOAL", "STATE", "ITERATION", "SPEC");
  const rows = goals.map(({ id, state, iteration, maxIterations, spec }): Cell[] => [
    { style: "bold", text: id },
    { style: state === "working" ? "green" : "yellow", text: state },
    `${iteration}/${maxIterations}`,
    spec,
  ]);
  return renderTable([head, ...rows], width, io);
}

/** Backlogs that have not ended. */
export function renderBacklogList(backlogs: readonly BacklogLine[], io: Io, width: number): string {
  const head = titles("BACKLOG", "STATE", "ITERATION", "STORIES", "WORKING ON");
  const rows = backlogs.map(
    ({ id, state, iteration, maxIterations, passed, blocked, total, stories }): Cell[] => [
      { style: "bold", text: id },
      { style: state === "working" ? "green" : "yellow", text: state },
      `${iteration}/${maxIterations}`,
      `${passed}/${total} passed${blocked > 0 ? `, ${blocked} blocked` : ""}`,
      stories.join(", ") || "-",
    ],
  );
  return renderTable([head, ...rows], width, io);
}

/** When the list of the same tasks next looks different. */
export function listChangesAt(tasks: readonly TaskView[], now: number): number {
  const times = tasks.map(({ nextFireAt }) => Date.parse(nextFireAt ?? "")).filter((at) => !Number.isNaN(at));
  return times.reduce((soonest, at) => Math.min(soonest, whenChanges(at, now)), nextMidnight(now));
}

/** Names the time zone if it differs from the person's. */
export function renderSchedule({ human, cron, recurring, tz }: TaskView, timeZone: string): string {
  const isTimeOfDay = cron !== null && recurring && /\d:\d\d/.test(human);
  return isTimeOfDay && tz !== timeZone ? `${human} (${tz})` : human;
}

export function renderNext(task: TaskView, now: number, short = false): Cell {
  const state: string = task.state;
  if (task.running) return { style: "green", text: "running now" };
  if (state === "ended") return { style: "dim", text: "ended" };
  if (state === "paused") return { style: "yellow", text: "paused" };
  if (state === "missed") return { style: "red", text: short ? "missed" : "missed: run or delete" };
  if (task.waiting !== null && short) return "now";
  if (task.waiting !== null) return task.waiting === "initial" ? "now (initial run)" : "now (by hand)";
  if (task.nextFireAt === null) return "-";
  const next = Date.parse(task.nextFireAt);
  if (short) return renderClock(next, now);
  // a runner may be up to a second late
  return next < now - 1_000 ? `was due ${renderWhen(next, now)}` : renderWhen(next, now);
}

/** Who fires the tasks, or what to type when nobody does. */
export function renderOwner(
  owner: { owner: string; host: string; pid: number } | null,
  count: number,
): string {
  const tasks = count === 1 ? "1 task" : `${count} tasks`;
  if (owner !== null) return oneLine(`${tasks}; run by ${owner.owner} on ${owner.host} (pid ${owner.pid})`);
  return `${tasks}; nothing runs ${count === 1 ? "it" : "them"}: start \`loop up\` in this folder`;
}
