/** C13: worktrees of stories are made, and what was done in them is committed. */
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { commitWork } from "../../../src/git/worktrees/worktree-commit.ts";
import { makeWorktree, type WorktreeRequest } from "../../../src/git/worktrees/worktree-making.ts";
import { cleanWorktrees, listWorktrees } from "../../../src/git/worktrees/worktrees.ts";
import { commit, git, makeFolder, makeRepository, personsState, read, write } from "../fixtures.ts";
import { ask, expectSound, made, OPTIONS, traces, tracesOf } from "./worktrees-samples.ts";

const clean = (cwd: string, isDryRun = false) => cleanWorktrees(cwd, { isDryRun }, OPTIONS);

/** Where the record of a worktree is. */
const recordOf = (cwd: string, id: string) => join(cwd, ".git", "loopwright", "worktrees", `${id}.json`);

describe("C13 a worktree is made", () => {
  test("beside the checkout, on a branch of its own, from what is checked out; the person notices nothing", async () => {
    const cwd = makeRepository();
    write(cwd, { a: "not committed\n" });
    const { refs: _, ...before } = personsState(cwd) as Record<string, unknown>;
    const worktree = await made(cwd);
    const { refs: __, ...after } = personsState(cwd) as Record<string, unknown>;
    expect(after).toEqual(before);
    const base = git(cwd, "rev-parse", "HEAD").trim();
    const path = join(`${cwd}.worktrees`, "US-001");
    expect(worktree).toEqual({ id: "US-001", path, projectDir: path, branch: "loop/US-001", base });
    expect(read(path, "a", "b")).toEqual(["a 1\n", "b 1\n"]);
    expect(git(path, "symbolic-ref", "HEAD").trim()).toBe("refs/heads/loop/US-001");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(traces(cwd)).toEqual(tracesOf("US-001"));
    expect(() => git(cwd, "worktree", "remove", path)).toThrow(/locked/);
    expectSound(cwd);
  });

  test("of the whole repository, with the project where it is", async () => {
    const cwd = makeRepository();
    write(cwd, { "packages/x/y": "1\n" });
    commit(cwd, "package");
    const worktree = await made(join(cwd, "packages/x"));
    expect(worktree.projectDir).toBe(join(`${cwd}.worktrees`, "US-001", "packages/x"));
    expect(read(worktree.projectDir, "y")).toEqual(["1\n"]);
  });

  test("from another commit when that is asked for", async () => {
    const cwd = makeRepository();
    write(cwd, { a: "2\n" });
    commit(cwd, "second");
    const { base, path } = await made(cwd, { from: "HEAD~1" });
    expect([base, ...read(path, "a")]).toEqual([git(cwd, "rev-parse", "HEAD~1").trim(), "a 1\n"]);
  });

  test("a branch that is there already is not moved, whoever made it: a number is taken", async () => {
    const cwd = makeRepository();
    git(cwd, "branch", "loop/US-001");
    git(cwd, "checkout", "-q", "-b", "loop/US-001-2");
    write(cwd, { a: "other work\n" });
    commit(cwd, "other work");
    git(cwd, "checkout", "-q", "main");
    const refs = git(cwd, "for-each-ref");
    expect((await made(cwd)).branch).toBe("loop/US-001-3");
    expect(git(cwd, "for-each-ref")).toContain(refs.trim().split("\n").at(-1));
    expect(git(cwd, "rev-parse", "loop/US-001")).toBe(git(cwd, "rev-parse", "main"));
  });

  test("a folder that is there already is left alone", async () => {
    const cwd = makeRepository();
    mkdirSync(`${cwd}.worktrees/US-001`, { recursive: true });
    expect((await made(cwd)).id).toBe("US-001-2");
    expect((await made(cwd)).id).toBe("US-001-3");
  });

  test("several at once never share one", async () => {
    const cwd = makeRepository();
    const all = await Promise.all([made(cwd), made(cwd), made(cwd, { story: "US-002" })]);
    expect(all.map(({ id }) => id).sort()).toEqual(["US-001", "US-001-2", "US-002"]);
    expect(new Set(all.map(({ path }) => git(path, "rev-parse", "--git-dir"))).size).toBe(3);
  });

  test("no hook of the repository runs, and no filter of its configuration", async () => {
    const cwd = makeRepository();
    const trap = join(dirname(cwd), "trap");
    write(cwd, {
      ".git/hooks/post-checkout": `#!/bin/sh\ntouch ../../trap "${trap}"\n`,
      ".gitattributes": "* filter=x\n",
    });
    chmodSync(join(cwd, ".git/hooks/post-checkout"), 0o755);
    git(cwd, "config", "core.hooksPath", ".git/hooks");
    commit(cwd, "attributes");
    git(cwd, "config", "filter.x.smudge", "touch ../../trap ../trap; cat");
    await made(cwd);
    expect([existsSync(trap), existsSync(join(dirname(cwd), "trap"))]).toEqual([false, false]);
  });

  test.skipIf(process.getuid?.() !== 0).each<[string, (folder: string) => void]>([
    ["a folder", (folder) => mkdirSync(folder)],
    ["a link to a folder", (folder) => symlinkSync(makeFolder(), folder)],
  ])("J4 not in %s that another user prepared", async (_, prepare) => {
    const cwd = makeRepository();
    prepare(`${cwd}.worktrees`);
    lchownSync(`${cwd}.worktrees`, 65_534, 65_534);
    expect(await makeWorktree(cwd, ask(), OPTIONS)).toEqual({
      kind: "none",
      reason: `No worktree was created: ${cwd}.worktrees belongs to another user.`,
    });
    expect(traces(cwd)).toEqual(tracesOf());
  });

  test("J4 no other user can write to the folder of the worktrees", async () => {
    const cwd = makeRepository();
    mkdirSync(`${cwd}.worktrees`);
    chmodSync(`${cwd}.worktrees`, 0o777);
    await made(cwd);
    expect(statSync(`${cwd}.worktrees`).mode & 0o022).toBe(0);
  });

  test("when git cannot create it, nothing is left", async () => {
    const cwd = makeRepository();
    write(cwd, { ".git/worktrees": "a file in the way\n" });
    expect(await makeWorktree(cwd, ask(), OPTIONS)).toMatchObject({ kind: "none" });
    rmSync(join(cwd, ".git/worktrees"));
    expect(traces(cwd)).toEqual(tracesOf());
  });

  test.each<[string, (cwd: string) => void, Partial<WorktreeRequest>, RegExp]>([
    [
      "no commit",
      (cwd) => rmSync(join(cwd, ".git/refs/heads/main")),
      {},
      /: the repository has no commit yet/,
    ],
    [
      "no git",
      (cwd) => rmSync(join(cwd, ".git"), { recursive: true }),
      {},
      /: this folder is not in a git repository\.$/,
    ],
    ["a path for an id", () => {}, { story: "../x" }, /: "\.\.\/x" is not a valid story id: write letters/],
    [
      "an id that no branch can have",
      () => {},
      { story: "x.lock" },
      /: loop\/x\.lock is not a valid branch name\.$/,
    ],
    ["a branch in the way", (cwd) => void git(cwd, "branch", "loop"), {}, /refs\/heads\/loop' exists/],
    ["an unknown start", () => {}, { from: "nowhere" }, /: there is no commit nowhere\.$/],
    [
      "a file in the way",
      (cwd) => writeFileSync(`${cwd}.worktrees`, ""),
      {},
      /\.worktrees cannot be created \(EEXIST\)\.$/,
    ],
  ])("H5 %s: a sentence, and nothing is left", async (_, spoil, fields, reason) => {
    const cwd = makeRepository();
    spoil(cwd);
    const result = await makeWorktree(cwd, ask(fields), OPTIONS);
    expect(result).toMatchObject({ kind: "none", reason: expect.stringMatching(reason) as string });
    expect(existsSync(recordOf(cwd, "US-001"))).toBe(false);
    expect(existsSync(`${cwd}.worktrees/US-001`)).toBe(false);
  });
});

describe("C13 what an attempt left uncommitted", () => {
  const commitIt = (path: string) =>
    commitWork(path, { branch: "loop/US-001", message: "US-001: work" }, OPTIONS);

  test("becomes one commit on the story's branch, without ignored files and .loop", async () => {
    const cwd = makeRepository();
    const { path, base } = await made(cwd);
    expect(await commitIt(path)).toEqual({ kind: "nothing", commit: base });
    write(path, { new: "1\n", ignored: "x\n", ".loop/prd.json": "{}\n" });
    rmSync(join(path, "b"));
    git(path, "update-index", "--assume-unchanged", "a");
    write(path, { a: "2\n" });
    const result = await commitIt(path);
    const commit = git(cwd, "rev-parse", "loop/US-001").trim();
    expect(result).toEqual({ kind: "committed", commit });
    expect(git(cwd, "diff", "--name-status", base, commit)).toBe("M\ta\nD\tb\nA\tnew\n");
    expect(git(cwd, "log", "-1", "--format=%an %s", commit)).toBe("Loopwright US-001: work\n");
    expect(git(path, "status", "--porcelain")).toBe("?? .loop/\n");
    expect(await commitIt(path)).toEqual({ kind: "nothing", commit });
  });

  test("H1 cut short between the branch and the index, the next call brings the index along", async () => {
    const cwd = makeRepository();
    const { path, base } = await made(cwd);
    write(path, { a: "2\n" });
    git(path, "add", "a");
    const tree = git(path, "write-tree").trim();
    git(path, "reset", "-q");
    const commit = git(path, "commit-tree", tree, "-p", base, "-m", "work").trim();
    git(cwd, "update-ref", "refs/heads/loop/US-001", commit);
    expect(git(path, "status", "--porcelain")).toBe("MM a\n");
    expect(await commitIt(path)).toEqual({ kind: "nothing", commit });
    expect(git(path, "status", "--porcelain")).toBe("");
  });

  test("by the person's name where git knows one", async () => {
    const cwd = makeRepository();
    git(cwd, "config", "user.name", "Ann");
    git(cwd, "config", "user.email", "ann@example.org");
    const { path } = await made(cwd);
    write(path, { a: "2\n" });
    await commitIt(path);
    expect(git(cwd, "log", "-1", "--format=%an <%ce>", "loop/US-001")).toBe("Ann <ann@example.org>\n");
  });

  test("an agent that left the branch is brought back with its commits; one that rewrote it is refused", async () => {
    const cwd = makeRepository();
    const { path } = await made(cwd);
    git(path, "checkout", "-q", "-b", "elsewhere");
    write(path, { a: "2\n" });
    commit(path, "elsewhere");
    write(path, { a: "3\n" });
    expect((await commitIt(path)).kind).toBe("committed");
    expect(git(path, "symbolic-ref", "HEAD").trim()).toBe("refs/heads/loop/US-001");
    expect(git(path, "log", "--format=%s", "main..HEAD")).toBe("US-001: work\nelsewhere\n");
    expect(git(path, "status", "--porcelain")).toBe("");
    git(path, "checkout", "-q", "--detach", "main");
    const refs = git(cwd, "for-each-ref");
    expect(await commitIt(path)).toMatchObject({
      kind: "refused",
      reason: expect.stringMatching(
        /^The work could not be committed: .*its history was rewritten\.$/,
      ) as string,
    });
    expect(git(cwd, "for-each-ref")).toBe(refs);
  });
});

test("C13 where there is no git there are no worktrees", async () => {
  const cwd = makeFolder();
  expect(await listWorktrees(cwd, OPTIONS)).toEqual([]);
  expect(await clean(cwd)).toEqual({ removed: [], kept: [], problems: [] });
});
