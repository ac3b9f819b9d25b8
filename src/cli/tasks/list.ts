/** `loop list`, from the journal. Mostly `entry.ts` has answered before this is loaded. */

import { lineOf } from "../../core/spec/line.ts";
import { viewTask } from "../../core/task/view.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { liveTasks } from "../../engine/tasks/tasks.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { localZone } from "../../system/time-zone.ts";
import type { Io } from "../io.ts";
import { type ListFlags, showList } from "../list-view.ts";
import { openProjectToRead, type ProjectFlags } from "../project.ts";
import { adoptEdits, hasEdits } from "./requests.ts";

export async function listCommand(flags: ListFlags & ProjectFlags, io: Io): Promise<number> {
  const project = openProjectToRead(flags, io);
  const { dir, store } = project;
  if (hasEdits(project)) await adoptEdits(project, readConfig(project), io);
  const tasks = liveTasks(store).map(viewTask);
  const goals = allGoals(store)
    .filter(({ status }) => status !== "ended")
    .map(lineOf);
  return showList(
    { dir, owner: liveOwner(store, Date.now()), tasks, goals, timeZone: localZone() },
    flags,
    io,
  );
}
