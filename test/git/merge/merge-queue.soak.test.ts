/** C13: a story's branch into the target, by real repositories. */
import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  discardMerge,
  type MergeRequest,
  type PreparedMerge,
  prepareMerge,
  publishMerge,
} from "../../../src/git/merge/merge-queue.ts";
import { cleanWorktrees, releaseWorktree } from "../../../src/git/worktrees/worktrees.ts";
import { commit, git, makeRepository, personsState, read, write } from "../fixtures.ts";
import { expectSound, left, OPTIONS, theOnly, traces, tracesOf } from "../worktrees/worktrees-samples.ts";

type Files = Readonly<Record<string, string>>;

/** A story with a commit of these files, that nobody works on any more. */
async function story(cwd: string, files: Files, id = "US-001"): Promise<string> {
  const { path } = await left(cwd, { story: id });
  write(path, files);
  commit(path, `${id}: work`);
  return path;
}

const request = (id = "US-001", target = "main"): MergeRequest => ({
  story: id,
  branch: `loop/${id}`,
  target,
  message: `Merge ${id}`,
});

async function prepared(cwd: string, wanted = request(), options = OPTIONS): Promise<PreparedMerge> {
  const result = await prepareMerge(cwd, wanted, options);
  if (result.kind !== "prepared") throw new Error(JSON.stringify(result));
  return result.merge;
}

const publish = (cwd: string, merge: PreparedMerge) => publishMerge(cwd, merge, OPTIONS);
const head = (cwd: string, name = "HEAD") => git(cwd, "rev-parse", name).trim();
const status = (cwd: string) => git(cwd, "status", "--porcelain");

/** Git as it was before `merge-tree --write-tree`. */
function oldGit(cwd: string): typeof OPTIONS {
  const bin = `${cwd}.bin`;
  mkdirSync(bin);
  const script = `#!/bin/sh
PATH="\${PATH#*:}"
case " $* " in *" merge-tree "*) echo "usage: git merge-tree <base-tree> <branch1> <branch2>" >&2; exit 129 ;; esac
exec git "$@"
`;
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
  return { env: { ...OPTIONS.env, PATH: `${bin}:${OPTIONS.env.PATH}` } };
}

describe("C13 a merge is prepared", () => {
  test.each(["this git", "an older git"])(
    "with %s: the merged files in a worktree, and nothing else changed",
    async (which) => {
      const cwd = makeRepository();
      await story(cwd, { a: "a 2\n", new: "1\n" });
      write(cwd, { b: "b 2\n" });
      commit(cwd, "meanwhile");
      write(cwd, { b: "not committed\n" });
      const before = personsState(cwd);
      const options = which === "this git" ? OPTIONS : oldGit(cwd);
      const merge = await prepared(cwd, request(), options);
      expect(personsState(cwd)).toEqual(before);
      expect(merge).toMatchObject({
        before: head(cwd),
        tip: head(cwd, "loop/US-001"),
        worktree: "merge+US-001",
      });
      expect(read(merge.projectDir, "a", "b", "new")).toEqual(["a 2\n", "b 2\n", "1\n"]);
      expect(head(merge.projectDir)).toBe(merge.commit);
      expect(git(cwd, "log", "-1", "--format=%P %s", merge.commit)).toBe(
        `${merge.before} ${merge.tip} Merge US-001\n`,
      );
      expect(await discardMerge(cwd, merge, OPTIONS)).toBeNull();
      expect(personsState(cwd)).toEqual(before);
      expect(traces(cwd)).toEqual(tracesOf("US-001"));
      expectSound(cwd);
    },
  );

  test("the branch's own commit when the target stands where it started", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n" });
    const merge = await prepared(cwd);
    expect(merge.commit).toBe(head(cwd, "loop/US-001"));
  });

  test.each(["this git", "an older git"])(
    "with %s: files in conflict are named, and nothing is left of it",
    async (which) => {
      const cwd = makeRepository();
      await story(cwd, { a: "a 2\n", 'odd "é"\n': "1\n", c: "1\n" });
      write(cwd, { a: "a 3\n", 'odd "é"\n': "2\n", d: "1\n" });
      commit(cwd, "meanwhile");
      const before = personsState(cwd);
      const options = which === "this git" ? OPTIONS : oldGit(cwd);
      expect(await prepareMerge(cwd, request(), options)).toEqual({
        kind: "conflict",
        files: ["a", 'odd "é"\n'],
      });
      expect(personsState(cwd)).toEqual(before);
      expect(traces(cwd)).toEqual(tracesOf("US-001"));
    },
  );

  test.each(["this git", "an older git"])(
    "C5 with %s: no .loop takes part, in conflict or not",
    async (which) => {
      const cwd = makeRepository();
      write(cwd, { ".loop/prd.json": "0\n", ".loop/gone": "0\n", "x/.loop/prd.json": "0\n" });
      commit(cwd, "backlog");
      const path = await story(cwd, {
        a: "a 2\n",
        ".loop/prd.json": "1 passes\n",
        ".loop/new": "1\n",
        "x/.loop/prd.json": "1\n",
      });
      rmSync(join(path, ".loop/gone"));
      commit(path, "more");
      const options = which === "this git" ? OPTIONS : oldGit(cwd);
      const forward = await prepared(cwd, request(), options);
      const names = [".loop/prd.json", ".loop/gone", ".loop/new", "x/.loop/prd.json", "a"];
      expect(read(forward.projectDir, ...names)).toEqual(["0\n", "0\n", null, "0\n", "a 2\n"]);
      await discardMerge(cwd, forward, OPTIONS);
      write(cwd, { ".loop/prd.json": "2\n" });
      commit(cwd, "the engine's");
      const merge = await prepared(cwd, request(), options);
      expect(read(merge.projectDir, ...names)).toEqual(["2\n", "0\n", null, "0\n", "a 2\n"]);
    },
  );

  test("one that its process left behind is found and goes, whatever checks wrote there; the story's own stays", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n" });
    const merge = await prepared(cwd);
    write(merge.projectDir, { coverage: "1\n", a: "changed by a check\n" });
    const all = () => cleanWorktrees(cwd, { isDryRun: false }, OPTIONS);
    expect((await all()).removed).toEqual([]);
    await releaseWorktree(cwd, merge.worktree, OPTIONS);
    expect((await all()).removed.map(({ id }) => id)).toEqual(["merge+US-001"]);
    expect(traces(cwd)).toEqual(tracesOf("US-001"));
  });

  test("what the target has already is never merged again", async () => {
    const cwd = makeRepository();
    await left(cwd);
    expect(await prepareMerge(cwd, request(), OPTIONS)).toEqual({ kind: "nothing to merge" });
    await story(cwd, { a: "a 2\n" }, "US-002");
    await publish(cwd, await prepared(cwd, request("US-002")));
    expect(await prepareMerge(cwd, request("US-002"), OPTIONS)).toEqual({ kind: "nothing to merge" });
    write(cwd, { a: "a 3\n" });
    commit(cwd, "goes on");
    expect(await prepareMerge(cwd, request("US-002"), OPTIONS)).toEqual({ kind: "nothing to merge" });
  });

  test("no hook and no merge program of the repository's configuration runs", async () => {
    const cwd = makeRepository();
    const lines = Array.from({ length: 9 }, (_, i) => `${i}\n`);
    write(cwd, { ".gitattributes": "* merge=x\n", long: lines.join("") });
    commit(cwd, "attributes");
    const trap = join(dirname(cwd), "trap");
    const script = join(dirname(cwd), "script");
    writeFileSync(script, `#!/bin/sh\ntouch "$(dirname "$0")/trap"\n`);
    chmodSync(script, 0o755);
    git(cwd, "config", "merge.x.driver", `"${script.replaceAll('"', '\\"')}" %A`);
    await story(cwd, { long: lines.with(0, "first\n").join("") });
    write(cwd, { long: lines.with(8, "last\n").join("") });
    commit(cwd, "meanwhile");
    for (const options of [OPTIONS, oldGit(cwd)]) {
      const merge = await prepared(cwd, request(), options);
      expect(read(merge.projectDir, "long")).toEqual([lines.with(0, "first\n").with(8, "last\n").join("")]);
      await discardMerge(cwd, merge, OPTIONS);
    }
    expect(existsSync(trap)).toBe(false);
  });

  test("without one of the branches nothing is merged, and the sentence is told", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n" });
    expect(await prepareMerge(cwd, request("US-009"), OPTIONS)).toEqual({
      kind: "failed",
      reason: "Nothing was merged: there is no branch loop/US-009.",
    });
    expect(await prepareMerge(cwd, request("US-001", "nowhere"), OPTIONS)).toMatchObject({
      reason: "Nothing was merged: there is no branch nowhere.",
    });
  });
});

describe("C13 a merge is published", () => {
  test("a clean checkout of the target follows, and keeps what is untracked, ignored or in a .loop", async () => {
    const cwd = makeRepository();
    write(cwd, { ".loop/prd.json": "0\n" });
    commit(cwd, "backlog");
    const path = await story(cwd, { a: "a 2\n", "deep/new": "1\n" });
    rmSync(join(path, "b"));
    commit(path, "without b");
    write(cwd, { mine: "untracked\n", ignored: "x\n", ".loop/prd.json": "1 changed\n", c: "1\n" });
    git(cwd, "add", "c");
    git(cwd, "commit", "-q", "-m", "meanwhile");
    // as if another tool had touched it: its content is the same
    utimesSync(join(cwd, "a"), 1, 1);
    const merge = await prepared(cwd);
    expect(await publish(cwd, merge)).toEqual({ kind: "merged", commit: merge.commit, checkout: cwd });
    expect(head(cwd)).toBe(merge.commit);
    expect(git(cwd, "symbolic-ref", "HEAD").trim()).toBe("refs/heads/main");
    expect(read(cwd, "a", "b", "c", "deep/new", "mine", ".loop/prd.json")).toEqual([
      "a 2\n",
      null,
      "1\n",
      "1\n",
      "untracked\n",
      "1 changed\n",
    ]);
    expect(status(cwd)).toBe(" M .loop/prd.json\n?? mine\n");
    expect(git(cwd, "reflog", "-1", "--format=%gs")).toBe("merge loop/US-001: by loopwright\n");
    expect(await theOnly(cwd)).toMatchObject({ id: "US-001", state: "merged" });
    await cleanWorktrees(cwd, { isDryRun: false }, OPTIONS);
    expect(traces(cwd)).toEqual(tracesOf());
    expect(git(cwd, "log", "--format=%s").split("\n")).toContain("US-001: work");
    expectSound(cwd);
  });

  test("a target that nobody has checked out moves alone", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n" });
    git(cwd, "branch", "release");
    write(cwd, { a: "not committed\n" });
    const { refs: _, logs: _logs, ...before } = personsState(cwd) as Record<string, unknown>;
    const merge = await prepared(cwd, request("US-001", "release"));
    expect(await publish(cwd, merge)).toEqual({ kind: "merged", commit: merge.commit, checkout: null });
    const { refs: __, logs: __logs, ...after } = personsState(cwd) as Record<string, unknown>;
    expect(after).toEqual(before);
    expect([head(cwd, "release"), head(cwd, "main")]).toEqual([merge.commit, merge.before]);
  });

  const dirty: [string, (cwd: string) => void, RegExp][] = [
    ["a change in a file of the merge", (cwd) => write(cwd, { a: "mine\n" }), /uncommitted changes/],
    ["a change in another file", (cwd) => write(cwd, { b: "mine\n" }), /uncommitted changes/],
    [
      "something staged",
      (cwd) => {
        write(cwd, { b: "mine\n" });
        git(cwd, "add", "b");
        write(cwd, { b: "b 1\n" });
      },
      /uncommitted changes/,
    ],
    [
      "an untracked file in the way",
      (cwd) => write(cwd, { new: "mine\n" }),
      /: new in .* would be overwritten, and it is not committed\./,
    ],
    [
      "an ignored file in the way",
      (cwd) => write(cwd, { "build/new": "mine\n" }),
      /: build\/new in .* would be overwritten/,
    ],
    [
      "an ignored file where a folder has to be",
      (cwd) => write(cwd, { ignored: "mine\n" }),
      /: ignored in .* would be overwritten/,
    ],
    [
      "a merge in progress",
      (cwd) => {
        git(cwd, "checkout", "-q", "-b", "x");
        write(cwd, { c: "1\n" });
        commit(cwd, "x");
        git(cwd, "checkout", "-q", "main");
        git(cwd, "merge", "-q", "--no-ff", "--no-commit", "x");
      },
      /a merge or rebase is in progress/,
    ],
  ];
  test.each(dirty)(
    "with %s in the checkout nothing of the person's is touched: the merge waits",
    async (_, act, why) => {
      const cwd = makeRepository();
      const path = await story(cwd, { a: "a 2\n", new: "1\n" });
      write(path, { "build/new": "1\n" });
      if (why.source.includes("ignored")) write(path, { "ignored/x": "1\n" });
      git(path, "add", "-f", "build/new", ...(why.source.includes("ignored") ? ["ignored/x"] : []));
      commit(path, "forced");
      act(cwd);
      const before = personsState(cwd) as { readonly refs: readonly string[] };
      const files = read(cwd, "a", "b", "c", "new", "build/new", "ignored");
      const merge = await prepared(cwd);
      const held = await publish(cwd, merge);
      expect(held).toEqual({
        kind: "held",
        commit: merge.commit,
        branch: "loop/US-001-merged",
        reason: expect.stringMatching(why) as string,
      });
      const after = personsState(cwd) as { readonly refs: readonly string[] };
      const refs = after.refs.filter((line) => !line.endsWith("-merged"));
      expect({ ...after, refs }).toEqual(before);
      expect(read(cwd, "a", "b", "c", "new", "build/new", "ignored")).toEqual(files);
      expect(head(cwd, "loop/US-001-merged")).toBe(merge.commit);
      expectSound(cwd);
      // said twice, it is held once
      expect(await publish(cwd, merge)).toEqual(held);
    },
  );

  test("the person takes a held merge over by the command that is told; then all of it can go", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n" });
    write(cwd, { b: "mine\n" });
    const held = await publish(cwd, await prepared(cwd));
    if (held.kind !== "held") throw new Error(held.kind);
    const [, command = ""] = /To take the merge, type: git (.+)$/.exec(held.reason) ?? [];
    expect((await theOnly(cwd)).state).toBe("open");
    git(cwd, ...command.split(" "));
    expect([...read(cwd, "a", "b"), status(cwd)]).toEqual(["a 2\n", "mine\n", " M b\n"]);
    await cleanWorktrees(cwd, { isDryRun: false }, OPTIONS);
    expect(traces(cwd)).toEqual(tracesOf());
  });

  test("the next story can be merged onto a held one", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n" });
    await story(cwd, { c: "1\n" }, "US-002");
    write(cwd, { b: "mine\n" });
    const held = await publish(cwd, await prepared(cwd));
    if (held.kind !== "held") throw new Error(held.kind);
    const merge = await prepared(cwd, request("US-002", held.branch));
    expect(read(merge.projectDir, "a", "c")).toEqual(["a 2\n", "1\n"]);
    expect((await publish(cwd, merge)).kind).toBe("merged");
    expect(head(cwd, held.branch)).toBe(merge.commit);
  });

  test("a target that moved since is not overwritten; prepared anew, both are in it", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n" });
    const merge = await prepared(cwd);
    write(cwd, { b: "b 2\n" });
    commit(cwd, "the person's");
    const moved = head(cwd);
    expect(await publish(cwd, merge)).toEqual({ kind: "target moved", to: moved });
    expect([head(cwd), status(cwd), ...read(cwd, "a", "b")]).toEqual([moved, "", "a 1\n", "b 2\n"]);
    expect(traces(cwd)).toEqual(tracesOf("US-001"));
    expect((await publish(cwd, await prepared(cwd))).kind).toBe("merged");
    expect(read(cwd, "a", "b")).toEqual(["a 2\n", "b 2\n"]);
    git(cwd, "checkout", "-q", "--detach");
    git(cwd, "branch", "-D", "main");
    expect(await publish(cwd, merge)).toEqual({ kind: "target moved", to: null });
  });

  test("two that are prepared on the same commit: the second is told, and nothing of the first is lost", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n" });
    await story(cwd, { b: "b 2\n" }, "US-002");
    const [one, two] = [await prepared(cwd), await prepared(cwd, request("US-002"))];
    const results = await Promise.all([publish(cwd, one), publish(cwd, two)]);
    const kinds = results.map(({ kind }) => kind).sort();
    expect(kinds[0] === "held" ? ["held", "merged"] : ["merged", "target moved"]).toEqual(kinds);
    for (const id of ["US-001", "US-002"]) {
      const again = await prepareMerge(cwd, request(id), OPTIONS);
      if (again.kind === "prepared") expect((await publish(cwd, again.merge)).kind).toBe("merged");
    }
    expect([...read(cwd, "a", "b"), status(cwd)]).toEqual(["a 2\n", "b 2\n", ""]);
    expectSound(cwd);
  });

  test("H1 cut short between the files and the branch, the same call goes on; after that it says merged again", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n", new: "1\n" });
    const merge = await prepared(cwd);
    git(cwd, "read-tree", "-m", "-u", merge.before, merge.commit);
    expect(status(cwd)).toBe("M  a\nA  new\n");
    expect(await publish(cwd, merge)).toMatchObject({ kind: "merged" });
    expect([status(cwd), head(cwd)]).toEqual(["", merge.commit]);
    expect(await publish(cwd, merge)).toMatchObject({ kind: "merged" });
    write(cwd, { a: "a 3\n" });
    commit(cwd, "goes on");
    expect(await publish(cwd, merge)).toMatchObject({ kind: "merged" });
  });

  test("the person's commit at this very moment wins, and its files do not show the merge", async () => {
    const cwd = makeRepository();
    await story(cwd, { a: "a 2\n", new: "1\n" });
    const merge = await prepared(cwd);
    const theirs = git(cwd, "commit-tree", `${merge.before}^{tree}`, "-p", merge.before, "-m", "mine").trim();
    const bin = `${cwd}.bin`;
    mkdirSync(bin);
    const script = `#!/bin/sh
PATH="\${PATH#*:}"
case " $* " in *" update-ref -m "*) git update-ref refs/heads/main ${theirs} ;; esac
exec git "$@"
`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    const env = { ...OPTIONS.env, PATH: `${bin}:${OPTIONS.env.PATH}` };
    expect(await publishMerge(cwd, merge, { env })).toEqual({ kind: "target moved", to: theirs });
    expect([head(cwd), status(cwd), ...read(cwd, "a", "new")]).toEqual([theirs, "", "a 1\n", null]);
  });
});
