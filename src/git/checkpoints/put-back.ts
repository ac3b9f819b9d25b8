/**
 * Puts files of the work tree back to an earlier tree.
 *
 * 1. Only files that differ are touched, and only below the project's folder; no `.loop` is among them.
 * 2. Whatever is overwritten or removed has its present content in the tree that is kept for the way back. An
 *    ignored file is in the way only when it was not ignored then: it is taken into that tree first.
 * 3. What cannot be kept (a repository of its own, ignored files in a folder that has to become a file, a file that
 *    changes at this moment) refuses the whole, before anything is written.
 */
import { copyFileSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { LoopError } from "../../errors.ts";
import { errorCode } from "../../system/files.ts";
import { readable } from "../git-process.ts";
import type { Repository } from "../repository.ts";
import {
  mustSucceed,
  pathOf,
  runOnFiles,
  splitNames,
  stageIgnored,
  unstagedFiles,
  writeTree,
} from "./stage.ts";

export interface PutBackPlan {
  /** Tree of the files as they are now. */
  readonly present: string;
  readonly changes: readonly FileChange[];
}

export interface FileChange {
  /** A name of git's in the project, one letter per byte. */
  readonly name: string;
  /** Modes of git's; 000000: not there. */
  readonly present: string;
  readonly target: string;
  /** The object that comes back; zeros: none. */
  readonly object: string;
}

const NOTHING = "000000";
const REPOSITORY = "160000";

/** Changes nothing. Throws the sentence when it must not be done. `present` is what the index holds. */
export async function planPutBack(
  repository: Repository,
  index: string,
  present: string,
  target: string,
): Promise<PutBackPlan> {
  let tree = present;
  let changes = await compareTrees(repository, tree, target);
  refuseRepositories(changes);
  const hidden = findHidden(repository, changes);
  if (hidden.length > 0) {
    tree = await stageIgnored(repository, index, hidden);
    changes = await compareTrees(repository, tree, target);
  }
  refuseLosses(repository, changes);
  const unsaved = new Set(changes.length === 0 ? [] : await unstagedFiles(repository, index));
  const lost = changes.find(({ name }) => unsaved.has(name));
  if (lost !== undefined) refuse(`${readable(lost.name)} could not be saved before the rollback`);
  return { present: tree, changes: changes.filter((change) => !isRepository(change)) };
}

/** git takes away the old file and writes a new one: who has the old one open keeps it, whole. */
export async function putBack(repository: Repository, index: string, plan: PutBackPlan): Promise<void> {
  if (plan.changes.length === 0) return;
  const target = await composeTree(repository, index, plan);
  const args = ["read-tree", "-m", "-u", "--no-sparse-checkout", plan.present, target];
  mustSucceed(await runOnFiles(repository, index, { args }));
}

/** The present tree with nothing changed but what is to be put back. */
async function composeTree(repository: Repository, index: string, { changes }: PutBackPlan): Promise<string> {
  const lines = changes.map(
    ({ name, target, object }) => `${target} ${object}\t${repository.prefix}${name}\0`,
  );
  const copy = `${index}.target`;
  copyFileSync(index, copy);
  try {
    const args = ["update-index", "-z", "--index-info"];
    mustSucceed(await runOnFiles(repository, copy, { args, input: lines.join("") }));
    return await writeTree(repository, copy);
  } finally {
    rmSync(copy, { force: true });
  }
}

function isThere({ target }: FileChange): boolean {
  return target !== NOTHING;
}

async function compareTrees({ git }: Repository, present: string, target: string): Promise<FileChange[]> {
  const output = mustSucceed(
    await git.run({
      args: ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--relative", present, target],
    }),
  );
  const fields = splitNames(output);
  const changes: FileChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [before = "", target = "", , object = ""] = (fields[at] ?? "").slice(1).split(" ");
    const name = fields[at + 1] ?? "";
    if (!name.split("/").includes(".loop")) changes.push({ name, present: before, target, object });
  }
  return changes;
}

/** Files on disk in the place of ones that come back, which are in no tree. */
function findHidden(repository: Repository, changes: readonly FileChange[]): string[] {
  const known = new Set(changes.filter(({ present }) => present !== NOTHING).map(({ name }) => name));
  const hidden = new Set<string>();
  for (const change of changes) {
    if (change.present !== NOTHING || isRepository(change)) continue;
    const inTheWay = firstFileOnTheWay(repository, change.name);
    if (inTheWay !== null && !known.has(inTheWay)) hidden.add(inTheWay);
  }
  return [...hidden];
}

/** The file itself, or what stands where one of its folders has to be. */
function firstFileOnTheWay(repository: Repository, name: string): string | null {
  const parts = name.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const way = parts.slice(0, length).join("/");
    const kind = lookAt(repository, way);
    if (kind !== "folder") return kind === "file" ? way : null;
  }
  return null;
}

function refuseRepositories(changes: readonly FileChange[]): void {
  const written = changes.filter((change) => isThere(change) && change.target !== REPOSITORY);
  for (const { name } of changes.filter(({ present }) => present === REPOSITORY)) {
    if (written.some((change) => change.name === name || change.name.startsWith(`${name}/`)))
      refuse(`${readable(name)} is now a separate git repository`);
  }
}

function refuseLosses(repository: Repository, changes: readonly FileChange[]): void {
  const removed = new Set(changes.filter((change) => !isThere(change)).map(({ name }) => name));
  const written = changes.filter((change) => isThere(change) && change.target !== REPOSITORY);
  for (const { name } of written) {
    // what a link on the way leads to is not in the way
    const isFree = firstFileOnTheWay(repository, name) !== null;
    const lost = isFree ? null : fileBelow(repository, name, removed);
    if (lost !== null) refuse(`${readable(lost)} is not in any checkpoint and would be lost`);
  }
}

/** git removes a folder that has to become a file with all that is in it. */
function fileBelow(repository: Repository, name: string, removed: ReadonlySet<string>): string | null {
  if (lookAt(repository, name) !== "folder") return null;
  for (const entry of readdirSync(pathOf(repository, name), { withFileTypes: true, encoding: "latin1" })) {
    const below = `${name}/${entry.name}`;
    const lost = entry.isDirectory()
      ? fileBelow(repository, below, removed)
      : removed.has(below)
        ? null
        : below;
    if (lost !== null) return lost;
  }
  return null;
}

function lookAt(repository: Repository, name: string): "folder" | "file" | null {
  try {
    return lstatSync(pathOf(repository, name)).isDirectory() ? "folder" : "file";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
}

function isRepository({ present, target }: FileChange): boolean {
  return target === REPOSITORY || (present === REPOSITORY && target === NOTHING);
}

function refuse(reason: string): never {
  throw new LoopError("surroundings", reason);
}
