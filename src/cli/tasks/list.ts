/** `loop list`, read from the journal. Usually `entry.ts` answers without it. */
import { openObserver } from "../../compose/observe.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { localZone } from "../../system/time-zone.ts";
import type { Io } from "../io.ts";
import { type ListFlags, showList } from "../list-view.ts";
import { openProjectToRead, type ProjectFlags } from "../project.ts";
import { adoptEdits, hasEdits } from "./requests.ts";

export async function listCommand(flags: ListFlags & ProjectFlags, io: Io): Promise<number> {
  const project = openProjectToRead(flags, io);
  if (hasEdits(project)) await adoptEdits(project, readConfig(project), io);
  return showList({ ...openObserver(project).listing(), timeZone: localZone() }, flags, io);
}
