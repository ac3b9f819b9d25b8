/** Names, reads and creates checkpoints as git refs. A checkpoint exists when its ref exists. */
import type { LoopId } from "../../core/loop.ts";
import type { Checkpoint } from "../../ports/checkpoints.ts";
import { asBytes, type Git, mustSucceed, OUR_NAME, readable } from "../git-process.ts";
import type { Repository } from "../repository.ts";

export interface StoredCheckpoint extends Omit<Checkpoint, "step"> {
  readonly ref: string;
  readonly number: number;
  readonly tree: string;
}

export function readRefs(git: Git, loopId: LoopId) {
  const fields = ["refname", "objectname", "tree", "committerdate:unix", "contents:subject"];
  const format = fields.map((field) => `%(${field})`).join("%00");
  return git.run({ args: ["for-each-ref", `--format=${format}`, `refs/loopwright/${loopId}/`] });
}

/** Oldest first. Other refs in that place are ignored. */
export function parseRefs(output: string): readonly StoredCheckpoint[] {
  const found: StoredCheckpoint[] = [];
  for (const line of output.split("\n")) {
    const [ref = "", commit = "", tree = "", seconds = "", subject = ""] = line.split("\0");
    const [, number] = /\/(\d{4,})$/.exec(ref) ?? [];
    if (number === undefined || tree === "") continue;
    const label = readable(subject);
    found.push({ ref, number: Number(number), commit, tree, label, at: Number(seconds) * 1000 });
  }
  return found.sort((one, other) => one.number - other.number);
}

/** Saves this state. Returns the last checkpoint if nothing changed. */
export async function record(
  { git, head }: Repository,
  loopId: LoopId,
  existing: readonly StoredCheckpoint[],
  { tree, label, at }: Pick<StoredCheckpoint, "tree" | "label" | "at">,
): Promise<StoredCheckpoint> {
  const last = existing.at(-1);
  if (last?.tree === tree) return last;
  const parent = last?.commit ?? head;
  const args = ["commit-tree", tree, ...(parent === null ? [] : ["-p", parent])];
  const input = asBytes(`${subjectOf(label)}\n`);
  const commit = mustSucceed(await git.run({ args, input, env: signature(at) })).trim();
  const first = (last?.number ?? 0) + 1;
  for (let number = first; ; number++) {
    // the empty text means: the ref must not exist, because another process may be faster
    const ref = refOf(loopId, number);
    const updated = await git.run({ args: ["update-ref", ref, commit, ""] });
    if (updated.code === 0) return { ref, number, commit, tree, label, at };
    if (!/already exists/.test(updated.problem) || number === first + 9) mustSucceed(updated);
  }
}

export function refOf(loopId: LoopId, number: number): string {
  return `refs/loopwright/${loopId}/${String(number).padStart(4, "0")}`;
}

/** The first checkpoint, step 0, has the files before any work. */
export function stepOf(number: number): number {
  return number - 1;
}

export function seconds(at: number): number {
  return Math.floor(at / 1000);
}

export function subjectOf(label: string): string {
  return label.replaceAll(/[\p{Cc}\s]+/gu, " ").trim() || "checkpoint";
}

/** Works also if the person has not configured a name. */
export function signature(at: number): Record<string, string> {
  const date = `@${seconds(at)} +0000`;
  return { ...OUR_NAME, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
}
