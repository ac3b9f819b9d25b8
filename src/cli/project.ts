/** The project of a command, with its store open. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { openStore } from "../compose/open-store.ts";
import { count } from "../core/text/figures.ts";
import { usageError } from "../errors.ts";
import type { Store } from "../ports/store.ts";
import { checkLoopDir, ensureLoopDir, findProject } from "../store/folder/loop-dir.ts";
import { FOREIGN, originOf, refuseForeign } from "../store/signed/origin.ts";
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

/** For reading: creates nothing. */
export function openProject(flags: ProjectFlags, io: Io): Project {
  const root = projectRoot(flags);
  checkLoopDir(root);
  return open(root, io);
}

/** For reading, with a notice about what does not count or does not run. */
export function openProjectToRead(flags: ProjectFlags, io: Io): Project {
  const project = openProject(flags, io);
  if (originOf(project.dir) === "foreign") io.say(FOREIGN);
  sayFaults(project.store, io);
  return project;
}

function sayFaults(store: Store, io: Io): void {
  for (const fault of store.faults()) {
    if (fault.kind === "foreign")
      io.say(
        `You did not write ${count(fault.count, "line")} of the journal on this machine; they do not count.`,
      );
  }
}

/** For a change of what is there: creates nothing, and refuses loops from another machine. */
export function openProjectToChange(flags: ProjectFlags, io: Io): Project {
  const project = openProject(flags, io);
  refuseForeign(project.dir);
  return project;
}

/** For writing: creates `.loop/`, or throws why that is impossible. */
export function openProjectToWrite(flags: ProjectFlags, io: Io): Project {
  const root = projectRoot(flags);
  ensureLoopDir(root);
  const project = open(root, io);
  sayFaults(project.store, io);
  return project;
}

function open(root: string, io: Io): Project {
  const dir = join(root, ".loop");
  return { root, dir, store: openStore(dir, { now: Date.now, say: io.say }) };
}

function projectRoot(flags: ProjectFlags): string {
  if (flags.project === undefined) return findProject(process.cwd());
  const root = resolve(flags.project);
  if (!existsSync(root)) throw usageError(`--project: there is no folder ${root}.`);
  if (!statSync(root).isDirectory()) throw usageError(`--project: ${root} is not a folder.`);
  return findProject(root);
}
