import { readTasksFile } from "../store/tasks-file.ts";
import type { Project } from "./project.ts";

/** Did a person change, damage or bring along tasks.json? Cheap; `requests.ts` does the work. */
export function hasEdits({ dir, store }: Project): boolean {
  const file = readTasksFile(dir);
  return file.kind === "edited" || file.kind === "damaged" || (file.kind === "published" && isLost(store));
}

/** The journal is gone but what it said was published: tasks must not vanish with it. */
export function isLost(store: Project["store"]): boolean {
  return store.journal.position.generation === 0;
}
