/** What `loop list` shows, wherever it was read from. Small: it is a part of the fast path (`entry.ts`). */
import type { GoalLine } from "../core/spec/line.ts";
import type { TaskView } from "../core/task/view.ts";
import type { Lease } from "../ports/store.ts";
import { heartbeatOf } from "../store/folder/lease-file.ts";
import { EXIT } from "./exit-codes.ts";
import { type Io, terminalWidth } from "./io.ts";
import { oneLine } from "./render/table.ts";
import { renderGoalList, renderOwner, renderTaskList } from "./render/task-list.ts";

export interface Listing {
  readonly dir: string;
  /** Holds the lease and is there. */
  readonly owner: Lease | null;
  readonly tasks: readonly TaskView[];
  /** Goal loops that have not ended. */
  readonly goals: readonly GoalLine[];
  readonly timeZone: string;
}

export interface ListFlags {
  readonly json?: boolean;
  readonly ids?: boolean;
}

export function showList({ dir, owner, tasks, goals, timeZone }: Listing, flags: ListFlags, io: Io): number {
  const firing = process.env.LOOP_DISABLE_SCHEDULER !== "1";
  if (flags.ids) {
    for (const task of tasks) io.out(oneLine(task.id));
    return EXIT.ok;
  }
  if (flags.json) {
    io.json({ owner: owner === null ? null : viewOwner(dir, owner), firing, tasks, goals });
    return EXIT.ok;
  }
  if (goals.length > 0) io.out(renderGoalList(goals, io, terminalWidth()));
  if (goals.length > 0 && tasks.length > 0) io.out("");
  if (tasks.length === 0 && goals.length === 0)
    io.out("No tasks. Create one: loop 5m check if the deployment finished");
  if (tasks.length > 0) {
    io.out(renderTaskList(tasks, timeZone, Date.now(), io, terminalWidth()));
    io.out("");
    io.out(renderOwner(owner, tasks.length));
  }
  if (!firing) io.out("Firing is off here: LOOP_DISABLE_SCHEDULER=1.");
  return EXIT.ok;
}

/** Oldest first. */
export function byAge(a: TaskView, b: TaskView): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1);
}

function viewOwner(dir: string, lease: Lease) {
  const { owner, pid, procStart, host, token, acquiredAt } = lease;
  const heartbeatAt = new Date(heartbeatOf(dir, lease)).toISOString();
  return { owner, pid, procStart, host, token, acquiredAt: new Date(acquiredAt).toISOString(), heartbeatAt };
}
