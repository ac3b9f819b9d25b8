/** The output of `loop list`. Small, because it is a part of the fast path (`entry.ts`). */
import { LIST_SCHEMA } from "../core/views/schema-names.ts";
import type { TaskView } from "../core/views/task-view.ts";
import type { Listing } from "../observe/observer.ts";
import { EXIT } from "./exit-codes.ts";
import { type Io, terminalWidth } from "./io.ts";
import { oneLine } from "./render/table.ts";
import { renderBacklogList, renderGoalList, renderOwner, renderTaskList } from "./render/task-list.ts";
import { isFiring } from "./run/firing.ts";

/** `timeZone` is the person's local zone. */
export type ShownListing = Listing & { readonly timeZone: string };

export interface ListFlags {
  readonly json?: boolean;
  readonly ids?: boolean;
}

export function showList(listing: ShownListing, flags: ListFlags, io: Io): number {
  const { owner, tasks, goals, backlogs, held, timeZone } = listing;
  const firing = isFiring(process.env);
  if (flags.ids) {
    for (const task of tasks) io.out(oneLine(task.id));
    return EXIT.ok;
  }
  if (flags.json) {
    io.json({ $schema: LIST_SCHEMA, version: 1, owner, firing, tasks, goals, backlogs, held });
    return EXIT.ok;
  }
  const width = terminalWidth();
  const parts = [
    ...(backlogs.length > 0 ? [renderBacklogList(backlogs, io, width)] : []),
    ...(goals.length > 0 ? [renderGoalList(goals, io, width)] : []),
    ...(tasks.length > 0 ? [renderTaskList(tasks, timeZone, Date.now(), io, width)] : []),
    ...(tasks.length > 0 ? [renderOwner(owner, tasks.length)] : []),
  ];
  const nothing =
    held.length > 0
      ? "No other loops here."
      : "No loops here. Create one with: loop 5m check if the deployment finished";
  io.out(parts.join("\n\n") || nothing);
  if (!firing) io.out("Nothing fires here, because LOOP_DISABLE_SCHEDULER=1 is set.");
  return EXIT.ok;
}

/** Oldest first. */
export function byAge(a: TaskView, b: TaskView): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1);
}
