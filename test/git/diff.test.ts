/** C5, C9: what a generator did, by real repositories. */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type GitMoment, noteMoment, type WorkDone, workSince } from "../../src/git/diff.ts";
import { commit, ENV, git, makeFolder, makeRepository, personsState, write } from "./fixtures.ts";

async function note(cwd: string): Promise<GitMoment> {
  const noted = await noteMoment(cwd, { env: ENV });
  if (noted.kind === "none") throw new Error(noted.reason);
  return noted.moment;
}

async function since(
  cwd: string,
  before: GitMoment,
  options: { readonly maxText?: number } = {},
): Promise<WorkDone> {
  const result = await workSince(cwd, before, { env: ENV, ...options });
  if (result.kind === "none") throw new Error(result.reason);
  return result.work;
}

/** `A path +written -deleted`, with what is special. */
function shown({ files }: WorkDone): string[] {
  return files.map(({ path, from, kind, linesWritten, linesDeleted, isBinary, isRepository }) =>
    [
      kind,
      from === null ? path : `${from} → ${path}`,
      `+${linesWritten} -${linesDeleted}`,
      ...(isBinary ? ["binary"] : []),
      ...(isRepository ? ["repository"] : []),
    ].join(" "),
  );
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
    expect(shown(work)).toEqual([
      "changed a +1 -0",
      "deleted b +0 -1",
      "added committed +2 -0",
      "added deep/untracked +3 -0",
      "added staged +1 -0",
    ]);
    expect(work).toMatchObject({
      linesWritten: 7,
      linesDeleted: 1,
      commitCount: 1,
      commits: [{ subject: "add: committed", commit: git(cwd, "rev-parse", "HEAD").trim() }],
      uncommitted: ["a", "b", "deep/untracked", "staged"],
      isHistoryRewritten: false,
      isBranchChanged: false,
      isDetached: false,
      isCut: false,
    });
    expect(work.text).toContain("+a 2\n");
    expect(work.text).toContain("+++ b/deep/untracked\n");
    expect(work.text).not.toContain("ignored");
  });

  test("what the person had not committed before is not the generator's work", async () => {
    const cwd = makeRepository();
    write(cwd, { a: "mine\n", notes: "mine too\n" });
    const before = await note(cwd);
    expect(shown(await since(cwd, before))).toEqual([]);
    write(cwd, { notes: "mine too\nand more\n" });
    commit(cwd, "all of it");
    expect(shown(await since(cwd, before))).toEqual(["changed notes +1 -0"]);
  });

  test("a generator that undid its work did nothing to the files, but its commits are told", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    write(cwd, { a: "other\n" });
    commit(cwd, "one");
    git(cwd, "revert", "--no-edit", "HEAD");
    const work = await since(cwd, before);
    expect(work.commits.map(({ subject }) => subject)).toEqual(["one", 'Revert "one"']);
    expect([work.files, work.text]).toEqual([[], ""]);
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
      'added a "q"\n\tb*[x] +2 -0',
      "changed bytes +0 -0 binary",
      "added link +1 -0",
      "renamed old 2 → moved +1 -0",
      "renamed old → new é +0 -0",
      "added raw-\ufffd +1 -0",
      "changed tool +0 -0",
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
    expect(shown(await since(cwd, before))).toEqual(["changed sub +0 -0 repository"]);
  });

  test("C9 nothing in any .loop is told, committed or not", async () => {
    const cwd = makeRepository();
    write(cwd, { ".loop/prd.json": "{}\n", "packages/x/.loop/prd.json": "{}\n" });
    commit(cwd, "backlog");
    const before = await note(cwd);
    write(cwd, { ".loop/prd.json": '{"passes":true}\n', ".loop/new": "x\n" });
    commit(cwd, "cheat");
    write(cwd, { "packages/x/.loop/prd.json": "x\n" });
    const work = await since(cwd, before);
    expect([work.files, work.text, work.uncommitted, work.commitCount]).toEqual([[], "", [], 1]);
  });

  test("marks in the index that hide files hide nothing", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    git(cwd, "update-index", "--assume-unchanged", "a");
    git(cwd, "update-index", "--skip-worktree", "b");
    write(cwd, { a: "hidden\n", b: "hidden\n" });
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(shown(await since(cwd, before))).toEqual(["changed a +1 -1", "changed b +1 -1"]);
  });

  test("no program of the repository's configuration is started", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    const trap = join(cwd, "ignored");
    for (const name of ["diff.x.command", "diff.x.textconv", "filter.x.clean", "diff.external"])
      git(cwd, "config", name, `touch '${trap.replaceAll("'", "'\\''")}'; cat`);
    write(cwd, { ".gitattributes": "* diff=x filter=x\n", a: "other\n" });
    expect((await since(cwd, before)).text).toContain("+other\n");
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
      { isHistoryRewritten: true, commitCount: 0 },
    ],
    [
      "another branch from here",
      (cwd) => void git(cwd, "checkout", "-q", "-b", "other"),
      { isHistoryRewritten: false, isBranchChanged: true, isDetached: false },
    ],
    [
      "detached",
      (cwd) => void git(cwd, "checkout", "-q", "--detach"),
      { isHistoryRewritten: false, isBranchChanged: true, isDetached: true },
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
    expect(shown(work)).toEqual(["changed a +1 -1"]);
    const lost = await workSince(cwd, { ...before, head: "1".repeat(40), tree: null }, { env: ENV });
    expect(lost).toEqual({
      kind: "none",
      reason: "Git cannot compare the files: the commit 1111111111 from before the work is missing.",
    });
    expect(shown(await since(cwd, { ...before, tree: "2".repeat(40) }))).toEqual(["changed a +1 -1"]);
  });

  test("a repository with no commit yet, before and after the first", async () => {
    const cwd = makeFolder();
    git(cwd, "init", "-q", "-b", "main");
    write(cwd, { mine: "1\n" });
    const before = await note(cwd);
    expect(before).toMatchObject({ head: null, branch: "refs/heads/main" });
    write(cwd, { work: "1\n2\n" });
    const first = await since(cwd, before);
    expect(shown(first)).toEqual(["added work +2 -0"]);
    expect(first).toMatchObject({ commitCount: 0, uncommitted: ["mine", "work"], isHistoryRewritten: false });
    commit(cwd, "root");
    const second = await since(cwd, before);
    expect(shown(second)).toEqual(["added work +2 -0"]);
    expect(second).toMatchObject({ commitCount: 1, uncommitted: [], isHistoryRewritten: false });
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
    expect(shown(await since(join(linked, "pkg"), before))).toEqual([
      "added beside +1 -0",
      "changed pkg/x +1 -1",
    ]);
  });

  test("without git it says so in a sentence", async () => {
    const cwd = makeFolder();
    const reason = "Git cannot compare the files: this folder is not in a git repository.";
    expect(await noteMoment(cwd, { env: ENV })).toEqual({ kind: "none", reason });
    const nowhere = { head: null, branch: null, tree: null };
    expect(await workSince(cwd, nowhere, { env: ENV })).toEqual({ kind: "none", reason });
    expect(await noteMoment(cwd, { env: { ...ENV, PATH: "/nonexistent" } })).toEqual({
      kind: "none",
      reason: "Git cannot compare the files: git is not installed.",
    });
    expect(await noteMoment(join(cwd, "gone"), { env: ENV })).toMatchObject({ kind: "none" });
  });
});

describe("C5 the text of the diff", () => {
  test("is cut at the end of a line, and says how much is missing", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    write(cwd, { long: "x é\n".repeat(1_000) });
    const whole = await since(cwd, before);
    expect([whole.isCut, whole.text.length > 5_000]).toEqual([false, true]);
    const work = await since(cwd, before, { maxText: 1_000 });
    const end = work.text.lastIndexOf("…");
    expect(work.isCut).toBe(true);
    expect(end).toBeLessThanOrEqual(1_000);
    expect(whole.text.startsWith(work.text.slice(0, end))).toBe(true);
    expect(work.text.slice(end)).toBe(
      `… ${whole.text.length - end} more characters of the diff are not shown.\n`,
    );
    expect(work.linesWritten).toBe(1_000);
  });

  test("leaves out a file that is too large, whatever its name, and shows the others", async () => {
    const cwd = makeRepository();
    const before = await note(cwd);
    mkdirSync(join(cwd, "x"));
    write(cwd, { "x/big [é]*": `${"y".repeat(1_023)}\n`.repeat(33 * 1_024), "x/big [é]* not": "1\n" });
    const work = await since(cwd, before);
    expect(work.linesWritten).toBe(33 * 1_024 + 1);
    expect(work.text).toContain("+++ b/x/big [é]* not");
    expect(work.text.slice(-60)).toContain("… x/big [é]* is too large to show.\n");
    expect(work.text.length).toBeLessThan(1_000);
  });
});
