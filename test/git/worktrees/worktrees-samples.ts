/** Worktrees of stories in repositories of a person's. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import {
  type MadeWorktree,
  makeWorktree,
  type WorktreeRequest,
} from "../../../src/git/worktrees/worktree-making.ts";
import type { Worktree } from "../../../src/git/worktrees/worktree-state.ts";
import { listWorktrees, releaseWorktree } from "../../../src/git/worktrees/worktrees.ts";
import { ENV, git } from "../fixtures.ts";

export const OPTIONS = { env: ENV };

export function ask(fields: Partial<WorktreeRequest> = {}): WorktreeRequest {
  return { story: "US-001", branchPrefix: "loop/", target: "main", max: 20, ...fields };
}

export async function made(cwd: string, fields: Partial<WorktreeRequest> = {}): Promise<MadeWorktree> {
  const result = await makeWorktree(cwd, ask(fields), OPTIONS);
  if (result.kind === "none") throw new Error(result.reason);
  return result.worktree;
}

/** And nobody works with it any more. */
export async function left(cwd: string, fields: Partial<WorktreeRequest> = {}): Promise<MadeWorktree> {
  const worktree = await made(cwd, fields);
  await releaseWorktree(cwd, worktree.id, OPTIONS);
  return worktree;
}

export async function theOnly(cwd: string): Promise<Worktree> {
  const [first, ...more] = await listWorktrees(cwd, OPTIONS);
  if (first === undefined || more.length > 0) throw new Error("not exactly one");
  return first;
}

/** Everything that worktrees leave somewhere. */
export function traces(cwd: string): object {
  const common = git(cwd, "rev-parse", "--path-format=absolute", "--git-common-dir").trim();
  const namesIn = (path: string) => (existsSync(path) ? readdirSync(path) : []).sort();
  return {
    branches: git(cwd, "for-each-ref", "--format=%(refname:short)", "refs/heads/loop")
      .split("\n")
      .filter(Boolean),
    folders: namesIn(`${cwd}.worktrees`).filter((name) => name !== ".gitignore"),
    admin: namesIn(join(common, "worktrees")),
    records: namesIn(join(common, "loopwright", "worktrees")).map((name) => name.replace(".json", "")),
  };
}

export function tracesOf(...ids: readonly string[]): object {
  return { branches: ids.map((id) => `loop/${id}`), folders: ids, admin: ids, records: ids };
}

export function expectSound(cwd: string): void {
  expect(git(cwd, "fsck", "--no-progress", "--no-dangling")).toBe("");
}

export function makeFolderAt(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}
