/** Finds published tasks that a removed, cut or damaged journal no longer has. */
import type { LoopId } from "../../core/loop.ts";
import type { TaskView } from "../../core/views/task-view.ts";
import { readTasksFile } from "../files/tasks-file.ts";
import type { OpenedFolder } from "./opened-folder.ts";

export function lostTasks({ dir, journal }: Pick<OpenedFolder, "dir" | "journal">): readonly TaskView[] {
  const file = readTasksFile(dir, journal.signer);
  if (file.kind !== "published") return [];
  // after the file: this read then includes everything that the file includes, unless the journal lost it
  journal.catchUp();
  const { generation, bytes } = journal.position;
  const { journal: seen, tasks } = file.content;
  // a program of this person can sign anything
  if (!Number.isInteger(seen?.generation) || !Number.isInteger(seen.bytes) || !Array.isArray(tasks))
    return [];
  const isCut = seen.generation > generation || (seen.generation === generation && seen.bytes > bytes);
  const isDamaged = seen.generation === generation && journal.state.damaged > 0;
  if (!isCut && !isDamaged) return [];
  const { loops, ended } = journal.state;
  // an older publication cannot say what became of the task since
  const isHeld = (id: LoopId) => journal.held.has(id) && !journal.isNewest(seen);
  const isKnown = (id: LoopId) => loops.has(id) || ended.has(id) || isHeld(id);
  return tasks.filter(({ id }) => !isKnown(id as LoopId));
}
