/**
 * The list as it was published, when nothing was written since: then tasks.json says all that the journal says,
 * and neither cron nor time zones have to be worked out again.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { holderState } from "../store/lease-file.ts";
import { checkLoopDir, findProject } from "../store/loop-dir.ts";
import { isMarked } from "../store/origin.ts";
import { segmentPath } from "../store/segment.ts";
import { readTasksFile, type TasksFile } from "../store/tasks-file.ts";
import { byAge, type Listing } from "./list-view.ts";

/** null: it has to be read from the journal. */
export function readPublished(from: string): Listing | null {
  const root = findProject(from);
  if (!checkLoopDir(root)) return null;
  const dir = join(root, ".loop");
  if (!isMarked(dir)) return null;
  const file = readTasksFile(dir);
  if (file.kind !== "published" || !isCurrent(dir, file.content)) return null;
  const { lease, tasks, timeZone } = file.content;
  const owner = lease !== null && holderState(dir, lease, Date.now()) === "alive" ? lease : null;
  return { dir, owner, tasks: [...tasks].sort(byAge), timeZone };
}

function isCurrent(dir: string, { journal, sessionTasks, version, timeZone }: TasksFile): boolean {
  if (version !== 1 || sessionTasks !== 0 || timeZone === undefined) return false;
  const current = statSync(segmentPath(dir, journal.generation), { throwIfNoEntry: false });
  const next = statSync(segmentPath(dir, journal.generation + 1), { throwIfNoEntry: false });
  return current?.size === journal.bytes && next === undefined;
}
