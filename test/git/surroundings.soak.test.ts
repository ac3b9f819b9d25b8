/** B4: checkpoints in all the states in which a person may have left a repository. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import {
  checkpoints,
  commit,
  ENV,
  filesOf,
  git,
  LOOP,
  makeFolder,
  makeRepository,
  personsState,
  read,
  saved,
  write,
} from "./fixtures.ts";

test("B4 no commit yet, and names that are no text", async () => {
  const cwd = makeFolder();
  git(cwd, "init", "-q");
  writeFileSync(Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from([0x66, 0xff])]), "odd\n");
  const before = git(cwd, "status", "--porcelain", "--branch");
  expect(filesOf(cwd, await saved(cwd))).toHaveLength(1);
  expect(git(cwd, "status", "--porcelain", "--branch")).toBe(before);
  expect(existsSync(join(cwd, ".git", "index"))).toBe(false);
});

test.each<[string, (cwd: string) => void]>([
  ["a detached HEAD", (cwd) => git(cwd, "checkout", "-q", "--detach")],
  ["a merge with conflicts", (cwd) => conflict(cwd, "merge")],
  ["a rebase with conflicts", (cwd) => conflict(cwd, "rebase")],
  ["a stash", (cwd) => stash(cwd)],
  ["a locked index", (cwd) => write(cwd, { ".git/index.lock": "" })],
  ["an intent to add", (cwd) => addIntent(cwd)],
])("B4 with %s: saved and restored, and all of it stays as it is", async (_, prepare) => {
  const cwd = makeRepository();
  prepare(cwd);
  const before = personsState(cwd);
  const first = await saved(cwd);
  const [a = null] = read(cwd, "a");
  write(cwd, { a: "agent\n", more: "m\n" });
  await saved(cwd);
  expect(await checkpoints(cwd).restore(LOOP, first)).toMatchObject({
    kind: "restored",
    files: ["a", "more"],
  });
  expect(read(cwd, "a", "more")).toEqual([a, null]);
  expect(personsState(cwd)).toEqual(before);
});

test("B4 a linked worktree has its own index, and its refs are there for all", async () => {
  const main = makeRepository();
  const cwd = join(dirname(main), "linked");
  git(main, "worktree", "add", "-q", cwd);
  write(cwd, { a: "linked\n" });
  const before = [personsState(cwd), personsState(main)];
  const made = await saved(cwd);
  expect(git(main, "show", `${made}:a`)).toBe("linked\n");
  expect([personsState(cwd), personsState(main)]).toEqual(before);
});

test("B4 a repository with SHA-256", async () => {
  const cwd = makeRepository("--object-format=sha256");
  const first = await saved(cwd);
  write(cwd, { a: "a 2\n" });
  expect(await saved(cwd)).toMatch(/^[0-9a-f]{64}$/);
  expect(await checkpoints(cwd).restore(LOOP, first)).toMatchObject({ kind: "restored", files: ["a"] });
});

test("B4 submodules are kept by their commit; a repository without one is left out", async () => {
  const module = makeRepository();
  const cwd = makeRepository();
  git(cwd, "submodule", "--quiet", "add", module, "module");
  commit(cwd, "module");
  write(cwd, { "module/a": "inside\n", "fresh/x": "x\n", new: "n\n" });
  git(join(cwd, "fresh"), "init", "-q");
  const made = await saved(cwd);
  expect(filesOf(cwd, made)).toEqual([".gitignore", ".gitmodules", "a", "b", "module", "new"]);
  expect(read(cwd, "module/a", "fresh/x")).toEqual(["inside\n", "x\n"]);
});

test("B4 a sparse checkout: files that are not here are not deleted", async () => {
  const cwd = makeRepository();
  write(cwd, { "in/x": "x\n", "out/y": "y\n" });
  commit(cwd, "more");
  git(cwd, "sparse-checkout", "set", "in");
  write(cwd, { "in/x": "x 2\n", "out/new": "n\n" });
  const made = await saved(cwd);
  expect(filesOf(cwd, made)).toEqual([".gitignore", "a", "b", "in/x", "out/new", "out/y"]);
  expect(git(cwd, "show", `${made}:in/x`)).toBe("x 2\n");
});

test("B4 started from a hook of git's: its variables do not leak in", async () => {
  const [cwd, other] = [makeRepository(), makeRepository()];
  const before = [personsState(cwd), personsState(other)];
  const env = {
    ...ENV,
    GIT_DIR: join(other, ".git"),
    GIT_WORK_TREE: other,
    GIT_INDEX_FILE: join(other, ".git", "index"),
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.bare",
    GIT_CONFIG_VALUE_0: "true",
  };
  write(cwd, { a: "a 2\n" });
  expect(git(cwd, "show", `${await saved(cwd, "x", { env })}:a`)).toBe("a 2\n");
  write(cwd, { a: "a 1\n" });
  expect([personsState(cwd), personsState(other)]).toEqual(before);
});

test("B4 H2 neither hooks nor programs of the repository's configuration run; nothing is signed", async () => {
  const cwd = makeRepository();
  const ran = join(dirname(cwd), "ran");
  const script = join(cwd, ".git", "evil");
  writeFileSync(script, `#!/bin/sh\necho "$0" >> '${ran.replaceAll("'", "'\\''")}'\ncat\n`, {
    mode: 0o755,
  });
  mkdirSync(join(cwd, ".git", "hooks"), { recursive: true });
  for (const hook of ["post-index-change", "reference-transaction", "post-checkout", "pre-commit"])
    symlinkSync(script, join(cwd, ".git", "hooks", hook));
  const quoted = `'${script.replaceAll("'", "'\\''")}'`;
  for (const key of [
    "filter.x.clean",
    "filter.x.smudge",
    "filter.y.process",
    "core.fsmonitor",
    "gpg.program",
  ])
    git(cwd, "config", key, quoted);
  for (const key of ["filter.x.required", "filter.y.required", "commit.gpgSign"])
    git(cwd, "config", key, "true");
  write(cwd, { ".gitattributes": "a filter=x\nb filter=y\n", a: "a 2\n", b: "b 2\n" });
  const first = await saved(cwd);
  write(cwd, { a: "a 3\n", b: "b 3\n" });
  await saved(cwd);
  expect(await checkpoints(cwd).restore(LOOP, first)).toMatchObject({ kind: "restored" });
  expect(read(cwd, "a", "b")).toEqual(["a 2\n", "b 2\n"]);
  expect(existsSync(ran)).toBe(false);
  expect(git(cwd, "cat-file", "commit", first)).not.toContain("gpgsig");
});

test("B4 filters of the person's own configuration run, both ways", async () => {
  const cwd = makeRepository();
  const config = join(dirname(cwd), "gitconfig");
  writeFileSync(config, '[filter "case"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n');
  const env = { ...ENV, GIT_CONFIG_GLOBAL: config };
  write(cwd, { ".gitattributes": "a filter=case\n", a: "words\n" });
  const first = await saved(cwd, "x", { env });
  expect(git(cwd, "show", `${first}:a`)).toBe("WORDS\n");
  write(cwd, { a: "other\n" });
  expect(await checkpoints(cwd, { env }).restore(LOOP, first)).toMatchObject({ kind: "restored" });
  expect(read(cwd, "a")).toEqual(["words\n"]);
});

test("B4 H2 what git lfs install --local writes runs; the same name with another program does not", async () => {
  const cwd = makeRepository();
  const bin = join(dirname(cwd), "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "git-lfs"), "#!/bin/sh\ntr a-z A-Z\n", { mode: 0o755 });
  const env = { ...ENV, PATH: `${bin}:${ENV.PATH}` };
  git(cwd, "config", "filter.lfs.clean", "git-lfs clean -- %f");
  write(cwd, { ".gitattributes": "a filter=lfs\n", a: "words\n" });
  expect(git(cwd, "show", `${await saved(cwd, "x", { env })}:a`)).toBe("WORDS\n");
  git(cwd, "config", "filter.lfs.clean", "git-lfs clean -- %f; touch ran");
  write(cwd, { a: "other words\n" });
  expect(git(cwd, "show", `${await saved(cwd, "x", { env })}:a`)).toBe("other words\n");
  expect(existsSync(join(cwd, "ran"))).toBe(false);
});

function conflict(cwd: string, way: "merge" | "rebase"): void {
  git(cwd, "checkout", "-q", "-b", "side");
  write(cwd, { b: "side\n" });
  commit(cwd, "side");
  git(cwd, "checkout", "-q", "main");
  write(cwd, { b: "main\n" });
  commit(cwd, "main");
  expect(() => git(cwd, way, "side")).toThrow();
}

function stash(cwd: string): void {
  write(cwd, { b: "stashed\n" });
  git(cwd, "stash", "-q");
}

function addIntent(cwd: string): void {
  write(cwd, { intended: "x\n" });
  git(cwd, "add", "-N", "intended");
}
