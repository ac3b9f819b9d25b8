/** Edits of tasks.json by hand are taken up before a command looks at tasks, and while a runner watches. */
import { carryOutHandEdits } from "../../engine/tasks/hand-edits.ts";
import type { Config } from "../../schema/config.ts";
import { localTimeZone } from "../../store/files/config-file.ts";
import type { Io } from "../io.ts";
import type { Project } from "../project.ts";

export async function adoptEdits({ store }: Pick<Project, "store">, config: Config, io: Io): Promise<void> {
  // first: the zone of the machine takes long to find out, and nearly nobody edited anything
  if (!hasEdits({ store })) return;
  await carryOutHandEdits(store, { ...config, tz: localTimeZone(config) }, Date.now, io.say);
}

/** Did a person change, damage or bring back tasks.json? */
export function hasEdits({ store }: Pick<Project, "store">): boolean {
  return store.requests?.isAnyWaiting() === true;
}
