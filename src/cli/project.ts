/** The project that a command works on, with its store open. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { openStore } from "../compose/open-store.ts";
import { usageError } from "../errors.ts";
import type { Store } from "../ports/store.ts";
import { checkLoopDir, ensureLoopDir, findProject } from "../store/folder/loop-dir.ts";
import { FOREIGN, originOf } from "../store/folder/origin.ts";
import type { Io } from "./io.ts";

export interface Project {
  readonly root: string;
  readonly dir: string;
  readonly store: Store;
}

export interface ProjectFlags {
  readonly project?: string;
  readonly json?: boolean;
}

/** For reading: nothing is created. */
export function openProject(flags: ProjectFlags, io: Io): Project {
  const root = projectRoot(flags);
  checkLoopDir(root);
  return open(root, io);
}

/** For showing what is there, with a word on tasks that came from somewhere else. */
export function openProjectToRead(flags: ProjectFlags, io: Io): Project {
  const project = openProject(flags, io);
  if (originOf(project.dir) === "foreign") io.say(FOREIGN);
  return project;
}

/** For writing: `.loop/` is there afterwards, or the sentence why it cannot be or must not. */
export function openProjectToWrite(flags: ProjectFlags, io: Io): Project {
  const root = projectRoot(flags);
  ensureLoopDir(root);
  return open(root, io);
}

function open(root: string, io: Io): Project {
  const dir = join(root, ".loop");
  return { root, dir, store: openStore(dir, { now: Date.now, say: io.say }) };
}

function projectRoot(flags: ProjectFlags): string {
  if (flags.project === undefined) return findProject(process.cwd());
  const root = resolve(flags.project);
  if (!existsSync(root)) throw usageError(`There is no folder ${root}.`);
  if (!statSync(root).isDirectory()) throw usageError(`${root} is not a folder.`);
  return findProject(root);
}
