/** A whole work tree, seen from its top: stories change files anywhere in it, not only below the project. */
import { resolve } from "node:path";
import type { LoopId } from "../../core/loop.ts";
import { withPrivateIndex } from "../checkpoints/private-index.ts";
import { stageFiles } from "../checkpoints/stage.ts";
import { createGit, readable, realFolder } from "../git-process.ts";
import { findRepository, type Repository } from "../repository.ts";

export interface PlaceOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** For each git command. */
  readonly timeoutMs?: number;
}

export interface WorkTree {
  /** Its `git` runs at the top. */
  readonly repository: Repository;
  readonly top: string;
  /** The path of the project in it: empty, or with a final `/`. */
  readonly prefix: string;
  /** The git folder that all work trees share. */
  readonly commonDir: string;
}

/** `reason` is for the middle of a sentence. */
export type Opened =
  | { readonly kind: "found"; readonly place: WorkTree }
  | { readonly kind: "none"; readonly reason: string };

export const TIMEOUT_MS = 5 * 60_000;

export async function openPlace(dir: string, options: PlaceOptions = {}): Promise<Opened> {
  const { env = process.env, timeoutMs = TIMEOUT_MS } = options;
  // first, because its errors are written for people
  const located = await findRepository(createGit(realFolder(dir), { env, timeoutMs }));
  if (located.kind === "none") return located;
  const { git, prefix } = located.repository;
  const found = await git.run({ args: ["rev-parse", "--show-toplevel"] });
  if (found.code !== 0) return { kind: "none", reason: found.problem };
  const top = readable(found.stdout.replace(/\n$/, ""));
  const atTop = await findRepository(createGit(top, { env, timeoutMs }));
  if (atTop.kind === "none") return atTop;
  const common = await atTop.repository.git.run({ args: ["rev-parse", "--git-common-dir"] });
  if (common.code !== 0) return { kind: "none", reason: common.problem };
  const commonDir = resolve(top, readable(common.stdout.replace(/\n$/, "")));
  return {
    kind: "found",
    place: { repository: atTop.repository, top, prefix: readable(prefix), commonDir },
  };
}

/** A git tree of all files, including uncommitted changes. */
export function treeOfFiles({ repository }: WorkTree): Promise<string> {
  return withPrivateIndex(repository, OWN_INDEX, (index) => stageFiles(repository, index));
}

/** No loop has this id, because loop ids are shorter. */
export const OWN_INDEX = "backlog-work" as LoopId;

/** The project's folder in another work tree of the same repository. */
export function projectIn({ prefix }: WorkTree, top: string): string {
  return resolve(top, prefix);
}
