/**
 * Restores files of the work tree from an earlier tree.
 *
 * 1. Only files that differ change, and only below the project's folder. No `.loop` changes.
 * 2. The current content of every overwritten or removed file is saved first, in a tree for the way back. This includes
 *    ignored files that are in the way.
 * 3. If content cannot be saved (a nested repository, ignored files in a folder that becomes a file, a file that changes
 *    at this moment), the rollback is refused before anything is written.
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
  /** The tree of the current files. */
  readonly present: string;
  readonly changes: readonly FileChange[];
}

export interface FileChange {
  /** The path in the project, one letter per byte. */
  readonly name: string;
  /** Git modes; 000000: missing. */
  readonly present: string;
  readonly target: string;
  /** The object to restore; zeros: none. */
  readonly object: string;
}

const NOTHING = "000000";
const REPOSITORY = "160000";

/** Changes nothing. Throws the reason if the rollback is refused. `present`: the tree of the index. */
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

/** Git replaces files, so a program that has an old file open keeps it. */
export async function putBack(repository: Repository, index: string, plan: PutBackPlan): Promise<void> {
  if (plan.changes.length === 0) return;
  const target = await composeTree(repository, index, plan);
  const args = ["read-tree", "-m", "-u", "--no-sparse-checkout", plan.present, target];
  mustSucceed(await runOnFiles(repository, index, { args }));
}

/** The current tree, with only the planned changes. */
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

/** Files on disk that are in no tree and are in the way of restored files. */
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

/** The file itself, or a file in the place of one of its folders. */
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
    // the target of a link is not in the way
    const isFree = firstFileOnTheWay(repository, name) !== null;
    const lost = isFree ? null : fileBelow(repository, name, removed);
    if (lost !== null) refuse(`${readable(lost)} is not in any checkpoint and would be lost`);
  }
}

/** A file that would be lost: git removes a folder with all its content when it becomes a file. */
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
