/**
 * J6: every way in which files of a repository make git start a program, planted in one repository, and every operation
 * of the engine that uses git. A vector counts only if the person's own git starts its program.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createWorkspace } from "../../src/checks/files/workspace.ts";
import { createProtection } from "../../src/checks/protection/protection.ts";
import { noteMoment, workSince } from "../../src/git/diff.ts";
import { prepareMerge, publishMerge } from "../../src/git/merge/merge-queue.ts";
import { commitWork } from "../../src/git/worktrees/worktree-commit.ts";
import { makeWorktree } from "../../src/git/worktrees/worktree-making.ts";
import { cleanWorktrees, listWorktrees, releaseWorktree } from "../../src/git/worktrees/worktrees.ts";
import { rulesFor } from "../checks/protection/protected-project.ts";
import { checkpoints, commit, ENV, git, LOOP, makeRepository, read, saved, write } from "./fixtures.ts";
import { evil, quoted, ran, VECTORS } from "./vectors.ts";

afterEach(() => vi.unstubAllEnvs());

/** Hooks, monitors and the like may fail: only what starts counts. */
function typeGit(cwd: string, args: readonly string[]): void {
  const input = "protocol=https\nhost=example.org\n\n";
  const words = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", ...args];
  try {
    execFileSync("git", words, { cwd, env: ENV, input, stdio: ["pipe", "ignore", "ignore"] });
  } catch {
    // the planted program does not do the work of a real one
  }
}

test.each(Object.entries(VECTORS))(
  "J6 %s: the person's own git starts the planted program",
  (name, { plant, typed }) => {
    const cwd = makeRepository();
    write(cwd, { a: "a 2\n" });
    plant(cwd);
    for (const step of typed) typeof step === "function" ? step(cwd) : typeGit(cwd, step);
    expect(ran(cwd)).toEqual([name]);
  },
);

/** Variables and a PATH that lead into the repository, as a tool of the repository could set them. */
function hostileEnv(cwd: string): NodeJS.ProcessEnv {
  const bin = join(cwd, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["git", "sh", "grep", "git-lfs"]) {
    symlinkSync(evil(cwd, `${name} of the project`), join(bin, name));
    // an empty entry of the PATH is the current folder
    symlinkSync(evil(cwd, `${name} of the current folder`), join(cwd, name));
  }
  const program = quoted(evil(cwd, "a variable"));
  const named = ["GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS"];
  return {
    ...ENV,
    PATH: `${bin}::.:${ENV.PATH}`,
    ...Object.fromEntries(named.map((name) => [name, program])),
    GIT_EXEC_PATH: bin,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.fsmonitor",
    GIT_CONFIG_VALUE_0: program,
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${program.replaceAll("'", "'\\''")}'`,
  };
}

const NESTED = ["nested-filter", "nested-monitor"];

/** Plants all; returns the environment in which the engine runs. */
function plantAll(cwd: string, except: readonly string[] = []): NodeJS.ProcessEnv {
  for (const [name, { plant }] of Object.entries(VECTORS)) if (!except.includes(name)) plant(cwd);
  write(cwd, { ".git/info/exclude": "/.evil\n/node_modules\n/git\n/sh\n/grep\n/git-lfs\n" });
  rmSync(join(dirname(cwd), "ran"), { force: true });
  const env = hostileEnv(cwd);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return env;
}

/** Each operation checks its own result, so that none is skipped in silence. */
const OPERATIONS: Readonly<Record<string, (cwd: string) => Promise<void>>> = {
  async "checkpoints: save, restore, list, remove"(cwd) {
    const env = plantAll(cwd);
    const first = await saved(cwd, "one", { env });
    write(cwd, { a: "a 3\n", "one.txt": "2\n" });
    await saved(cwd, "two", { env });
    const all = checkpoints(cwd, { env });
    expect(await all.restore(LOOP, first)).toMatchObject({ kind: "restored", files: ["a", "one.txt"] });
    expect(read(cwd, "a", "one.txt")).toEqual(["a 1\n", "1\n"]);
    expect(await all.list(LOOP)).toHaveLength(2);
    expect(await all.remove(LOOP)).toBe(true);
  },
  async "checkpoints: quick saves, with settings that change in between"(cwd) {
    const env = plantAll(cwd, NESTED);
    const all = checkpoints(cwd, { env });
    expect(await all.save(LOOP, "start")).toMatchObject({ kind: "saved" });
    for (let step = 1; step <= 3; step++) {
      write(cwd, { a: `a ${step} more\n`, "one.txt": `${step}\n`, "include.path.txt": `${step}\n` });
      expect(await all.begin(LOOP, "x", null)).toEqual({ kind: "begun", step });
      // an included file that becomes dangerous after the settings were read
      const included = join(cwd, ".evil/include.path.config");
      git(cwd, "config", "--file", included, "filter.late.clean", quoted(evil(cwd, "late")));
      write(cwd, { ".gitattributes": "* filter=late\n" });
    }
    await all.settle();
    expect(await all.list(LOOP)).toHaveLength(4);
  },
  async "checkpoints: imports"(cwd) {
    const all = checkpoints(cwd);
    await all.save(LOOP, "start");
    const before = await createWorkspace(cwd).snapshot();
    const env = plantAll(cwd);
    const hostile = checkpoints(cwd, { env });
    await hostile.save(LOOP, "planted");
    write(cwd, { a: "a 3\n" });
    const after = await createWorkspace(cwd).snapshot();
    expect(await hostile.begin(LOOP, "x", { before, after })).toMatchObject({ kind: "begun" });
    await hostile.settle();
    expect(after.isGit).toBe(true);
  },
  async diffs(cwd) {
    const env = plantAll(cwd);
    const noted = await noteMoment(cwd, { env });
    if (noted.kind === "none") throw new Error(noted.reason);
    write(cwd, { a: "a 3\n", b: "b 3\n", "wt.txt": "x\n" });
    const found = await workSince(cwd, noted.moment, { env });
    if (found.kind === "none") throw new Error(found.reason);
    expect(found.work.files.map(({ path }) => path)).toEqual(["a", "b", "wt.txt"]);
  },
  async "worktrees and the merge queue"(cwd) {
    const lines = Array.from({ length: 9 }, (_, at) => `line ${at}\n`);
    write(cwd, { b: lines.join("") });
    commit(cwd, "lines");
    const env = plantAll(cwd, ["diff.command"]);
    const branches: string[] = [];
    for (const [story, at] of [
      ["US-001", 0],
      ["US-002", 8],
    ] as const) {
      const made = await makeWorktree(cwd, { story, branchPrefix: "loop/", target: "main", max: 9 }, { env });
      if (made.kind === "none") throw new Error(made.reason);
      const { path, branch, id } = made.worktree;
      write(path, {
        b: lines.with(at, `${story}\n`).join(""),
        ".gitattributes": read(cwd, ".gitattributes")[0] ?? "",
      });
      expect(await commitWork(path, { branch, message: story }, { env })).toMatchObject({
        kind: "committed",
      });
      await releaseWorktree(cwd, id, { env });
      branches.push(branch);
    }
    rmSync(join(cwd, ".gitattributes"));
    for (const [at, branch] of branches.entries()) {
      const request = { story: `US-00${at + 1}`, branch, target: "main", message: "m" };
      const result = await prepareMerge(cwd, request, { env });
      if (result.kind !== "prepared") throw new Error(JSON.stringify(result));
      expect(await publishMerge(cwd, result.merge, { env })).toMatchObject({
        kind: "merged",
        checkout: expect.any(String),
      });
    }
    expect(read(cwd, "b")).toEqual([lines.with(0, "US-001\n").with(8, "US-002\n").join("")]);
    expect((await listWorktrees(cwd, { env })).map(({ state }) => state)).toEqual(["merged", "merged"]);
    expect((await cleanWorktrees(cwd, { isDryRun: false }, { env })).removed).toHaveLength(2);
  },
  async "the list of files, and protection"(cwd) {
    plantAll(cwd);
    const { isGit, files } = await createWorkspace(cwd).snapshot();
    expect([isGit, files.has("one.txt")]).toEqual([true, true]);
    const rules = rulesFor(["git diff --exit-code", "npm test"]);
    const protection = createProtection(cwd);
    const { digest } = await protection.record(LOOP, rules, await protection.stamps(rules));
    expect(await protection.compare(LOOP, digest, rules)).toMatchObject({ kind: "known" });
  },
};

test.each(Object.entries(OPERATIONS))("J6 %s: no planted program starts", async (_, operate) => {
  const cwd = makeRepository();
  await operate(cwd);
  expect(ran(cwd)).toEqual([]);
});

/** A program of the person's outside the project: prints what git tells it of a setting. */
function personsFilter(cwd: string, name: string, setting: string): NodeJS.ProcessEnv {
  const bin = join(dirname(cwd), "bin");
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\ncat >/dev/null\ngit config --get ${setting} || echo none\n`;
  writeFileSync(join(bin, name), script, { mode: 0o755 });
  return { ...ENV, PATH: `${bin}:${ENV.PATH}` };
}

describe("J6 filters of the person's", () => {
  test("do not see the programs of the repository's settings: git-lfs starts its extensions", async () => {
    const cwd = makeRepository();
    const env = personsFilter(cwd, "git-lfs", "lfs.extension.x.clean");
    git(cwd, "config", "filter.lfs.clean", "git-lfs clean -- %f");
    git(cwd, "config", "lfs.extension.x.clean", quoted(evil(cwd, "extension")));
    write(cwd, { ".gitattributes": "a filter=lfs\n", a: "large\n" });
    expect(git(cwd, "show", `${await saved(cwd, "x", { env })}:a`)).toBe("none\n");
  });

  test("see where the repository's remote is, so that git-lfs can fetch", async () => {
    const cwd = makeRepository();
    const env = personsFilter(cwd, "git-lfs", "remote.origin.url");
    git(cwd, "config", "filter.lfs.clean", "git-lfs clean -- %f");
    git(cwd, "config", "remote.origin.url", "https://example.org/é.git");
    write(cwd, { ".gitattributes": "a filter=lfs\n", a: "large\n" });
    expect(git(cwd, "show", `${await saved(cwd, "x", { env })}:a`)).toBe("https://example.org/é.git\n");
  });

  test.each([
    ["its own file is in the project", (cwd: string) => ({ GIT_CONFIG_GLOBAL: join(cwd, "mine") })],
    [
      "it includes a file in the project, which does not exist yet",
      (cwd: string) => {
        const global = join(dirname(cwd), "gitconfig");
        git(cwd, "config", "--file", global, "include.path", join(cwd, "mine"));
        git(cwd, "config", "--file", global, "filter.upper.clean", "tr a-z A-Z");
        return { GIT_CONFIG_GLOBAL: global };
      },
    ],
  ])("a person's configuration whose programs an agent can write does not count: %s", async (_, settings) => {
    const cwd = makeRepository();
    const env = { ...ENV, ...settings(cwd) };
    const all = checkpoints(cwd, { env });
    expect(await all.save(LOOP, "start")).toMatchObject({ kind: "saved" });
    git(cwd, "config", "--file", join(cwd, "mine"), "filter.x.clean", quoted(evil(cwd, "mine")));
    write(cwd, { ".gitattributes": "a filter=x\nb filter=upper\n", a: "a 2\n", b: "b 2\n" });
    expect(await all.begin(LOOP, "x", null)).toEqual({ kind: "begun", step: 1 });
    await all.settle();
    const [, { commit: made = "" } = {}] = await all.list(LOOP);
    expect(ran(cwd)).toEqual([]);
    // a filter from a file outside the project still runs
    const isUpper = env.GIT_CONFIG_GLOBAL.endsWith("gitconfig");
    expect(git(cwd, "show", `${made}:a`, `${made}:b`)).toBe(`a 2\n${isUpper ? "B 2" : "b 2"}\n`);
  });
});

test("J6 a work tree that the configuration moves elsewhere is refused", async () => {
  const cwd = makeRepository();
  git(cwd, "config", "core.worktree", dirname(cwd));
  expect(await checkpoints(cwd).save(LOOP, "x")).toEqual({
    kind: "none",
    reason:
      "No checkpoint was saved, so you cannot roll back to this step: the repository's configuration moves its work tree to another folder.",
  });
});

test("J6 nested repositories: new commits, removed ones, and files in their place are saved", async () => {
  const cwd = makeRepository();
  for (const name of ["moved", "gone", "file"]) {
    write(cwd, { [`${name}/x`]: "1\n" });
    git(join(cwd, name), "init", "-q");
    commit(join(cwd, name), "inner");
  }
  const first = await saved(cwd);
  write(cwd, { "moved/x": "2\n" });
  commit(join(cwd, "moved"), "inner 2");
  for (const name of ["gone", "file"]) rmSync(join(cwd, name), { recursive: true });
  write(cwd, { file: "plain\n" });
  const second = await saved(cwd);
  const head = git(join(cwd, "moved"), "rev-parse", "HEAD").trim();
  expect(git(cwd, "diff-tree", "-r", "--no-renames", "--name-status", first, second)).toBe(
    "T\tfile\nD\tgone\nM\tmoved\n",
  );
  expect(git(cwd, "rev-parse", `${second}:moved`).trim()).toBe(head);
});

test("J6 git's folder of the person's is private, goes with its repository, and is not needed", async () => {
  const home = mkdtempSync(join(tmpdir(), "loop-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { ...ENV, XDG_CONFIG_HOME: undefined, HOME: home };
  const folder = join(home, ".config/loopwright/git");
  const cwd = makeRepository();
  await saved(cwd, "x", { env });
  const [first = "", ...others] = readdirSync(folder);
  expect([others, statSync(join(folder, first)).mode & 0o777]).toEqual([[], 0o700]);
  rmSync(cwd, { recursive: true });
  await saved(makeRepository(), "x", { env });
  expect(readdirSync(folder)).toHaveLength(1);
  expect(readdirSync(folder)).not.toContain(first);
  writeFileSync(join(home, "none"), "");
  await saved(makeRepository(), "x", { env: { ...env, XDG_CONFIG_HOME: join(home, "none/below") } });
});
