/** Tasks that were published, and of which the journal, gone, cut or damaged since, knows nothing any more. */
import type { LoopId } from "../../core/loop.ts";
import type { TaskView } from "../../core/task/view.ts";
import { readTasksFile } from "../files/tasks-file.ts";
import type { Journal } from "../journal/journal.ts";

export function lostTasks(dir: string, journal: Journal): readonly TaskView[] {
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
