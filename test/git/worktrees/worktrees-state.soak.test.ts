/** C13: what a worktree holds, and whether it may go. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeWorktree } from "../../../src/git/worktrees/worktree-making.ts";
import type { WorktreeState } from "../../../src/git/worktrees/worktree-state.ts";
import {
  adoptWorktree,
  cleanWorktrees,
  listWorktrees,
  releaseWorktree,
  removeWorktree,
} from "../../../src/git/worktrees/worktrees.ts";
import { commit, git, makeRepository, read, write } from "../fixtures.ts";
import { ask, expectSound, left, made, OPTIONS, theOnly, traces, tracesOf } from "./worktrees-samples.ts";

const clean = (cwd: string, isDryRun = false) => cleanWorktrees(cwd, { isDryRun }, OPTIONS);

/** Where the record of a worktree is. */
const recordOf = (cwd: string, id: string) => join(cwd, ".git", "loopwright", "worktrees", `${id}.json`);

function changeRecord(cwd: string, id: string, fields: object): void {
  const record = JSON.parse(readFileSync(recordOf(cwd, id), "utf8")) as object;
  writeFileSync(recordOf(cwd, id), JSON.stringify({ ...record, ...fields }));
}

describe("C13 the state of a worktree, and whether it goes", () => {
  const cases: [string, WorktreeState, RegExp, (cwd: string, path: string) => void][] = [
    ["nothing was done", "merged", /^All its commits are in main\.$/, () => {}],
    ["an untracked file", "dirty", /^new is not committed\.$/, (_, path) => write(path, { new: "1\n" })],
    [
      "changes that the index hides",
      "dirty",
      /^a is not committed\.$/,
      (_, path) => {
        git(path, "update-index", "--assume-unchanged", "a");
        write(path, { a: "hidden\n" });
      },
    ],
    [
      "content that is only staged",
      "dirty",
      /^It has staged changes/,
      (_, path) => {
        write(path, { a: "staged\n" });
        git(path, "add", "a");
        write(path, { a: "a 1\n" });
      },
    ],
    ["a file that was deleted", "dirty", /^a is not committed\.$/, (_, path) => rmSync(join(path, "a"))],
    [
      "many files",
      "dirty",
      /^3 files are not committed: x, …$/,
      (_, path) => write(path, { x: "", y: "", z: "" }),
    ],
    [
      "a commit",
      "open",
      /^It has 1 commit of loop\/US-001 not in main\.$/,
      (_, path) => {
        write(path, { a: "2\n" });
        commit(path, "work");
      },
    ],
    [
      "a commit on no branch",
      "open",
      /^It has 1 commit of/,
      (_, path) => {
        git(path, "checkout", "-q", "--detach");
        write(path, { a: "2\n" });
        commit(path, "work");
      },
    ],
    [
      "a commit that is merged",
      "merged",
      /^All its commits are in main\.$/,
      (cwd, path) => {
        write(path, { a: "2\n" });
        commit(path, "work");
        git(cwd, "merge", "-q", "--no-edit", "loop/US-001");
      },
    ],
    [
      "only ignored files and a .loop",
      "merged",
      /^All its commits/,
      (_, path) => write(path, { ignored: "1\n", ".loop/journal.jsonl": "{}\n", ".loop/x": "" }),
    ],
    [
      "its folder is gone",
      "orphaned",
      /^Its folder is missing\.$/,
      (_, path) => rmSync(path, { recursive: true }),
    ],
    [
      "its folder is gone, its commits are not merged",
      "orphaned",
      /^Its folder is missing; 1 commit of loop\/US-001 not in main\.$/,
      (_, path) => {
        write(path, { a: "2\n" });
        commit(path, "work");
        rmSync(path, { recursive: true });
      },
    ],
    [
      "a rebase that stands still",
      "dirty",
      /^A merge or rebase is in progress/,
      (cwd, path) => {
        write(path, { a: "2\n" });
        commit(path, "work");
        write(cwd, { a: "3\n" });
        commit(cwd, "other");
        expect(() => git(path, "rebase", "main")).toThrow();
      },
    ],
    [
      "a folder that was replaced",
      "dirty",
      /^It cannot be checked|^Its folder is not a separate/,
      (_, path) => {
        rmSync(path, { recursive: true });
        write(path, { precious: "1\n" });
      },
    ],
    [
      "submodules with commits of their own",
      "dirty",
      /^It has submodules/,
      (_, path) => mkdirSync(join(git(path, "rev-parse", "--git-dir").trim(), "modules")),
    ],
    [
      "cut short while it was made, with files that are missing",
      "unfinished",
      /^It was interrupted while it was created\.$/,
      (cwd, path) => {
        changeRecord(cwd, "US-001", { stage: "making" });
        rmSync(join(path, "a"));
      },
    ],
    [
      "cut short while it was removed, with something new in it",
      "dirty",
      /^new is not committed\.$/,
      (cwd, path) => {
        changeRecord(cwd, "US-001", { stage: "removing" });
        rmSync(join(path, "a"));
        write(path, { new: "1\n" });
      },
    ],
    [
      "git was stopped before it knew the folder",
      "orphaned",
      /^Its folder is missing\.$/,
      (cwd, path) => {
        changeRecord(cwd, "US-001", { stage: "making" });
        const admin = git(path, "rev-parse", "--git-dir").trim();
        rmSync(path, { recursive: true });
        for (const name of readdirSync(admin))
          if (name !== "locked") rmSync(join(admin, name), { recursive: true });
      },
    ],
    [
      "a commit that git cannot read",
      "dirty",
      /^It cannot be checked: |^It has no commit/,
      (cwd, path) => {
        const lost = git(path, "rev-parse", "HEAD^{tree}").trim();
        rmSync(join(cwd, ".git/objects", lost.slice(0, 2), lost.slice(2)));
      },
    ],
    [
      "an owner on another machine",
      "active",
      /^A process on elsewhere uses it\.$/,
      (cwd) => changeRecord(cwd, "US-001", { owner: { pid: 1, start: null, host: "elsewhere" } }),
    ],
  ];
  test.each(cases)("%s: %s", async (_, state, why, act) => {
    const cwd = makeRepository();
    const { path } = await left(cwd);
    act(cwd, path);
    const found = await theOnly(cwd);
    expect(found).toMatchObject({ state, why: expect.stringMatching(why) as string });
    const mayGo =
      state === "merged" || state === "unfinished" || (state === "orphaned" && found.unmerged === 0);
    expect(found.isRemovable).toBe(mayGo);
    const [before, refs] = [traces(cwd), git(cwd, "for-each-ref")];
    const { removed, kept, problems } = await clean(cwd);
    expect([removed.length, kept.length, problems]).toEqual(mayGo ? [1, 0, []] : [0, 1, []]);
    expect(traces(cwd)).toEqual(mayGo ? tracesOf() : before);
    if (!mayGo) expect(git(cwd, "for-each-ref")).toBe(refs);
    if (!why.source.includes("checked:")) expectSound(cwd);
  });

  test("as long as its owner lives it is active, however merged; asked by name it stays too", async () => {
    const cwd = makeRepository();
    const { id } = await made(cwd);
    const why = `Process ${process.pid} uses it.`;
    expect(await theOnly(cwd)).toMatchObject({ state: "active", why, isRemovable: false });
    expect(await removeWorktree(cwd, id, OPTIONS)).toBe(`US-001 stays. ${why}`);
    expect((await clean(cwd)).removed).toEqual([]);
    await releaseWorktree(cwd, id, OPTIONS);
    expect(await removeWorktree(cwd, id, OPTIONS)).toBeNull();
    expect(await removeWorktree(cwd, id, OPTIONS)).toBeNull();
    expect(traces(cwd)).toEqual(tracesOf());
  });

  test.runIf(process.platform === "linux")(
    "a process in its folder keeps it, also when its owner is gone",
    async () => {
      const cwd = makeRepository();
      const { path } = await left(cwd);
      const child = spawn("cat", { cwd: path, stdio: ["pipe", "ignore", "ignore"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      await once(child, "spawn");
      expect(await theOnly(cwd)).toMatchObject({
        state: "active",
        why: `Process ${child.pid} runs in its folder.`,
      });
      expect((await clean(cwd)).kept).toHaveLength(1);
      child.stdin.end();
      await once(child, "exit");
      expect((await clean(cwd)).removed).toHaveLength(1);
    },
  );

  test("after a crash of its owner another process adopts it; never that of a live one", async () => {
    const cwd = makeRepository();
    const { id } = await left(cwd);
    changeRecord(cwd, id, { owner: { pid: 1, start: null, host: "elsewhere" } });
    expect(await adoptWorktree(cwd, id, OPTIONS)).toBe(false);
    changeRecord(cwd, id, { owner: null });
    expect(await adoptWorktree(cwd, id, OPTIONS)).toBe(true);
    expect((await theOnly(cwd)).state).toBe("active");
    expect(await adoptWorktree(cwd, "US-009", OPTIONS)).toBe(false);
  });

  test("a commit that comes between the look and the removal keeps its branch", async () => {
    const cwd = makeRepository();
    const { path } = await left(cwd);
    write(path, { a: "2\n" });
    commit(path, "work");
    git(cwd, "merge", "-q", "--no-edit", "loop/US-001");
    const tip = git(cwd, "rev-parse", "loop/US-001").trim();
    const later = git(cwd, "commit-tree", `${tip}^{tree}`, "-p", tip, "-m", "later").trim();
    // as git is run to look: the first command that names the branch's commit is when it moves
    const bin = `${cwd}.bin`;
    const script = `#!/bin/sh\ncase "$*" in *rev-list*--count*) PATH="\${PATH#*:}" git update-ref refs/heads/loop/US-001 ${later} ${tip} ;; esac\n`;
    mkdirSync(bin);
    writeFileSync(join(bin, "git"), `${script}PATH="\${PATH#*:}"\nexec git "$@"\n`, { mode: 0o755 });
    const env = { ...OPTIONS.env, PATH: `${bin}:${OPTIONS.env.PATH}` };
    await removeWorktree(cwd, "US-001", { env });
    expect(git(cwd, "rev-parse", "loop/US-001").trim()).toBe(later);
  });

  test("worktrees that the person made are neither listed nor touched, not even one on a disk that is away", async () => {
    const cwd = makeRepository();
    git(cwd, "worktree", "add", "-q", "-b", "mine", `${cwd}.worktrees/mine`);
    git(cwd, "worktree", "add", "-q", "-b", "away", `${cwd}.away`);
    rmSync(`${cwd}.away`, { recursive: true });
    const before = git(cwd, "worktree", "list", "--porcelain");
    await left(cwd);
    expect((await clean(cwd)).removed.map(({ id }) => id)).toEqual(["US-001"]);
    expect(git(cwd, "worktree", "list", "--porcelain")).toBe(before);
    expect(read(`${cwd}.worktrees/mine`, "a")).toEqual(["a 1\n"]);
    expect(git(cwd, "branch", "--list", "mine", "away").split("\n")).toHaveLength(3);
  });

  test("H4 a folder inside of the checkout that lost its own git is not taken for the checkout", async () => {
    const cwd = makeRepository();
    const folder = join(cwd, "build");
    const result = await makeWorktree(cwd, ask(), { ...OPTIONS, folder });
    if (result.kind === "none") throw new Error(result.reason);
    const { path, id } = result.worktree;
    await releaseWorktree(cwd, id, OPTIONS);
    rmSync(path, { recursive: true });
    write(path, { precious: "1\n" });
    expect(await theOnly(cwd)).toMatchObject({
      state: "dirty",
      why: "Its folder is not a separate worktree.",
    });
    expect((await clean(cwd)).removed).toEqual([]);
    expect(read(path, "precious")).toEqual(["1\n"]);
  });

  test("H4 a record that leads to somebody else's folder removes nothing", async () => {
    const cwd = makeRepository();
    const { id } = await left(cwd);
    const precious = join(dirname(cwd), "precious", id);
    write(precious, { file: "1\n" });
    for (const stage of ["making", "ready", "removing"]) {
      changeRecord(cwd, id, { path: precious, stage });
      expect((await clean(cwd)).removed).toEqual([]);
      changeRecord(cwd, id, { path: cwd, stage });
      expect((await clean(cwd)).removed).toEqual([]);
      changeRecord(cwd, id, { path: precious, stage, kind: "merge" });
      expect((await clean(cwd)).removed).toEqual([]);
    }
    const merge = join(dirname(cwd), "merge+x");
    write(merge, { file: "1\n" });
    writeFileSync(recordOf(cwd, "merge+x"), readFileSync(recordOf(cwd, id)));
    changeRecord(cwd, "merge+x", {
      id: "merge+x",
      path: merge,
      stage: "ready",
      kind: "merge",
      branch: null,
    });
    expect([(await clean(cwd)).removed, read(merge, "file")]).toEqual([[], ["1\n"]]);
    expect([read(precious, "file"), read(cwd, "a")]).toEqual([["1\n"], ["a 1\n"]]);
    // git's own list of worktrees may be forged as well, and name another repository or an empty folder
    const [other, empty] = [makeRepository(), join(dirname(cwd), "empty")];
    mkdirSync(empty);
    for (const path of [merge, other, empty]) {
      const admin = join(cwd, ".git", "worktrees", basename(path));
      mkdirSync(admin, { recursive: true });
      writeFileSync(join(admin, "gitdir"), `${path}/.git\n`);
      writeFileSync(join(admin, "HEAD"), git(cwd, "rev-parse", "HEAD"));
      writeFileSync(join(admin, "commondir"), "../..\n");
      if (path === merge) continue;
      writeFileSync(recordOf(cwd, basename(path)), readFileSync(recordOf(cwd, id)));
      changeRecord(cwd, basename(path), { id: basename(path), path, stage: "making", kind: "story" });
    }
    expect((await clean(cwd)).removed).toEqual([]);
    expect([read(merge, "file"), read(other, "a"), readdirSync(empty)]).toEqual([["1\n"], ["a 1\n"], []]);
    for (const path of [other, empty]) rmSync(recordOf(cwd, basename(path)));
    // a merge has no branch that could go with it
    changeRecord(cwd, "merge+x", { branch: "refs/heads/main" });
    writeFileSync(recordOf(cwd, id), "{");
    expect(await listWorktrees(cwd, OPTIONS)).toEqual([]);
  });
});

describe("C13 retention and quota", () => {
  async function several(cwd: string): Promise<void> {
    for (const [at, story] of ["US-001", "US-002", "US-003", "US-004"].entries()) {
      const result = await makeWorktree(cwd, ask({ story }), { ...OPTIONS, now: () => 1_000 - at });
      if (result.kind === "none") throw new Error(result.reason);
      if (story !== "US-002") await releaseWorktree(cwd, story, OPTIONS);
    }
    write(`${cwd}.worktrees/US-003`, { new: "1\n" });
  }

  test("a dry run says what would go, and nothing goes", async () => {
    const cwd = makeRepository();
    await several(cwd);
    const before = traces(cwd);
    // oldest first: US-004, 003, 002, 001
    const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
    const dry = await clean(cwd, true);
    expect([ids(dry.removed), ids(dry.kept)]).toEqual([
      ["US-004", "US-001"],
      ["US-003", "US-002"],
    ]);
    expect(traces(cwd)).toEqual(before);
    expect(ids((await clean(cwd)).removed)).toEqual(["US-004", "US-001"]);
    expect(ids(await listWorktrees(cwd, OPTIONS))).toEqual(["US-003", "US-002"]);
  });

  test("at the quota the oldest that is merged makes room; when none may go, it says so with an example", async () => {
    const cwd = makeRepository();
    await several(cwd);
    await left(cwd, { story: "US-005", max: 4 });
    expect(traces(cwd)).toMatchObject({ folders: ["US-001", "US-002", "US-003", "US-005"] });
    expect(await makeWorktree(cwd, ask({ story: "US-006", max: 2 }), OPTIONS)).toEqual({
      kind: "none",
      reason:
        "No worktree was created: there are already 2 worktrees of stories (at most 2), and none can be removed (US-003: new is not committed).",
    });
    expect(traces(cwd)).toMatchObject({ folders: ["US-002", "US-003"] });
  });
});
