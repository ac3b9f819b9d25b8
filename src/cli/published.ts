/** Reads the list from tasks.json when it is up to date, so that nothing has to be computed again. */
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
import { ORIGIN_START } from "../store/signed/origin-line.ts";
import { isBehind, ReachedFile } from "../store/signed/reached.ts";
import { readSmall } from "../system/files.ts";
import { byAge, type ShownListing } from "./list-view.ts";

const ID = /^[0-9a-f]{8}$/;
const MAX_DATE_MS = 8.64e15;

/** null: the list must be read from the journal. */
export function readPublished(from: string): ShownListing | null {
  const root = findProject(from);
  if (!checkLoopDir(root)) return null;
  const dir = join(root, ".loop");
  const file = readUntouched(dir);
  if (file === null || !isCurrent(dir, file)) return null;
  const { lease, tasks, timeZone, goals = [], backlogs = [] } = file;
  if (!Array.isArray(goals) || !goals.every(isGoalLine)) return null;
  if (!Array.isArray(backlogs) || !backlogs.every(isBacklogLine)) return null;
  // The signature is not checked here, so the file may contain anything.
  if (!Array.isArray(tasks) || !tasks.every(isTaskView) || (lease !== null && !isLease(lease))) return null;
  const isAlive = lease !== null && holderState(dir, lease, Date.now()) === "alive";
  const owner = isAlive ? viewOwner(lease, heartbeatOf(dir, lease)) : null;
  return { owner, tasks: [...tasks].sort(byAge), goals, backlogs, held: [], timeZone };
}

function isCurrent(
  dir: string,
  { journal, folder, mark, sessionTasks, version, timeZone }: TasksFile,
): boolean {
  if (version !== 1 || sessionTasks !== 0 || typeof timeZone !== "string") return false;
  // A clone, a copy, an earlier version: the full program finds out whose tasks these are; that is too slow here.
  if (statSync(dir).ino !== folder) return false;
  if (!readSmall(join(dir, "origin"))?.startsWith(`${ORIGIN_START}${mark} `)) return false;
  const current = statSync(segmentPath(dir, journal.generation), { throwIfNoEntry: false });
  const next = statSync(segmentPath(dir, journal.generation + 1), { throwIfNoEntry: false });
  if (current?.size !== journal.bytes || next !== undefined) return false;
  // a journal that was further before: the full program says so
  return !isBehind(journal, new ReachedFile(process.env, mark).read().place);
}

const STRINGS = ["id", "prompt", "human", "state", "missed", "createdAt"] as const;
const BOOLEANS = ["recurring", "durable", "running"] as const;
const NULLABLE_STRINGS = "cron tz waiting expect stateReason expiresAt lastFiredAt nextFireAt".split(
  " ",
) as readonly (keyof TaskView)[];

/** Checks the fields that the list uses. By hand: a schema library is too slow for the fast path. */
function isTaskView(task: Record<keyof TaskView, unknown> | null): boolean {
  if (typeof task !== "object" || task === null) return false;
  return (
    STRINGS.every((key) => typeof task[key] === "string") &&
    ID.test(task.id as string) &&
    BOOLEANS.every((key) => typeof task[key] === "boolean") &&
    NULLABLE_STRINGS.every((key) => task[key] === null || typeof task[key] === "string")
  );
}

function isLease({ owner, pid, procStart, host, token, acquiredAt }: Lease): boolean {
  const isTime = Number.isInteger(acquiredAt) && Math.abs(acquiredAt) <= MAX_DATE_MS;
  const isProcess = Number.isInteger(pid) && (procStart === null || typeof procStart === "string");
  return (
    typeof owner === "string" && typeof host === "string" && isProcess && Number.isInteger(token) && isTime
  );
}
