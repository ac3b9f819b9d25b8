/** B4: the way back, with the real git. Nothing is lost by it, and nothing outside of the project is touched. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LoopId } from "../../../src/core/loop.ts";
import { hashTree } from "../../support/cli.ts";
import {
  checkpoints,
  commit,
  git,
  LOOP,
  makeRepository,
  personsState,
  read,
  saved,
  write,
} from "../fixtures.ts";

const restore = (cwd: string, to: string) => checkpoints(cwd).restore(LOOP, to);

/** Restores, which must work; the files it names and the way back. */
async function restored(cwd: string, to: string): Promise<{ files: readonly string[]; undo: string }> {
  const result = await restore(cwd, to);
  if (result.kind === "refused") throw new Error(result.reason);
  return { files: result.files, undo: result.undo ?? "" };
}

async function expectRefused(cwd: string, to: string, words: RegExp): Promise<void> {
  const before = hashFiles(cwd);
  expect(await restore(cwd, to)).toEqual({ kind: "refused", reason: expect.stringMatching(words) });
  expect(hashFiles(cwd)).toBe(before);
}

/** The work tree without the git folder. */
function hashFiles(cwd: string): string {
  const moved = join(dirname(cwd), "git folder");
  return withMoved(join(cwd, ".git"), moved, () => hashTree(cwd));
}

function withMoved<T>(from: string, to: string, work: () => T): T {
  renameSync(from, to);
  try {
    return work();
  } finally {
    renameSync(to, from);
  }
}

describe("restore", () => {
  test("B4 puts back what was changed and deleted, removes what is new, and there is a way back", async () => {
    const cwd = makeRepository();
    write(cwd, { untracked: "u 1\n", ignored: "i 1\n", ".loop/journal.jsonl": "j 1\n" });
    const first = await saved(cwd, "start");
    write(cwd, { a: "a 2\n", untracked: "u 2\n", "new dir/new": "n\n" });
    write(cwd, { ignored: "i 2\n", "build/out": "o\n", ".loop/journal.jsonl": "j 2\n", ".loop/more": "m\n" });
    rmSync(join(cwd, "b"));
    const late = ["a", "b", "new dir/new", "untracked"];
    const before = personsState(cwd);
    const { files, undo } = await restored(cwd, first);
    expect(files).toEqual(late);
    expect(read(cwd, ...late)).toEqual(["a 1\n", "b 1\n", null, "u 1\n"]);
    expect(existsSync(join(cwd, "new dir"))).toBe(false);
    const kept = ["ignored", "build/out", ".loop/journal.jsonl", ".loop/more"];
    expect(read(cwd, ...kept)).toEqual(["i 2\n", "o\n", "j 2\n", "m\n"]);
    expect(personsState(cwd)).toMatchObject({ ...before, status: expect.any(String) });
    expect((await checkpoints(cwd).list(LOOP)).map(({ label }) => label)).toEqual([
      "start",
      "before rollback",
    ]);
    expect((await restored(cwd, undo)).files).toEqual(late);
    expect(read(cwd, ...late)).toEqual(["a 2\n", null, "n\n", "u 2\n"]);
    expect(personsState(cwd)).toEqual(before);
  });

  test("B4 a commit that is not a checkpoint of this loop is refused", async () => {
    const cwd = makeRepository();
    const first = await saved(cwd);
    const head = git(cwd, "rev-parse", "HEAD").trim();
    for (const wrong of [head, first.slice(0, 10), "HEAD", "--help", ""])
      await expectRefused(cwd, wrong, /is not a checkpoint of abcd1234\.$/);
    expect(await checkpoints(cwd).restore("ffff0000" as LoopId, first)).toMatchObject({ kind: "refused" });
  });

  test("B4 when nothing changed nothing is written, and the way back is the last checkpoint", async () => {
    const cwd = makeRepository();
    const first = await saved(cwd);
    expect(await restored(cwd, first)).toEqual({ files: [], undo: first });
    expect(await checkpoints(cwd).list(LOOP)).toHaveLength(1);
  });

  test("B4 commits that were made since stay: only files go back", async () => {
    const cwd = makeRepository();
    const first = await saved(cwd);
    write(cwd, { a: "a 2\n", ".loop/config.json": "{}" });
    commit(cwd, "the agent's");
    const before = personsState(cwd);
    expect((await restored(cwd, first)).files).toEqual(["a"]);
    expect(read(cwd, "a", ".loop/config.json")).toEqual(["a 1\n", "{}"]);
    expect(personsState(cwd)).toMatchObject({ ...before, status: expect.stringContaining(" a\n") });
  });

  test("B4 H4 of a subfolder: no file outside of it is touched", async () => {
    const root = makeRepository();
    write(root, { "part/x": "x 1\n", "part 2/y": "y 1\n" });
    commit(root, "parts");
    const cwd = join(root, "part");
    const first = await saved(cwd);
    write(root, { a: "a 2\n", "part/x": "x 2\n", "part 2/y": "y 2\n", "part/new": "n\n", new: "n\n" });
    commit(root, "all of it");
    rmSync(join(root, "b"));
    expect((await restored(cwd, first)).files).toEqual(["new", "x"]);
    expect(read(root, "part/x", "part/new")).toEqual(["x 1\n", null]);
    expect(read(root, "a", "b", "part 2/y", "new")).toEqual(["a 2\n", null, "y 2\n", "n\n"]);
  });

  test("B4 executable bits, links and names that look like patterns come back", async () => {
    const cwd = makeRepository();
    chmodSync(join(cwd, "a"), 0o755);
    symlinkSync("a", join(cwd, "link"));
    write(cwd, { "*": "star\n", ":(top)b": "magic\n", "new\nline": "n\n" });
    const first = await saved(cwd);
    chmodSync(join(cwd, "a"), 0o644);
    for (const name of ["link", "*", ":(top)b", "new\nline"]) rmSync(join(cwd, name));
    write(cwd, { link: "a file now\n", b: "b 2\n" });
    const second = await saved(cwd);
    expect((await restored(cwd, first)).files).toHaveLength(6);
    expect(lstatSync(join(cwd, "a")).mode & 0o111).toBe(0o111);
    expect(readlinkSync(join(cwd, "link"))).toBe("a");
    expect(read(cwd, "*", ":(top)b", "new\nline", "b")).toEqual(["star\n", "magic\n", "n\n", "b 1\n"]);
    await restored(cwd, second);
    expect(lstatSync(join(cwd, "a")).mode & 0o111).toBe(0);
    expect(read(cwd, "link", "*")).toEqual(["a file now\n", null]);
  });

  test("B4 H4 never writes through a link out of the project", async () => {
    const cwd = makeRepository();
    const outside = join(dirname(cwd), "outside");
    mkdirSync(outside);
    write(outside, { x: "theirs\n", "y/z": "theirs\n" });
    write(cwd, { "dir/x": "mine\n", "dir/y": "mine\n" });
    const first = await saved(cwd);
    rmSync(join(cwd, "dir"), { recursive: true });
    symlinkSync(outside, join(cwd, "dir"));
    rmSync(join(cwd, "a"));
    symlinkSync(join(outside, "x"), join(cwd, "a"));
    const { undo } = await restored(cwd, first);
    expect(read(cwd, "dir/x", "dir/y", "a")).toEqual(["mine\n", "mine\n", "a 1\n"]);
    expect(read(outside, "x", "y/z")).toEqual(["theirs\n", "theirs\n"]);
    await restored(cwd, undo);
    expect(readlinkSync(join(cwd, "dir"))).toBe(outside);
    expect(read(outside, "x")).toEqual(["theirs\n"]);
  });

  test("B4 a file that somebody has open is replaced, not written over", async () => {
    const cwd = makeRepository();
    const first = await saved(cwd);
    write(cwd, { a: "a 2, which is longer\n" });
    const fd = openSync(join(cwd, "a"), "r");
    await restored(cwd, first);
    expect(readFileSync(fd, "utf8")).toBe("a 2, which is longer\n");
    closeSync(fd);
    expect(read(cwd, "a")).toEqual(["a 1\n"]);
  });

  test("B4 a file that is ignored by now goes back too, and its content is in the way back", async () => {
    const cwd = makeRepository();
    write(cwd, { log: "1\n", "data/x": "x\n" });
    const first = await saved(cwd);
    rmSync(join(cwd, "data"), { recursive: true });
    write(cwd, { log: "2\n", data: "a file\n", ".gitignore": "log\ndata\nignored\nbuild/\n" });
    const { files, undo } = await restored(cwd, first);
    expect(files).toEqual([".gitignore", "data", "data/x", "log"]);
    expect(read(cwd, "log", "data/x")).toEqual(["1\n", "x\n"]);
    await restored(cwd, undo);
    expect(read(cwd, "log", "data")).toEqual(["2\n", "a file\n"]);
  });
});

describe("what would be lost refuses the whole", () => {
  test("B4 ignored files in a folder that has to become a file", async () => {
    const cwd = makeRepository();
    write(cwd, { thing: "a file\n" });
    const first = await saved(cwd);
    rmSync(join(cwd, "thing"));
    write(cwd, { a: "a 2\n", "thing/new": "n\n", "thing/build/out": "o\n" });
    await expectRefused(cwd, first, /^Nothing was changed: thing\/build\/out is not in any checkpoint/);
    rmSync(join(cwd, "thing/build"), { recursive: true });
    await restored(cwd, first);
    expect(read(cwd, "thing")).toEqual(["a file\n"]);
  });

  test("B4 a repository that the agent made of a folder; one that is simply new stays", async () => {
    const cwd = makeRepository();
    write(cwd, { "dir/x": "x\n" });
    const first = await saved(cwd);
    for (const name of ["dir", "other"]) {
      write(cwd, { [`${name}/y`]: "y\n" });
      git(join(cwd, name), "init", "-q");
      commit(join(cwd, name), "inner");
    }
    await expectRefused(cwd, first, /: dir is now a separate git repository\.$/);
    rmSync(join(cwd, "dir", ".git"), { recursive: true });
    expect((await restored(cwd, first)).files).toEqual(["dir/y"]);
    expect(read(cwd, "other/y")).toEqual(["y\n"]);
  });

  test("B4 something that git cannot take in", async () => {
    const cwd = makeRepository();
    write(cwd, { a: "a 2\n" });
    const first = await saved(cwd);
    rmSync(join(cwd, "a"));
    execFileSync("mkfifo", ["a"], { cwd });
    write(cwd, { b: "b 2\n" });
    expect(git(cwd, "show", `${await saved(cwd)}:b`)).toBe("b 2\n");
    await expectRefused(cwd, first, /^Nothing was changed: a could not be saved before the rollback\.$/);
  });
});

test("B4 any states of the files: there and back again, with nothing but ignored files left over", async () => {
  const name = fc.constantFrom("a", "b", "d/x", "d/y", "d", "e/f/g", "e", "link");
  const content = fc.oneof(fc.constantFrom("1\n", "2\n", ""), fc.constant({ link: "a" }));
  const state = fc.array(fc.tuple(name, content), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(state, state, async (one, other) => {
      const cwd = makeRepository();
      apply(cwd, one);
      const [first, files] = [await saved(cwd), hashFiles(cwd)];
      apply(cwd, other);
      const late = hashFiles(cwd);
      const { undo } = await restored(cwd, first);
      expect(hashFiles(cwd)).toBe(files);
      await restored(cwd, undo);
      expect(hashFiles(cwd)).toBe(late);
    }),
    { numRuns: 8 },
  );
});

/** Makes these the only files of the project. */
function apply(cwd: string, state: readonly (readonly [string, string | { link: string }])[]): void {
  for (const name of ["a", "b", "d", "e", "link"]) rmSync(join(cwd, name), { recursive: true, force: true });
  for (const [name, content] of state) {
    const path = join(cwd, name);
    if (isBlocked(cwd, name) || lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    mkdirSync(dirname(path), { recursive: true });
    if (typeof content === "string") writeFileSync(path, content);
    else symlinkSync(content.link, path);
  }
}

/** Is there something other than a folder on the way to it? */
function isBlocked(cwd: string, name: string): boolean {
  const parts = name.split("/").slice(0, -1);
  // the first that is no folder ends the search: beyond it nothing can be looked at
  return parts.some((_, at) => {
    const stat = lstatSync(join(cwd, ...parts.slice(0, at + 1)), { throwIfNoEntry: false });
    return stat !== undefined && !stat.isDirectory();
  });
}
