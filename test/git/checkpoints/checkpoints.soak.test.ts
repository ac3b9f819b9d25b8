/** B4: checkpoints with the real git, and that they never disturb what is the person's. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { createWorkspace } from "../../../src/checks/files/workspace.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import { until } from "../../support/until.ts";
import {
  checkpoints,
  commit,
  ENV,
  filesOf,
  git,
  LOOP,
  makeFolder,
  makeRepository,
  NOW,
  personsState,
  read,
  saved,
  write,
} from "../fixtures.ts";

describe("save", () => {
  test("B4 keeps changed, new, deleted and staged files; ignored ones and .loop are left out", async () => {
    const cwd = makeRepository();
    write(cwd, {
      a: "a 2\n",
      "new file": "n\n",
      "dir/x y": "x\n",
      ignored: "i\n",
      ".loop/journal.jsonl": "j\n",
    });
    rmSync(join(cwd, "b"));
    git(cwd, "add", "new file");
    const before = personsState(cwd);
    const made = await saved(cwd);
    expect(filesOf(cwd, made)).toEqual([".gitignore", "a", "dir/x y", "new file"]);
    expect(git(cwd, "show", `${made}:a`)).toBe("a 2\n");
    expect(git(cwd, "rev-parse", `${made}^`)).toBe(git(cwd, "rev-parse", "HEAD"));
    expect(personsState(cwd)).toEqual(before);
  });

  test("B4 the same files twice are one commit; the next has it as its parent; all are listed, oldest first", async () => {
    const cwd = makeRepository();
    const first = await saved(cwd, "start");
    expect(await saved(cwd, "nothing happened", { now: () => NOW + 60_000 })).toBe(first);
    write(cwd, { a: "a 2\n" });
    const second = await saved(cwd, "  step\n1: é\0 ", { now: () => NOW + 120_000 });
    expect(git(cwd, "rev-parse", `${second}^`).trim()).toBe(first);
    expect(await checkpoints(cwd).list(LOOP)).toEqual([
      { step: 0, commit: first, label: "start", at: NOW },
      { step: 1, commit: second, label: "step 1: é", at: NOW + 120_000 },
    ]);
    expect(await checkpoints(cwd).list("ffff0000" as LoopId)).toEqual([]);
  });

  test("B4 thirty of them, and git gc --prune=now loses none", async () => {
    const cwd = makeRepository();
    for (let n = 1; n <= 30; n++) {
      write(cwd, { a: `version ${n}\n` });
      await saved(cwd, `step ${n}`);
    }
    git(cwd, "reflog", "expire", "--expire=now", "--all");
    git(cwd, "gc", "-q", "--prune=now");
    const list = await checkpoints(cwd).list(LOOP);
    expect(list.map(({ label }) => label)).toEqual(Array.from({ length: 30 }, (_, n) => `step ${n + 1}`));
    for (const [n, { commit: made }] of list.entries())
      expect(git(cwd, "show", `${made}:a`)).toBe(`version ${n + 1}\n`);
  });

  test("B4 remove forgets this loop's and no other's", async () => {
    const cwd = makeRepository();
    await saved(cwd);
    const other = "ffff0000" as LoopId;
    await checkpoints(cwd).save(other, "theirs");
    expect(await checkpoints(cwd).remove(LOOP)).toBe(true);
    expect(await checkpoints(cwd).list(LOOP)).toEqual([]);
    expect(await checkpoints(cwd).list(other)).toHaveLength(1);
    expect(readdirSync(join(cwd, ".git", "loopwright"))).toEqual([`${other}.index`]);
    expect(await checkpoints(cwd).remove(LOOP)).toBe(false);
  });

  test("B4 of a subfolder: the rest of the repository is as in the last commit", async () => {
    const root = makeRepository();
    write(root, { "part/x": "x 1\n", "part/.loop/config.json": "{}", "other/.loop/config.json": "{}" });
    commit(root, "parts");
    write(root, { a: "dirty\n", untracked: "u\n", "part/x": "x 2\n", "part/new": "n\n" });
    write(root, { "part/.loop/config.json": "changed", "part/.loop/more": "m" });
    const made = await saved(join(root, "part"));
    expect(git(root, "diff", "--name-only", "HEAD", made)).toBe("part/new\npart/x\n");
  });

  test("B4 a file that is tracked although it is ignored is kept with its changes", async () => {
    const cwd = makeRepository();
    write(cwd, { ignored: "tracked\n" });
    git(cwd, "add", "-f", "ignored");
    git(cwd, "commit", "-qm", "force");
    write(cwd, { ignored: "changed\n" });
    expect(git(cwd, "show", `${await saved(cwd)}:ignored`)).toBe("changed\n");
  });

  test("B4 many at once, of one loop and of several: each has its place", async () => {
    const cwd = makeRepository();
    write(cwd, { a: "a 2\n" });
    const ids = [LOOP, LOOP, LOOP, "ffff0000" as LoopId];
    const results = await Promise.all(ids.map((id) => checkpoints(cwd).save(id, "at once")));
    expect(results.map(({ kind }) => kind)).toEqual(["saved", "saved", "saved", "saved"]);
    expect(readdirSync(join(cwd, ".git", "loopwright"))).toHaveLength(2);
  });

  test("B4 what did not change since the last one is not read again", async () => {
    const cwd = makeRepository();
    const [config, log] = [join(dirname(cwd), "gitconfig"), join(dirname(cwd), "log")];
    writeFileSync(config, '[filter "log"]\n\tclean = "echo %f >> \\"$LOG\\"; cat"\n');
    write(cwd, { ".gitattributes": "* filter=log\n" });
    commit(cwd, "attributes");
    // older than the index, so that git need not look twice
    for (const name of ["a", "b", ".gitignore", ".gitattributes"]) utimesSync(join(cwd, name), 1e9, 1e9);
    const env = { ...ENV, GIT_CONFIG_GLOBAL: config, LOG: log };
    await saved(cwd, "x", { env });
    const filesRead = () => new Set(read(dirname(cwd), "log")[0]?.trim().split("\n"));
    expect(filesRead()).toEqual(new Set([".gitattributes", ".gitignore", "a", "b"]));
    rmSync(log);
    write(cwd, { a: "a 2\n" });
    await saved(cwd, "x", { env });
    expect(filesRead()).toEqual(new Set(["a"]));
  });

  test("B4 a change to as many bytes in the second in which the last one was saved is seen", async () => {
    const cwd = makeRepository();
    // without the time of the inode, which a test cannot set
    git(cwd, "config", "core.trustctime", "false");
    const touch = (path: string) => utimesSync(join(cwd, path), 1e9, 1e9);
    touch("a");
    await saved(cwd);
    touch(`.git/loopwright/${LOOP}.index`);
    write(cwd, { a: "a 2\n" });
    touch("a");
    expect(git(cwd, "show", `${await saved(cwd)}:a`)).toBe("a 2\n");
  });

  test("B4 a damaged private index costs only time", async () => {
    const cwd = makeRepository();
    await saved(cwd);
    writeFileSync(join(cwd, ".git", "loopwright", `${LOOP}.index`), "rubbish");
    write(cwd, { a: "a 2\n" });
    expect(git(cwd, "show", `${await saved(cwd)}:a`)).toBe("a 2\n");
  });
});

describe("no checkpoint, with the reason", () => {
  const LOST = "No checkpoint was saved, so you cannot roll back to this step: ";
  const none = (words: string) => ({
    kind: "none",
    reason: expect.stringMatching(new RegExp(`^${LOST}.*${words}.*\\.$`)),
  });

  test.each<[string, string, (cwd: string) => void]>([
    ["outside of git", "not in a git repository", () => {}],
    ["in a bare repository", "has no work tree", (cwd) => git(cwd, "init", "-q", "--bare")],
    ["in a damaged repository", "not in a git repository", (cwd) => damage(cwd)],
    ["in a folder that is gone", "folder is missing", (cwd) => rmSync(cwd, { recursive: true })],
  ])("B4 %s", async (_, words, prepare) => {
    const cwd = makeFolder();
    prepare(cwd);
    expect(await checkpoints(cwd).save(LOOP, "x")).toEqual(none(words));
    expect(await checkpoints(cwd).list(LOOP)).toEqual([]);
    expect(await checkpoints(cwd).restore(LOOP, "0".repeat(40))).toMatchObject({ kind: "refused" });
    expect(await checkpoints(cwd).remove(LOOP)).toBe(false);
  });

  test("B4 without git, with an id that is a path, in an ignored folder, through a link", async () => {
    const cwd = makeRepository();
    const env = { ...ENV, PATH: dirname(cwd) };
    expect(await checkpoints(cwd, { env }).save(LOOP, "x")).toEqual(none("git is not on the PATH"));
    expect(await checkpoints(cwd).save("../x" as LoopId, "x")).toEqual(none("not a loop id"));
    write(cwd, { "build/x": "x\n" });
    expect(await checkpoints(join(cwd, "build")).save(LOOP, "x")).toEqual(none("ignored"));
    rmSync(join(cwd, ".git", "loopwright"), { recursive: true });
    symlinkSync(dirname(cwd), join(cwd, ".git", "loopwright"));
    expect(await checkpoints(cwd).save(LOOP, "x")).toEqual(none("is a link that leads out of the project"));
  });

  test.skipIf(process.getuid?.() !== 0)("B4 in a repository of somebody else's", async () => {
    const cwd = makeRepository();
    for (const path of [cwd, join(cwd, ".git")]) chownSync(path, 12_345, 12_345);
    expect(await checkpoints(cwd).save(LOOP, "x")).toEqual(none("dubious ownership"));
  });

  test("B4 a git that hangs is ended, with what it started", async () => {
    const cwd = makeRepository();
    const { env, pids } = wrapGit(cwd, "add");
    const result = await checkpoints(cwd, { env, timeoutMs: 1_000 }).save(LOOP, "x");
    expect(result).toEqual(none("git took longer than 1 s"));
    for (const pid of pids()) await until(() => !isThere(pid), "it is gone");
    expect(await saved(cwd)).toMatch(/^[0-9a-f]{40}$/);
  });
});

test("B4 H1 kill -9 in the middle of a save: the next one works, and the git that was left disturbs nobody", async () => {
  const cwd = makeRepository();
  const program = join(dirname(cwd), "save.mjs");
  const source = new URL("../../../src/git/checkpoints/checkpoints.ts", import.meta.url).pathname;
  await build({
    entryPoints: [source],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  write(cwd, { a: "a 2\n" });
  const before = personsState(cwd);
  const { env, pids } = wrapGit(cwd, "write-tree");
  const script = `const { createCheckpoints } = await import(${JSON.stringify(pathToFileURL(program).href)});
    await createCheckpoints(${JSON.stringify(cwd)}).save("${LOOP}", "cut short");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { env, stdio: "inherit" });
  await until(() => pids().length === 2, "git is in the middle of it");
  child.kill("SIGKILL");
  await until(() => child.signalCode !== null, "it is dead");
  expect(await checkpoints(cwd).list(LOOP)).toEqual([]);
  const made = await saved(cwd);
  expect(git(cwd, "show", `${made}:a`)).toBe("a 2\n");
  for (const pid of pids()) process.kill(pid, "SIGKILL");
  expect(await saved(cwd)).toBe(made);
  expect(personsState(cwd)).toEqual(before);
});

function damage(cwd: string): void {
  git(cwd, "init", "-q");
  writeFileSync(join(cwd, ".git", "HEAD"), "rubbish");
}

/** A git that hangs at one of its commands, with a child; `pids` are the two. */
function wrapGit(cwd: string, command: string): { env: NodeJS.ProcessEnv; pids: () => number[] } {
  const bin = join(dirname(cwd), "bin");
  mkdirSync(bin);
  const script = `#!/bin/sh
for word; do
  if [ "$word" = "${command}" ]; then sleep 60 & echo "$$ $!" > "$0.pids"; wait; exit 1; fi
done
PATH=\${PATH#*:} exec git "$@"
`;
  writeFileSync(join(bin, "git"), script);
  chmodSync(join(bin, "git"), 0o755);
  const pids = () =>
    (read(bin, "git.pids")[0] ?? "")
      .split(/\s+/)
      .map(Number)
      .filter((pid) => pid > 0);
  return { env: { ...ENV, PATH: `${bin}:${ENV.PATH}` }, pids };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(read("/proc", `${pid}/stat`)[0] ?? "");
  } catch {
    return false;
  }
}

describe("begin", () => {
  test("B4 tells as soon as the files may change again, and the checkpoint has them as they were then", async () => {
    const cwd = makeRepository();
    const all = checkpoints(cwd);
    expect(await all.save(LOOP, "before any work")).toMatchObject({ kind: "saved", step: 0 });
    for (const n of [1, 2, 3]) {
      writeFileSync(join(cwd, "a"), `changed ${n}\n`);
      expect(await all.begin(LOOP, `step ${n}`, null)).toEqual({ kind: "begun", step: n });
      writeFileSync(join(cwd, "a"), "the next turn is at work\n");
    }
    await all.settle();
    const list = await all.list(LOOP);
    expect(list.map(({ step, label }) => [step, label])).toEqual([
      [0, "before any work"],
      [1, "step 1"],
      [2, "step 2"],
      [3, "step 3"],
    ]);
    const contents = list.map(({ commit }) => git(cwd, "show", `${commit}:a`));
    expect(contents).toEqual(["a 1\n", "changed 1\n", "changed 2\n", "changed 3\n"]);
  });

  test("a commit, another branch or another configuration in between is noticed", async () => {
    const cwd = makeRepository();
    const all = checkpoints(cwd);
    await all.save(LOOP, "before any work");
    writeFileSync(join(cwd, "a"), "2\n");
    git(cwd, "commit", "-qam", "the agent commits");
    expect(await all.begin(LOOP, "one", null)).toEqual({ kind: "begun", step: 1 });
    git(cwd, "switch", "-qc", "other");
    writeFileSync(join(cwd, "b"), "new\n");
    expect(await all.begin(LOOP, "two", null)).toEqual({ kind: "begun", step: 2 });
    // a filter that an agent planted is not run on the quick way either
    git(cwd, "config", "filter.planted.clean", "touch planted; cat");
    writeFileSync(join(cwd, ".gitattributes"), "* filter=planted\n");
    expect(await all.begin(LOOP, "three", null)).toEqual({ kind: "begun", step: 3 });
    await all.settle();
    expect(existsSync(join(cwd, "planted"))).toBe(false);
    expect((await all.list(LOOP)).map(({ label }) => label)).toEqual([
      "before any work",
      "one",
      "two",
      "three",
    ]);
  });

  test("without git it says what is lost", async () => {
    const all = checkpoints(makeFolder());
    expect(await all.begin(LOOP, "one", null)).toMatchObject({ kind: "none" });
  });
});

describe("begin with what is known of the files", () => {
  async function look(cwd: string) {
    return createWorkspace(cwd).snapshot();
  }

  test("B4 keeps changed, new, deleted, executable files and links, and puts them back", async () => {
    const cwd = makeRepository();
    write(cwd, { "x é/old": "old\n", "file-or-folder": "f\n" });
    const all = checkpoints(cwd);
    await all.save(LOOP, "before any work");
    const before = await look(cwd);
    rmSync(join(cwd, "b"));
    rmSync(join(cwd, "file-or-folder"));
    write(cwd, { a: "a 2\n", "new é": "n\n", "file-or-folder/in": "i\n", ignored: "no\n" });
    writeFileSync(join(cwd, "run"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync("a", join(cwd, "link"));
    const after = await look(cwd);
    const state = personsState(cwd);
    expect(await all.begin(LOOP, "step 1: é", { before, after })).toEqual({ kind: "begun", step: 1 });
    write(cwd, { a: "the next turn is at work\n" });
    await all.settle();
    const [start, made] = await all.list(LOOP);
    expect(made?.label).toBe("step 1: é");
    expect(filesOf(cwd, made?.commit ?? "")).toEqual(
      [".gitignore", "a", "file-or-folder/in", "link", "new é", "run", "x é/old"].sort(),
    );
    expect(git(cwd, "show", `${made?.commit}:a`)).toBe("a 2\n");
    expect(git(cwd, "ls-tree", made?.commit ?? "", "run", "link")).toMatch(/100755.*run|120000.*link/);
    expect(git(cwd, "rev-parse", `${made?.commit}^`).trim()).toBe(start?.commit);
    // the same tree that `git add` would have made
    write(cwd, { a: "a 2\n" });
    expect(personsState(cwd)).toEqual(state);
    const whole = await checkpoints(cwd).save(LOOP, "by git add");
    expect(git(cwd, "rev-parse", `${whole.kind === "saved" ? whole.commit : ""}^{tree}`)).toBe(
      git(cwd, "rev-parse", `${made?.commit}^{tree}`),
    );
    expect(await all.restore(LOOP, start?.commit ?? "")).toMatchObject({ kind: "restored" });
    expect(read(cwd, "a", "b", "new é", "ignored")).toEqual(["a 1\n", "b 1\n", null, "no\n"]);
    git(cwd, "fsck", "--strict");
  });

  test("where git would keep other bytes, git itself is asked", async () => {
    const cwd = makeRepository();
    git(cwd, "config", "core.autocrlf", "input");
    const all = checkpoints(cwd);
    await all.save(LOOP, "before any work");
    const before = await look(cwd);
    write(cwd, { a: "one\r\ntwo\r\n" });
    await all.begin(LOOP, "crlf", { before, after: await look(cwd) });
    await all.settle();
    expect(git(cwd, "show", `${(await all.list(LOOP)).at(-1)?.commit}:a`)).toBe("one\ntwo\n");
  });

  test("a project in a folder of its repository leaves the rest as the last commit has it", async () => {
    const root = makeRepository();
    write(root, { "project/p": "1\n" });
    commit(root, "second");
    const cwd = join(root, "project");
    const all = checkpoints(cwd);
    await all.save(LOOP, "before any work");
    const before = await look(cwd);
    write(root, { "project/p": "2\n", a: "not ours\n" });
    await all.begin(LOOP, "one", { before, after: await look(cwd) });
    await all.settle();
    const made = (await all.list(LOOP)).at(-1)?.commit ?? "";
    expect(git(root, "show", `${made}:project/p`)).toBe("2\n");
    expect(git(root, "show", `${made}:a`)).toBe("a 1\n");
  });
});
