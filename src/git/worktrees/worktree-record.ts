/**
 * Owns one record for each worktree that we created, in the git folder that all work trees share. The record is written
 * first and removed last, so an interrupted worktree can be found.
 *
 * An agent can write records too. So a record alone is no reason to remove anything (`worktree-state.ts`).
 */
import { lstatSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";
import * as z from "zod";
import { createOnce, readAnyones, readSmall, writeAtomic } from "../../system/files.ts";
import { makeInside } from "../../system/inside.ts";
import { procStart } from "../../system/process.ts";
import { namesIn } from "../git-process.ts";

const text = z.string().min(1).max(4_096);

const branchName = z.string().regex(/^refs\/heads\/.{1,1000}$/);

const recordSchema = z
  .strictObject({
    format: z.literal(1),
    id: text,
    /** A merge has no branch, and no agent works in it. */
    kind: z.enum(["story", "merge"]),
    story: text,
    branch: branchName.nullable(),
    /** The start commit. */
    base: z.string().regex(/^[0-9a-f]{40,64}$/),
    /** The branch that receives the work; null: the checked-out branch. */
    target: branchName.nullable(),
    /** The top of the worktree. */
    path: text.refine((path) => isAbsolute(path)),
    createdAt: z.number(),
    /** The process that uses it; null: none. */
    owner: z.strictObject({ pid: z.int(), start: z.string().nullable(), host: z.string() }).nullable(),
    /** `making`: not in use yet. `removing`: nothing in it can be lost. */
    stage: z.enum(["making", "ready", "removing"]),
  })
  .refine(({ kind, branch }) => (kind === "merge") === (branch === null))
  .readonly();

export type WorktreeRecord = z.output<typeof recordSchema>;

/** false: another record has this id. */
export function createWorktreeRecord(commonDir: string, record: WorktreeRecord): boolean {
  const content = renderRecord(record);
  makeInside(commonDir, folderOf(commonDir));
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

/** null: missing or unreadable. */
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

/** Git's own folder for the worktree; null: none. */
export function adminDirOf(commonDir: string, { id, path }: WorktreeRecord): string | null {
  const all = join(commonDir, "worktrees");
  for (const name of namesIn(all)) {
    const dir = join(all, name);
    const gitdir = readAnyones(join(dir, "gitdir"))?.trimEnd() ?? null;
    // git was stopped right after it created the folder
    const isBarelyBegun = gitdir === null && readAnyones(join(dir, "locked"))?.trimEnd() === lockReason(id);
    if (isBarelyBegun || (gitdir !== null && resolve(dir, gitdir) === join(path, ".git"))) return dir;
  }
  return null;
}

/** Prevents `git worktree remove`, and says why. */
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
