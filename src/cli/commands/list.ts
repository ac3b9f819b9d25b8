/** `loop list`: answers from the folder alone, at once. Imports nothing that it does not need. */
import type { Task } from "../../core/loop.ts";
import { iso, viewTask } from "../../core/task/view.ts";
import type { Lease, Store } from "../../ports.ts";
import { heartbeatOf } from "../../store/lease-file.ts";
import { hasEdits } from "../edits.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { renderOwner, renderTaskList } from "../render/tasks.ts";

export interface ListFlags extends ProjectFlags {
  readonly json?: boolean;
  readonly ids?: boolean;
}

/** `adopt` carries out what a person wrote into tasks.json; it is a part of its own because it is large. */
export async function listCommand(
  flags: ListFlags,
  io: Io,
  adopt: (project: Project) => Promise<void>,
): Promise<number> {
  const now = Date.now();
  const project = openProject(flags, io);
  if (hasEdits(project)) await adopt(project);
  const tasks = liveTasks(project.store);
  const owner = liveOwner(project.store, now);
  if (flags.ids) {
    for (const task of tasks) io.out(task.id);
    return EXIT.ok;
  }
  if (flags.json) {
    io.json({ owner: owner === null ? null : viewOwner(project.dir, owner), tasks: tasks.map(viewTask) });
    return EXIT.ok;
  }
  if (tasks.length === 0) {
    io.out("No tasks. Create one: loop 5m check if the deployment finished");
    return EXIT.ok;
  }
  io.out(renderTaskList(tasks, now, io, process.stdout.columns ?? Number.POSITIVE_INFINITY));
  io.out("");
  io.out(renderOwner(owner, tasks.length));
  if (process.env.LOOP_DISABLE_SCHEDULER === "1") io.out("Firing is off here: LOOP_DISABLE_SCHEDULER=1.");
  return EXIT.ok;
}

export function liveTasks(store: Store): Task[] {
  const live = [...store.loops()].filter((task) => task.status !== "ended");
  return live.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** Who holds the lease and is there. */
export function liveOwner(store: Store, now: number): Lease | null {
  const lease = store.lease();
  return lease !== null && store.isHolderAlive(lease, now) ? lease : null;
}

function viewOwner(dir: string, lease: Lease) {
  const { owner, pid, procStart, host, token } = lease;
  return {
    owner,
    pid,
    procStart,
    host,
    token,
    acquiredAt: iso(lease.acquiredAt),
    heartbeatAt: iso(heartbeatOf(dir, lease)),
  };
}
