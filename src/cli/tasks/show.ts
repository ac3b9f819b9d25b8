/** `loop show <id>`: everything about one loop. */
import { openObserver } from "../../compose/observe.ts";
import { renderRun } from "../../core/backlog/report.ts";
import type { Task } from "../../core/loop.ts";
import { slotAfter } from "../../core/task/slots.ts";
import { cleanText } from "../../core/text/clean.ts";
import { renderGoalStatus } from "../../core/text/goal/status.ts";
import { momentOf } from "../../core/views/moment.ts";
import { viewOutcome } from "../../core/views/outcome-view.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { findLoop } from "../../engine/tasks/tasks.ts";
import type { Store } from "../../ports/store.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToRead, type ProjectFlags } from "../project.ts";
import { renderTask } from "../render/tasks.ts";
import { readHistory } from "./history.ts";
import { adoptEdits } from "./requests.ts";

const LATEST = 5;

export async function showCommand(prefix: string, flags: ProjectFlags, io: Io): Promise<number> {
  const project = openProjectToRead(flags, io);
  await adoptEdits(project, readConfig(project), io);
  const loop = findLoop(project.store, prefix);
  if (loop.kind === "task") return showTask(project.store, loop, flags, io);
  const text = loop.kind === "goal" ? renderGoalStatus(loop, Date.now()) : cleanText(renderRun(loop));
  return answer(flags, io, openObserver(project).loop(loop.id), text);
}

async function showTask(store: Store, task: Task, flags: ProjectFlags, io: Io): Promise<number> {
  const now = Date.now();
  const { outcomes } = await readHistory(store, task.id);
  const latest = outcomes.slice(-LATEST);
  const nextSlot = momentOf(slotAfter(task.cadence, Math.max(now, task.cursorAt)));
  const view = { ...viewTask(task), nextSlot, latest: latest.map(viewOutcome) };
  return answer(flags, io, view, renderTask(task, latest, now, io));
}
