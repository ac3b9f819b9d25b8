/** `loop list`, from the journal. Mostly `entry.ts` has answered before this is loaded. */

import type { Task } from "../../core/loop.ts";
import { lineOf } from "../../core/spec/line.ts";
import { viewTask } from "../../core/task/view.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import type { Lease, Store } from "../../ports/store.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { systemTimeZone } from "../../system/time-zone.ts";
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

export function liveTasks(store: Store): Task[] {
  const tasks = [...store.loops()].filter((loop) => loop.kind === "task");
  const live = tasks.filter((task) => task.status !== "ended");
  return live.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** Who holds the lease and is there. */
export function liveOwner(store: Store, now: number): Lease | null {
  const lease = store.lease();
  return lease !== null && store.holderState(lease, now) === "alive" ? lease : null;
}

/** For showing only. */
export function localZone(): string {
  return systemTimeZone(process.env) ?? "UTC";
}
