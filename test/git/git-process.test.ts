/** What git is asked again, because another git was in its way. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createGit } from "../../src/git/git-process.ts";
import { pause } from "../support/pause.ts";

/** A repository in which another git has begun to add a worktree: `commondir` is there, and still empty. */
function halfMade(): { dir: string; commondir: string } {
  const dir = mkdtempSync(join(tmpdir(), "half made "));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const as = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
  execFileSync("git", ["init", "-q"], { cwd: dir });
  execFileSync("git", [...as, "commit", "-q", "--allow-empty", "-m", "first"], { cwd: dir });
  const folder = join(dir, ".git", "worktrees", "other");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "gitdir"), "/nowhere/other/.git\n");
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/other\n");
  const commondir = join(folder, "commondir");
  writeFileSync(commondir, "");
  return { dir, commondir };
}

test("C13 a worktree that another git is just creating is waited for", async () => {
  const { dir, commondir } = halfMade();
  const answer = createGit(dir).run({ args: ["worktree", "add", "-q", "--detach", `${dir}-new`] });
  onTestFinished(() => rmSync(`${dir}-new`, { recursive: true, force: true }));
  await pause(60);
  writeFileSync(commondir, "../..\n");
  expect(await answer).toMatchObject({ code: 0, problem: "" });
});

test("C13 one that stays half made is an error, after a while", async () => {
  const { dir } = halfMade();
  const { code, problem } = await createGit(dir).run({ args: ["worktree", "list"] });
  expect(code).toBe(128);
  expect(problem).toMatch(/^failed to read .*commondir: Success$/);
});
