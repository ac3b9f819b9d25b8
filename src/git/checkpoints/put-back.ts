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
import { errorCode } from "../../system/files.ts";
import { mustSucceed, readable, refuse } from "../git-process.ts";
import type { Repository } from "../repository.ts";
import {
  parseRawDiff,
  pathOf,
  type RawChange,
  runOnFiles,
  stageIgnored,
  unstagedFiles,
  writeChanges,
} from "./stage.ts";

export interface PutBackPlan {
  /** The tree of the current files. */
  readonly present: string;
  readonly changes: readonly RawChange[];
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
  const copy = `${index}.target`;
  copyFileSync(index, copy);
  try {
    return await writeChanges(repository, copy, changes, repository.prefix);
  } finally {
    rmSync(copy, { force: true });
  }
}

function isThere({ after }: RawChange): boolean {
  return after !== NOTHING;
}

/** The changes from the current files to the target. */
async function compareTrees({ git }: Repository, present: string, target: string): Promise<RawChange[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--relative", present, target];
  return parseRawDiff(mustSucceed(await git.run({ args }))).filter(
    ({ name }) => !name.split("/").includes(".loop"),
  );
}

/** Files on disk that are in no tree and are in the way of restored files. */
function findHidden(repository: Repository, changes: readonly RawChange[]): string[] {
  const known = new Set(changes.filter(({ before }) => before !== NOTHING).map(({ name }) => name));
  const hidden = new Set<string>();
  for (const change of changes) {
    if (change.before !== NOTHING || isRepository(change)) continue;
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

function refuseRepositories(changes: readonly RawChange[]): void {
  const written = changes.filter((change) => isThere(change) && change.after !== REPOSITORY);
  for (const { name } of changes.filter(({ before }) => before === REPOSITORY)) {
    if (written.some((change) => change.name === name || change.name.startsWith(`${name}/`)))
      refuse(`${readable(name)} is now a separate git repository`);
  }
}

function refuseLosses(repository: Repository, changes: readonly RawChange[]): void {
  const removed = new Set(changes.filter((change) => !isThere(change)).map(({ name }) => name));
  const written = changes.filter((change) => isThere(change) && change.after !== REPOSITORY);
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
    const lost = entry.isDirectory() ? fileBelow(repository, below, removed) : below;
    if (lost !== null && !removed.has(lost)) return lost;
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

function isRepository({ before, after }: RawChange): boolean {
  return after === REPOSITORY || (before === REPOSITORY && after === NOTHING);
}
