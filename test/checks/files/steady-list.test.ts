/** The list of files that is kept between two looks is the one that git would give. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createWorkspace } from "../../../src/checks/files/workspace.ts";
import { until } from "../../support/until.ts";

const ENV = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_GLOBAL: "/dev/null" };

function makeRepository() {
  const root = mkdtempSync(join(tmpdir(), "loop steady "));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: root,
      env: ENV,
      encoding: "utf8",
    });
  git("init", "-q");
  const write = (path: string, text = "x") => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write(".gitignore", "build/\n*.log\n");
  write("src/a");
  write("src/deep/b");
  write("build/out");
  mkdirSync(join(root, "empty"));
  git("add", "-A");
  git("commit", "-qm", "start");
  const expected = () =>
    git("ls-files", "-co", "--exclude-standard", "-z")
      .split("\0")
      .slice(0, -1)
      .filter((path) => !path.startsWith(".loop/"))
      .sort();
  return { root, git, write, expected };
}

/** Long enough for times of files to tell one change from the next. */
async function settle(): Promise<void> {
  const since = Date.now();
  await until(() => Date.now() - since > 25, "the clock of the file system ticks");
}

test("B7 whatever changes, the next look lists what git lists", async () => {
  const { root, git, write, expected } = makeRepository();
  const workspace = createWorkspace(root);
  const listed = async () => {
    // twice: the second may come from what was kept
    await workspace.snapshot();
    await settle();
    await workspace.snapshot();
    return [...(await workspace.snapshot()).files.keys()].sort();
  };
  const steps: readonly (readonly [string, () => void])[] = [
    ["nothing", () => {}],
    ["a new file", () => write("src/new")],
    ["a file in a folder that was empty", () => write("empty/first")],
    ["a file in a new folder in a new folder", () => write("one/two/three")],
    ["a file in an ignored folder", () => write("build/more")],
    ["an ignored file", () => write("src/x.log")],
    ["a tracked file goes", () => rmSync(join(root, "src/a"))],
    ["an untracked one goes", () => rmSync(join(root, "src/new"))],
    ["a folder is renamed", () => renameSync(join(root, "one"), join(root, "other"))],
    ["a rule comes", () => write(".gitignore", "build/\n*.log\nother/\n")],
    ["a rule in a folder", () => write("empty/.gitignore", "*\n")],
    ["a rule goes", () => write(".gitignore", "*.log\n")],
    ["a rule outside of the tree", () => writeFileSync(join(root, ".git/info/exclude"), "src/deep/\n")],
    ["an ignored file is added", () => git("add", "-f", "src/x.log")],
    ["a tracked one is only kept in the folder", () => git("rm", "-q", "--cached", "src/deep/b")],
    ["another repository", () => execFileSync("git", ["init", "-q", join(root, "inner")], { env: ENV })],
    ["a file of the engine's", () => write(".loop/runs/x")],
  ];
  for (const [name, act] of steps) {
    act();
    const now = (await listed()).filter((path) => path !== "inner");
    const wanted = expected().filter((path) => !path.startsWith("inner") && existsSync(join(root, path)));
    expect(now, name).toEqual(wanted);
  }
});

test("a change that comes right after a look is seen by the next", async () => {
  const { root, write } = makeRepository();
  const workspace = createWorkspace(root);
  for (let n = 0; n < 30; n++) {
    await workspace.snapshot();
    write(`src/burst-${n}`);
    expect((await workspace.snapshot()).files.has(`src/burst-${n}`)).toBe(true);
  }
});

test("when nothing changes, git is not started again", async () => {
  const { root } = makeRepository();
  const workspace = createWorkspace(root);
  await settle();
  await workspace.snapshot();
  await workspace.snapshot();
  // what git could not read any more is not read
  rmSync(join(root, ".git/HEAD"));
  expect((await workspace.snapshot()).files.has("src/a")).toBe(true);
  writeFileSync(join(root, "src/later"), "x");
  expect((await workspace.snapshot()).isGit).toBe(false);
});
