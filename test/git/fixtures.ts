/** Real repositories of a person's, whose name needs care, with nothing of this machine's own settings. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { LoopId } from "../../src/core/loop.ts";
import {
  type CheckpointOptions,
  createCheckpoints,
  type GitCheckpoints,
} from "../../src/git/checkpoints/checkpoints.ts";
import { hashTree } from "../support/cli.ts";

export const LOOP = "abcd1234" as LoopId;
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

export const ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
};

export function makeFolder(): string {
  const base = mkdtempSync(join(tmpdir(), 'loop it\'s "so" '));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const folder = join(base, "my project é");
  mkdirSync(folder);
  return folder;
}

/** As the person runs it. */
export function git(cwd: string, ...args: string[]): string {
  const settings = ["user.name=Ann", "user.email=ann@example.org", "protocol.file.allow=always"];
  const words = [...settings.flatMap((setting) => ["-c", setting]), ...args];
  const env = { ...ENV, GIT_OPTIONAL_LOCKS: "0" };
  return execFileSync("git", words, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** One commit with `a`, `b` and `.gitignore` (`ignored`, `build/`). */
export function makeRepository(...initArgs: string[]): string {
  const cwd = makeFolder();
  git(cwd, "init", "-q", "-b", "main", ...initArgs);
  write(cwd, { a: "a 1\n", b: "b 1\n", ".gitignore": "ignored\nbuild/\n" });
  commit(cwd, "first");
  return cwd;
}

export function commit(cwd: string, message: string): void {
  git(cwd, "add", "-A");
  git(cwd, "commit", "-q", "-m", message);
}

export function write(cwd: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
}

/** null for what is not there. */
export function read(cwd: string, ...names: string[]): (string | null)[] {
  return names.map((name) => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : null));
}

export function checkpoints(cwd: string, options: CheckpointOptions = {}): GitCheckpoints {
  return createCheckpoints(cwd, { env: ENV, now: () => NOW, ...options });
}

/** Saves, which must work; the commit. */
export async function saved(cwd: string, label = "step", options: CheckpointOptions = {}): Promise<string> {
  const result = await checkpoints(cwd, options).save(LOOP, label);
  if (result.kind === "none") throw new Error(result.reason);
  return result.commit;
}

/** Everything in the git folder that is the person's. */
export function personsState(cwd: string): object {
  const dir = git(cwd, "rev-parse", "--absolute-git-dir").trim();
  const common = git(cwd, "rev-parse", "--path-format=absolute", "--git-common-dir").trim();
  const refs = git(cwd, "for-each-ref").split("\n");
  return {
    status: git(cwd, "status", "--porcelain=v2", "--branch"),
    stash: git(cwd, "stash", "list"),
    refs: refs.filter((line) => !line.includes("refs/loopwright/")),
    index: hashTree(join(dir, "index")),
    head: readFileSync(join(dir, "HEAD"), "utf8"),
    logs: hashTree(join(common, "logs")),
    config: hashTree(join(common, "config")),
    info: hashTree(join(common, "info")),
    merge: read(dir, "MERGE_HEAD", "MERGE_MSG", "index.lock", "ORIG_HEAD", "FETCH_HEAD"),
  };
}

export function filesOf(cwd: string, commit: string): string[] {
  return git(cwd, "ls-tree", "-r", "-z", "--full-tree", "--name-only", commit).split("\0").filter(Boolean);
}
