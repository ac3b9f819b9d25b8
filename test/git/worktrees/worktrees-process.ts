/** A process that brings one story from nothing to merged, or goes on where another was killed: `[dir]`. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepareMerge, publishMerge } from "../../../src/git/merge/merge-queue.ts";
import { commitWork } from "../../../src/git/worktrees/worktree-commit.ts";
import { makeWorktree } from "../../../src/git/worktrees/worktree-making.ts";
import {
  adoptWorktree,
  cleanWorktrees,
  listWorktrees,
  releaseWorktree,
} from "../../../src/git/worktrees/worktrees.ts";

const [dir = ""] = process.argv.slice(2);
const story = "US-001";
const wish = { isDryRun: false };

await cleanWorktrees(dir, wish);
// the engine knows by its journal
if (isDone()) process.exit(0);
const { id, path, branch } = (await adopted()) ?? (await fresh());
writeFileSync(join(path, "done"), "1\n");
const work = await commitWork(path, { branch, message: `${story}: work` });
if (work.kind === "refused") throw new Error(work.reason);
const prepared = await prepareMerge(dir, { story, branch, target: "main", message: `Merge ${story}` });
if (prepared.kind === "prepared") {
  const result = await publishMerge(dir, prepared.merge);
  if (result.kind !== "merged") throw new Error(JSON.stringify(result));
} else if (prepared.kind !== "nothing to merge") throw new Error(JSON.stringify(prepared));
await releaseWorktree(dir, id);
await cleanWorktrees(dir, wish);

function isDone(): boolean {
  return spawnSync("git", ["cat-file", "-e", "main:done"], { cwd: dir }).status === 0;
}

async function adopted() {
  for (const one of await listWorktrees(dir)) {
    const { branch } = one;
    if (branch !== null && (await adoptWorktree(dir, one.id))) return { ...one, branch };
  }
  return null;
}

async function fresh() {
  const made = await makeWorktree(dir, {
    story,
    branchPrefix: "loop/",
    target: "main",
    from: "HEAD~1",
    max: 5,
  });
  if (made.kind === "none") throw new Error(made.reason);
  return made.worktree;
}
