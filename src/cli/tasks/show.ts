/** `loop show <id>`: everything about one task. */

import { slotAfter } from "../../core/task/slots.ts";
import { iso, viewTask } from "../../core/task/view.ts";
import { findTask } from "../../engine/tasks/tasks.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openProjectToRead, type ProjectFlags } from "../project.ts";
import { renderTask } from "../render/tasks.ts";
import { readHistory, viewOutcome } from "./history.ts";
import { adoptEdits } from "./requests.ts";

const LATEST = 5;

export async function showCommand(
  prefix: string,
  flags: ProjectFlags & { json?: boolean },
  io: Io,
): Promise<number> {
  const now = Date.now();
  const project = openProjectToRead(flags, io);
  await adoptEdits(project, readConfig(project), io);
  const { store } = project;
  const task = findTask(store, prefix);
  const { outcomes } = await readHistory(store, task.id);
  const latest = outcomes.slice(-LATEST);
  if (!flags.json) {
    io.out(renderTask(task, latest, now, io));
    return EXIT.ok;
  }
  const next = slotAfter(task.cadence, Math.max(now, task.cursorAt));
  io.json({ ...viewTask(task), nextSlot: next === null ? null : iso(next), latest: latest.map(viewOutcome) });
  return EXIT.ok;
}
