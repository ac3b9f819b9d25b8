/** `loop init`: creates the folder, its .gitignore and a config file with the defaults. */
import { join } from "node:path";
import { DEFAULTS } from "../../schema/config.ts";
import { cannotWrite } from "../../store/folder/loop-dir.ts";
import { readIfThere, writeAtomic } from "../../system/files.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToWrite, type ProjectFlags } from "../project.ts";

export async function initCommand(flags: ProjectFlags, io: Io): Promise<number> {
  const { root, dir } = openProjectToWrite(flags, io);
  const path = join(dir, "config.json");
  const written = readIfThere(path) === null;
  try {
    if (written) writeAtomic(path, `${JSON.stringify(DEFAULTS, null, 2)}\n`);
  } catch (error) {
    throw cannotWrite(path, error);
  }
  const text = written ? `Wrote ${path} with the defaults.` : `${path} already exists and was not changed.`;
  return answer(flags, io, { project: root, dir, config: path, written }, text);
}
