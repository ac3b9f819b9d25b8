/**
 * The list as it was published, when nothing was written since: then tasks.json says all that the journal says,
 * and neither cron nor time zones have to be worked out again.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { isBacklogLine, isGoalLine } from "../core/views/line.ts";
import type { TaskView } from "../core/views/task-view.ts";
import { viewOwner } from "../observe/owner.ts";
import type { Lease } from "../ports/store.ts";
import { readUntouched, type TasksFile } from "../store/files/tasks-file.ts";
import { heartbeatOf, holderState } from "../store/folder/lease-file.ts";
import { checkLoopDir, findProject } from "../store/folder/loop-dir.ts";
import { segmentPath } from "../store/journal/segment-path.ts";
import { readSmall } from "../system/files.ts";
import { byAge, type ShownListing } from "./list-view.ts";

const ID = /^[0-9a-f]{8}$/;
const MAX_DATE_MS = 8.64e15;

/** null: it has to be read from the journal. */
export function readPublished(from: string): ShownListing | null {
  const root = findProject(from);
  if (!checkLoopDir(root)) return null;
  const dir = join(root, ".loop");
  const file = readUntouched(dir);
  if (file === null || !isCurrent(dir, file)) return null;
  const { lease, tasks, timeZone, goals = [], backlogs = [] } = file;
  if (!Array.isArray(goals) || !goals.every(isGoalLine)) return null;
  if (!Array.isArray(backlogs) || !backlogs.every(isBacklogLine)) return null;
  // the checksum is no secret: a file that came with a repository may say anything
  if (!Array.isArray(tasks) || !tasks.every(isTaskView) || (lease !== null && !isLease(lease))) return null;
  const isAlive = lease !== null && holderState(dir, lease, Date.now()) === "alive";
  const owner = isAlive ? viewOwner(lease, heartbeatOf(dir, lease)) : null;
  return { owner, tasks: [...tasks].sort(byAge), goals, backlogs, timeZone };
}

function isCurrent(
  dir: string,
  { journal, folder, mark, sessionTasks, version, timeZone }: TasksFile,
): boolean {
  if (version !== 1 || sessionTasks !== 0 || typeof timeZone !== "string") return false;
  // A clone, a copy, or a mark that is not what it was: the full program says whose tasks these are. It works the
  // mark out, which takes too long here.
  if (statSync(dir).ino !== folder || !readSmall(join(dir, "origin"))?.includes(mark)) return false;
  const current = statSync(segmentPath(dir, journal.generation), { throwIfNoEntry: false });
  const next = statSync(segmentPath(dir, journal.generation + 1), { throwIfNoEntry: false });
  return current?.size === journal.bytes && next === undefined;
}

/** Whatever is shown or reckoned with. By hand, and plainly: this is the fast path, and every millisecond shows. */
function isTaskView(task: Record<keyof TaskView, unknown> | null): boolean {
  return (
    typeof task === "object" &&
    task !== null &&
    typeof task.id === "string" &&
    ID.test(task.id) &&
    typeof task.prompt === "string" &&
    typeof task.human === "string" &&
    typeof task.state === "string" &&
    typeof task.missed === "string" &&
    typeof task.createdAt === "string" &&
    typeof task.recurring === "boolean" &&
    typeof task.durable === "boolean" &&
    typeof task.running === "boolean" &&
    (task.cron === null || typeof task.cron === "string") &&
    (task.tz === null || typeof task.tz === "string") &&
    (task.waiting === null || typeof task.waiting === "string") &&
    (task.expect === null || typeof task.expect === "string") &&
    (task.stateReason === null || typeof task.stateReason === "string") &&
    (task.expiresAt === null || typeof task.expiresAt === "string") &&
    (task.lastFiredAt === null || typeof task.lastFiredAt === "string") &&
    (task.nextFireAt === null || typeof task.nextFireAt === "string")
  );
}

function isLease({ owner, pid, procStart, host, token, acquiredAt }: Lease): boolean {
  const isTime = Number.isInteger(acquiredAt) && Math.abs(acquiredAt) <= MAX_DATE_MS;
  const isProcess = Number.isInteger(pid) && (procStart === null || typeof procStart === "string");
  return (
    typeof owner === "string" && typeof host === "string" && isProcess && Number.isInteger(token) && isTime
  );
}
