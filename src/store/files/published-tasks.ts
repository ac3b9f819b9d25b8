/** The content of tasks.json: the durable tasks, and a line for each goal and backlog that has not ended. */
import { statSync } from "node:fs";
import { lineOfBacklog, lineOfGoal } from "../../core/views/lines.ts";
import { iso } from "../../core/views/moment.ts";
import { TASKS_SCHEMA } from "../../core/views/schema-names.ts";
import { viewTask } from "../../core/views/task-view.ts";
import type { Store } from "../../ports/store.ts";
import { systemTimeZone } from "../../system/time-zone.ts";
import { markOf } from "../folder/origin.ts";
import type { Journal } from "../journal/journal.ts";
import type { TasksFile } from "./tasks-file.ts";

export function tasksFileOf(
  folder: { readonly dir: string; readonly journal: Pick<Journal, "position"> },
  store: Pick<Store, "loops" | "lease">,
  now: number,
): Omit<TasksFile, "sum"> {
  const loops = [...store.loops()].filter(({ status }) => status !== "ended");
  const live = loops.filter((loop) => loop.kind === "task");
  const durable = live.filter((task) => task.session === null);
  return {
    $schema: TASKS_SCHEMA,
    version: 1,
    publishedAt: iso(now),
    journal: folder.journal.position,
    folder: statSync(folder.dir).ino,
    mark: markOf(folder.dir),
    timeZone: systemTimeZone(process.env) ?? "UTC",
    lease: store.lease(),
    sessionTasks: live.length - durable.length,
    tasks: durable.map(viewTask),
    goals: loops.filter((loop) => loop.kind === "goal").map(lineOfGoal),
    backlogs: loops.filter((loop) => loop.kind === "backlog").map(lineOfBacklog),
  };
}
