/**
 * What is known of each worktree that we made, as one file each in the folder that all work trees share. It is there
 * before anything else of the worktree is, and goes last: whatever is cut short between is found again by it.
 *
 * It says where things are, and is no proof of what they are worth: an agent can write it too. So nothing is removed
 * because of a record alone (`worktree-state.ts`).
 */
import { lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";
import * as z from "zod";
import { LoopError } from "../../errors.ts";
import { createOnce, errorCode, readSmall, writeAtomic } from "../../system/files.ts";
import { procStart } from "../../system/process.ts";

const text = z.string().min(1).max(4_096);

const branchName = z.string().regex(/^refs\/heads\/.{1,1000}$/);

const recordSchema = z
  .strictObject({
    format: z.literal(1),
    id: text,
    /** A merge has no branch of its own, and nobody works in it. */
    kind: z.enum(["story", "merge"]),
    story: text,
    branch: branchName.nullable(),
    /** The commit that it started from. */
    base: z.string().regex(/^[0-9a-f]{40,64}$/),
    /** Where its work is to go; null: to whatever is checked out. */
    target: branchName.nullable(),
    /** The top of the worktree. */
    path: text.refine((path) => isAbsolute(path)),
    createdAt: z.number(),
    /** Whoever works with it; null: nobody. */
    owner: z.strictObject({ pid: z.int(), start: z.string().nullable(), host: z.string() }).nullable(),
    /** `making`: nobody was handed it yet. `removing`: it was found to hold nothing that could be lost. */
    stage: z.enum(["making", "ready", "removing"]),
  })
  .refine(({ kind, branch }) => (kind === "merge") === (branch === null))
  .readonly();

export type WorktreeRecord = z.output<typeof recordSchema>;

/** The first of the same id stands; false: that is another one. */
export function createWorktreeRecord(commonDir: string, record: WorktreeRecord): boolean {
  const content = renderRecord(record);
  mkdirSync(folderOf(commonDir), { recursive: true, mode: 0o700 });
  if (lstatSync(folderOf(commonDir)).isSymbolicLink())
    throw new LoopError("surroundings", `${folderOf(commonDir)} is a symbolic link; links are not followed`);
  const path = recordPath(commonDir, record.id);
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
  createOnce(path, content);
  return readSmall(path) === content;
}

export function writeWorktreeRecord(commonDir: string, record: WorktreeRecord): void {
  writeAtomic(recordPath(commonDir, record.id), renderRecord(record));
}

export function removeRecord(commonDir: string, id: string): void {
  rmSync(recordPath(commonDir, id), { force: true });
}

/** null: there is none, or it cannot be read. */
export function readWorktreeRecord(commonDir: string, id: string): WorktreeRecord | null {
  if (basename(id) !== id) return null;
  try {
    const parsed = recordSchema.safeParse(JSON.parse(readSmall(recordPath(commonDir, id)) ?? ""));
    return parsed.success && parsed.data.id === id && basename(parsed.data.path) === id ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Oldest first. */
export function readRecords(commonDir: string): readonly WorktreeRecord[] {
  const ids = namesIn(folderOf(commonDir))
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length));
  return ids
    .map((id) => readWorktreeRecord(commonDir, id))
    .filter((record) => record !== null)
    .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
}

export function thisProcess(): NonNullable<WorktreeRecord["owner"]> {
  return { pid: process.pid, start: procStart(process.pid), host: hostname() };
}

/** What git keeps of a worktree, in the shared folder; null: nothing. */
export function adminDirOf(commonDir: string, { id, path }: WorktreeRecord): string | null {
  const all = join(commonDir, "worktrees");
  for (const name of namesIn(all)) {
    const dir = join(all, name);
    const gitdir = readSmall(join(dir, "gitdir"))?.trimEnd() ?? null;
    // git was stopped right after it had made the folder
    const isBarelyBegun = gitdir === null && readSmall(join(dir, "locked"))?.trimEnd() === lockReason(id);
    if (isBarelyBegun || (gitdir !== null && resolve(dir, gitdir) === join(path, ".git"))) return dir;
  }
  return null;
}

/** Keeps others from removing it, and tells them why. */
export function lockReason(id: string): string {
  return `loopwright works here on ${id}; see: loop worktrees list`;
}

function renderRecord(record: WorktreeRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

function folderOf(commonDir: string): string {
  return join(commonDir, "loopwright", "worktrees");
}

function recordPath(commonDir: string, id: string): string {
  return join(folderOf(commonDir), `${id}.json`);
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}
