/** Tasks that were published, and of which the journal, gone, cut or damaged since, knows nothing any more. */
import type { LoopId } from "../../core/loop.ts";
import type { TaskView } from "../../core/task/view.ts";
import { readTasksFile } from "../files/tasks-file.ts";
import type { OpenedFolder } from "./opened-folder.ts";

export function lostTasks({ dir, journal }: Pick<OpenedFolder, "dir" | "journal">): readonly TaskView[] {
  const file = readTasksFile(dir);
  if (file.kind !== "published") return [];
  // After the file: whatever it had seen of the journal, we have seen too, unless it is not there any more.
  journal.catchUp();
  const { generation, bytes } = journal.position;
  const { journal: seen, tasks } = file.content;
  const isCut = seen.generation > generation || (seen.generation === generation && seen.bytes > bytes);
  const isDamaged = seen.generation === generation && journal.state.damaged > 0;
  if (!isCut && !isDamaged) return [];
  const { loops, ended } = journal.state;
  return tasks.filter(({ id }) => !loops.has(id as LoopId) && !ended.has(id as LoopId));
}
