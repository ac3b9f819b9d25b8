/** A whole work tree, seen from its top: stories change files anywhere in it, not only below the project. */
import { relative, resolve } from "node:path";
import type { LoopId } from "../../core/loop.ts";
import { withPrivateIndex } from "../checkpoints/private-index.ts";
import { stageFiles } from "../checkpoints/stage.ts";
import { createGit, type Git, type GitOptions, readable } from "../git-process.ts";
import { findRepository, type Repository } from "../repository.ts";

export interface WorkTree {
  /** Its `git` runs at the top. */
  readonly repository: Repository;
  readonly top: string;
  /** The path of the project in it: empty, or with a final `/`. */
  readonly prefix: string;
}

export function openPlace(dir: string, options?: GitOptions): Promise<WorkTree> {
  return openWorkTree(createGit(dir, options));
}

/** Throws a LoopError for the middle of a sentence. */
export async function openWorkTree(git: Git): Promise<WorkTree> {
  const project = await findRepository(git);
  const prefix = readable(project.prefix);
  const top = resolve(git.cwd, relative(prefix, ""));
  return { repository: prefix === "" ? project : await findRepository(git.in(top)), top, prefix };
}

/** A git tree of all files, including uncommitted changes. */
export function treeOfFiles({ repository }: WorkTree): Promise<string> {
  return withPrivateIndex(repository, OWN_INDEX, (index) => stageFiles(repository, index));
}

/** No loop has this id, because loop ids are shorter. */
const OWN_INDEX = "backlog-work" as LoopId;

/** The project's folder in another work tree of the same repository. */
export function projectIn({ prefix }: WorkTree, top: string): string {
  return resolve(top, prefix);
}
