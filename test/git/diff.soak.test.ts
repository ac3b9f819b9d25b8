/** C5, C9: what a generator did, by real repositories. */
import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type GitMoment, noteMoment, type WorkDone, workSince } from "../../src/git/diff.ts";
import { commit, ENV, git, makeFolder, makeRepository, personsState, write } from "./fixtures.ts";

async function note(cwd: string): Promise<GitMoment> {
  const noted = await noteMoment(cwd, { env: ENV });
  if (noted.kind === "none") throw new Error(noted.reason);
  return noted.moment;
}

async function since(cwd: string, before: GitMoment): Promise<WorkDone> {
  const result = await workSince(cwd, before, { env: ENV });
  if (result.kind === "none") throw new Error(result.reason);
  return result.work;
}

function shown({ files }: WorkDone): string[] {
  return files.map(({ path, linesWritten }) => `${path} +${linesWritten}`);
}

describe("C5 what was done since", () => {
  test("committed, staged, unstaged and untracked work counts alike, and the person's index stays", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    write(cwd, { committed: "1\n2\n" });
    commit(cwd, "add: committed");
    write(cwd, { staged: "1\n" });
    git(cwd, "add", "staged");
    write(cwd, { a: "a 1\na 2\n", "deep/untracked": "x\ny\nz\n", ignored: "no\n" });
    rmSync(join(cwd, "b"));
    const state = personsState(cwd);
    const work = await since(cwd, before);
    expect(personsState(cwd)).toEqual(state);
    expect(shown(work)).toEqual(["a +1", "b +0", "committed +2", "deep/untracked +3", "staged +1"]);
    expect(work).toMatchObject({ isHistoryRewritten: false, isBranchChanged: false });
  });

  test("what the person had not committed before is not the generator's work", async () => {
    const cwd = makeRepository();
    write(cwd, { a: "mine\n", notes: "mine too\n" });
    const before = await note(cwd);
    expect(shown(await since(cwd, before))).toEqual([]);
    write(cwd, { notes: "mine too\nand more\n" });
    commit(cwd, "all of it");
    expect(shown(await since(cwd, before))).toEqual(["notes +1"]);
  });

  test("a generator that undid its work did nothing to the files", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    write(cwd, { a: "other\n" });
    commit(cwd, "one");
    git(cwd, "revert", "--no-edit", "HEAD");
    expect(shown(await since(cwd, before))).toEqual([]);
  });

  test("renames, binary files, links, modes and odd names are told for what they are", async () => {
    const cwd = makeRepository();
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");
    write(cwd, { old: lines, "old 2": lines.toUpperCase(), tool: "#!/bin/sh\n", bytes: "\0\u0001" });
    commit(cwd, "more");
    const before = await note(cwd);
    renameSync(join(cwd, "old"), join(cwd, "new é"));
    renameSync(join(cwd, "old 2"), join(cwd, "moved"));
    write(cwd, { moved: `${lines.toUpperCase()}LAST\n`, bytes: "\0\u0002", 'a "q"\n\tb*[x]': "1\n2\n" });
    writeFileSync(Buffer.concat([Buffer.from(`${cwd}/raw-`), Buffer.from([0xff])]), "raw\n");
    chmodSync(join(cwd, "tool"), 0o755);
    symlinkSync("nowhere", join(cwd, "link"));
    expect(shown(await since(cwd, before))).toEqual([
      'a "q"\n\tb*[x] +2',
      "bytes +0",
      "link +1",
      "moved +1",
      "new é +0",
      "raw-\ufffd +1",
      "tool +0",
    ]);
  });

  test("a submodule is left alone: its commit counts, its files do not", async () => {
    const cwd = makeRepository();
    const other = makeRepository();
    git(cwd, "submodule", "--quiet", "add", other, "sub");
    commit(cwd, "with a submodule");
    const before = await note(cwd);
    write(cwd, { "sub/a": "changed\n", "sub/new": "1\n2\n" });
    expect(shown(await since(cwd, before))).toEqual([]);
    commit(join(cwd, "sub"), "in the submodule");
    expect(shown(await since(cwd, before))).toEqual(["sub +0"]);
  });

  test("C9 nothing in any .loop is told, committed or not", async () => {
    const cwd = makeRepository();
    write(cwd, { ".loop/prd.json": "{}\n", "packages/x/.loop/prd.json": "{}\n" });
    commit(cwd, "backlog");
    const before = await note(cwd);
    write(cwd, { ".loop/prd.json": '{"passes":true}\n', ".loop/new": "x\n" });
    commit(cwd, "cheat");
    write(cwd, { "packages/x/.loop/prd.json": "x\n" });
    expect(shown(await since(cwd, before))).toEqual([]);
  });

  test("marks in the index that hide files hide nothing", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    git(cwd, "update-index", "--assume-unchanged", "a");
    git(cwd, "update-index", "--skip-worktree", "b");
    write(cwd, { a: "hidden\n", b: "hidden\n" });
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(shown(await since(cwd, before))).toEqual(["a +1", "b +1"]);
  });

  test("no program of the repository's configuration is started", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    const trap = join(cwd, "ignored");
    for (const name of ["diff.x.command", "diff.x.textconv", "filter.x.clean", "diff.external"])
      git(cwd, "config", name, `touch '${trap.replaceAll("'", "'\\''")}'; cat`);
    write(cwd, { ".gitattributes": "* diff=x filter=x\n", a: "other\n" });
    expect(shown(await since(cwd, before))).toContain("a +1");
    expect(() => git(cwd, "ls-files", "--error-unmatch", "ignored")).toThrow();
    expect(git(cwd, "ls-files", "-o", "-i", "--exclude-standard")).toBe("");
  });
});

describe("C5 where the commits stand", () => {
  test.each<[string, (cwd: string) => void, Partial<WorkDone>]>([
    ["amended", (cwd) => void git(cwd, "commit", "-q", "--amend", "-m", "x"), { isHistoryRewritten: true }],
    [
      "reset to the commit before",
      (cwd) => void git(cwd, "reset", "-q", "--hard", "HEAD~1"),
      { isHistoryRewritten: true },
    ],
    [
      "another branch from here",
      (cwd) => void git(cwd, "checkout", "-q", "-b", "other"),
      { isHistoryRewritten: false, isBranchChanged: true },
    ],
    [
      "detached",
      (cwd) => void git(cwd, "checkout", "-q", "--detach"),
      { isHistoryRewritten: false, isBranchChanged: true },
    ],
    [
      "a history of its own",
      (cwd) => {
        git(cwd, "checkout", "-q", "--orphan", "new");
        git(cwd, "commit", "-q", "-m", "root");
      },
      { isHistoryRewritten: true, isBranchChanged: true },
    ],
  ])("%s", async (_, act, expected) => {
    const cwd = makeRepository();
    write(cwd, { c: "c\n" });
    commit(cwd, "second");
    const before = await note(cwd);
    act(cwd);
    expect(await since(cwd, before)).toMatchObject(expected);
  });

  test("a commit that is gone from the repository is history rewritten, and the tree from before still compares", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    write(cwd, { a: "other\n" });
    const work = await since(cwd, { ...before, head: "1".repeat(40) });
    expect(work.isHistoryRewritten).toBe(true);
    expect(shown(work)).toEqual(["a +1"]);
    const lost = await workSince(cwd, { ...before, head: "1".repeat(40), tree: null }, { env: ENV });
    expect(lost).toEqual({
      kind: "none",
      reason: "Git cannot compare the files: the commit 1111111111 from before the work is missing.",
    });
    expect(shown(await since(cwd, { ...before, tree: "2".repeat(40) }))).toEqual(["a +1"]);
  });

  test("a repository with no commit yet, before and after the first", async () => {
    const cwd = makeFolder();
    git(cwd, "init", "-q", "-b", "main");
    write(cwd, { mine: "1\n" });
    const before = await note(cwd);
    expect(before).toMatchObject({ head: null, branch: "refs/heads/main" });
    write(cwd, { work: "1\n2\n" });
    const first = await since(cwd, before);
    expect(shown(first)).toEqual(["work +2"]);
    expect(first.isHistoryRewritten).toBe(false);
    commit(cwd, "root");
    const second = await since(cwd, before);
    expect(shown(second)).toEqual(["work +2"]);
    expect(second.isHistoryRewritten).toBe(false);
  });

  test("a linked worktree with a project below its top: work beside the project counts too", async () => {
    const cwd = makeRepository();
    write(cwd, { "pkg/x": "1\n" });
    commit(cwd, "pkg");
    const linked = join(cwd, "..", "a linked one");
    git(cwd, "worktree", "add", "-q", "-b", "side", linked);
    const before = await note(join(linked, "pkg"));
    write(linked, { "pkg/x": "2\n", beside: "1\n" });
    write(cwd, { a: "main is somebody else's\n" });
    expect(before.branch).toBe("refs/heads/side");
    expect(shown(await since(join(linked, "pkg"), before))).toEqual(["beside +1", "pkg/x +1"]);
  });

  test("without git it says so in a sentence", async () => {
    const cwd = makeFolder();
    const reason = "Git cannot compare the files: this folder is not in a git repository.";
    expect(await noteMoment(cwd, { env: ENV })).toEqual({ kind: "none", reason });
    const nowhere = { head: null, branch: null, tree: null };
    expect(await workSince(cwd, nowhere, { env: ENV })).toEqual({ kind: "none", reason });
    expect(await noteMoment(cwd, { env: { ...ENV, PATH: "/nonexistent" } })).toEqual({
      kind: "none",
      reason: "Git cannot compare the files: git is not on the PATH.",
    });
    expect(await noteMoment(join(cwd, "gone"), { env: ENV })).toMatchObject({ kind: "none" });
  });
});
