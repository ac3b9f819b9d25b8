/**
 * The list of tasks, from what was published of them. `loop list` has hardly more time than bare Node takes to
 * start: nothing here may use Intl, whose first use alone costs half of that.
 */
import type { TaskView } from "../../core/task/view.ts";
import { type Io, paint } from "../io.ts";
import { oneLine, renderTable } from "./table.ts";
import { renderClock, renderWhen } from "./times.ts";

const NARROW = 72;

/** `timeZone`: the one that the person's other times are in. */
export function renderTaskList(
  tasks: readonly TaskView[],
  timeZone: string,
  now: number,
  io: Io,
  width: number,
): string {
  // a narrow terminal shows less about the times, so that the prompt can still be told
  const narrow = width < NARROW;
  const titles = ["ID", "SCHEDULE", "NEXT", ...(narrow ? [] : ["LAST"]), "PROMPT"];
  const head = titles.map((title) => paint(io, "dim", title));
  const rows = tasks.map((task) => [
    paint(io, "bold", task.id),
    renderSchedule(task, timeZone) + (task.durable ? "" : " (session)"),
    renderNext(task, now, io, narrow),
    ...(narrow ? [] : [task.lastFiredAt === null ? "never" : renderClock(Date.parse(task.lastFiredAt), now)]),
    oneLine(task.prompt),
  ]);
  return renderTable([head, ...rows], width);
}

/** In words, with the time zone where it is another one. */
export function renderSchedule({ human, cron, recurring, tz }: TaskView, timeZone: string): string {
  const isTimeOfDay = cron !== null && recurring && /\d:\d\d/.test(human);
  return isTimeOfDay && tz !== timeZone ? `${human} (${tz})` : human;
}

export function renderNext(task: TaskView, now: number, io: Io, short = false): string {
  if (task.running) return paint(io, "green", "running now");
  if (task.state === "paused") return paint(io, "yellow", "paused");
  if (task.state === "missed") return paint(io, "red", short ? "missed" : "missed: run or delete");
  if (task.waiting !== null && short) return "now";
  if (task.waiting !== null) return task.waiting === "initial" ? "now (initial run)" : "now (by hand)";
  if (task.nextFireAt === null) return "-";
  const next = Date.parse(task.nextFireAt);
  if (short) return renderClock(next, now);
  // nobody was there to fire it; a moment is what a runner may take
  return next < now - 1_000 ? `was due ${renderWhen(next, now)}` : renderWhen(next, now);
}

/** One line: who fires, and what to do when nobody does. */
export function renderOwner(
  owner: { owner: string; host: string; pid: number } | null,
  count: number,
): string {
  const tasks = count === 1 ? "1 task" : `${count} tasks`;
  if (owner !== null) return `${tasks}; run by ${owner.owner} on ${owner.host} (pid ${owner.pid})`;
  return `${tasks}; nothing runs ${count === 1 ? "it" : "them"}: start \`loop up\` in this folder`;
}
