/** Applies edits that a person made in tasks.json, before a command reads tasks and while a runner watches. */
import { carryOutHandEdits } from "../../engine/tasks/hand-edits.ts";
import type { Config } from "../../schema/config.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import type { Io } from "../io.ts";
import { openProjectToChange, type Project, type ProjectFlags } from "../project.ts";

export async function adoptEdits({ store }: Pick<Project, "store">, config: Config, io: Io): Promise<void> {
  // First: finding the time zone of the machine is slow, and edits are rare.
  if (!hasEdits({ store })) return;
  await carryOutHandEdits(store, { ...config, tz: localTimeZone(config) }, Date.now, io.say);
}

/** True when a person changed, damaged or restored tasks.json. */
export function hasEdits({ store }: Pick<Project, "store">): boolean {
  return store.requests?.isAnyWaiting() === true;
}

/** For a change: opens the project and applies edits of tasks.json first. */
export async function openWithEdits(flags: ProjectFlags, io: Io): Promise<Project> {
  const project = openProjectToChange(flags, io);
  await adoptEdits(project, readConfig(project), io);
  return project;
}
