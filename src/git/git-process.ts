/** Runs git, never a program of that name from the project. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, realpathSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { LoopError } from "../errors.ts";
import { errorCode } from "../system/files.ts";
import { lookForProgram, pathOutside } from "../system/find-program.ts";

export interface GitCall {
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** `code` null: git could not be started or took too long. */
export interface GitAnswer {
  readonly code: number | null;
  /** One letter per byte, because file names may be invalid text. */
  readonly stdout: string;
  /** Git's error, for the middle of a sentence; empty on success. */
  readonly problem: string;
}

export interface GitOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** For each git command. */
  readonly timeoutMs?: number;
}

export interface Git extends Required<GitOptions> {
  readonly cwd: string;
  /** Absolute; the bare name if there is none, which `run` reports. */
  readonly program: string;
  /** Goes before every command. */
  readonly settings: readonly string[];
  run(call: GitCall): Promise<GitAnswer>;
  /** Git in another folder, without what `with` added. */
  in(cwd: string): Git;
  /** Git in the same folder, with more variables and settings. */
  with(env: Readonly<Record<string, string>>, settings: readonly string[]): Git;
}

/**
 * Turns off programs that the repository's configuration could start in the few commands that read it, and settings of
 * the person's index. All other commands do not read that configuration (`guard.ts`).
 */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "core.ignoreStat=false",
  "core.safecrlf=false",
  "core.logAllRefUpdates=false",
  "core.fsyncMethod=batch",
  "core.quotePath=false",
  "index.sparse=false",
  "submodule.recurse=false",
  "commit.gpgSign=false",
  "i18n.commitEncoding=UTF-8",
  "i18n.logOutputEncoding=UTF-8",
  "advice.addEmbeddedRepo=false",
  "advice.addIgnoredFile=false",
].flatMap((setting) => ["-c", setting]);

/** For commits of a person who has not configured a name. */
export const OUR_NAME = {
  GIT_AUTHOR_NAME: "Loopwright",
  GIT_AUTHOR_EMAIL: "loopwright@localhost",
  GIT_COMMITTER_NAME: "Loopwright",
  GIT_COMMITTER_EMAIL: "loopwright@localhost",
};

/** Where the person keeps settings and programs. All other GIT_ variables belong to other commands. */
const KEPT: ReadonlySet<string> = new Set([
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_EXEC_PATH",
  "GIT_CEILING_DIRECTORIES",
  "GIT_DISCOVERY_ACROSS_FILESYSTEM",
]);

const TIMEOUT_MS = 5 * 60_000;

/** Git fails when it sees a worktree that another git is creating: its files are still empty. Nothing has changed then. */
const HALF_MADE = /^failed to read .*[\\/]worktrees[\\/].*: Success$/;
const HALF_MADE_ATTEMPTS = 6;
const HALF_MADE_PAUSE_MS = 40;

export function createGit(folder: string, options: GitOptions = {}): Git {
  const env = gitEnvironment(options.env ?? process.env, folder);
  const { path, reason } = lookForProgram("git", env, folder);
  return gitIn(folder, {
    program: path ?? "git",
    missing: path === null ? `git ${reason}` : null,
    env,
    settings: SETTINGS,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  });
}

type GitParts = Pick<Git, "program" | "env" | "settings" | "timeoutMs"> & { readonly missing: string | null };

function gitIn(path: string, plain: GitParts, parts: GitParts = plain): Git {
  const cwd = realFolder(path);
  const { missing, ...rest } = parts;
  return {
    ...rest,
    cwd,
    run: (call) =>
      missing === null
        ? runRetrying(cwd, call, parts)
        : Promise.resolve({ code: null, stdout: "", problem: missing }),
    in: (other) => gitIn(other, plain),
    with: (env, settings) =>
      gitIn(cwd, plain, {
        ...plain,
        env: { ...plain.env, ...env },
        settings: [...settings, ...plain.settings],
      }),
  };
}

/** Inside a git hook, GIT_DIR and GIT_INDEX_FILE are set. With them we would change the person's index. */
function gitEnvironment(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith("GIT_") || KEPT.has(name));
  // git looks for its own programs there
  const { GIT_EXEC_PATH = "" } = env;
  return {
    ...Object.fromEntries(kept),
    // git and its filters look for their programs there
    PATH: pathOutside(env, folder),
    ...(GIT_EXEC_PATH === "" ? {} : { GIT_EXEC_PATH: pathOutside({ ...env, PATH: GIT_EXEC_PATH }, folder) }),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    // a partial clone would fetch missing objects by a program from its configuration
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
  };
}

async function runRetrying(cwd: string, call: GitCall, parts: GitParts): Promise<GitAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await runGit(cwd, call, parts);
    if (attempt === HALF_MADE_ATTEMPTS || !HALF_MADE.test(answer.problem)) return answer;
    await pause(HALF_MADE_PAUSE_MS * attempt);
  }
}

function runGit(cwd: string, call: GitCall, parts: GitParts): Promise<GitAnswer> {
  const { program, settings, timeoutMs } = parts;
  const env = { ...parts.env, ...call.env };
  return new Promise((done) => {
    let child: ChildProcess;
    try {
      // its own process group, so that a hanging filter ends with git
      child = spawn(program, [...settings, ...call.args], { cwd, env, detached: true, stdio: "pipe" });
    } catch (error) {
      done(notStarted(error));
      return;
    }
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const settle = (answer: GitAnswer): void => {
      clearTimeout(timer);
      done(answer);
    };
    const timer = setTimeout(() => {
      endGroup(child);
      settle({ code: null, stdout: "", problem: `git took longer than ${Math.round(timeoutMs / 1000)} s` });
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, timeoutMs);
    child.stdout?.on("data", (chunk: Buffer) => out.push(chunk)).on("error", () => {});
    child.stderr?.on("data", (chunk: Buffer) => err.push(chunk)).on("error", () => {});
    child.stdin?.on("error", () => {});
    child.stdin?.end(Buffer.from(call.input ?? "", "latin1"));
    child.once("error", (error) => settle(notStarted(error)));
    child.once("close", (code) => {
      const stdout = Buffer.concat(out).toString("latin1");
      settle({ code, stdout, problem: code === 0 ? "" : firstProblem(Buffer.concat(err).toString("utf8")) });
    });
  });
}

function notStarted(error: unknown): GitAnswer {
  const isMissing = errorCode(error) === "ENOENT";
  const problem = isMissing ? "git is not installed" : `git cannot be started (${String(error)})`;
  return { code: null, stdout: "", problem };
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // it ended already
  }
}

/** The most useful error line, for the middle of a sentence. */
function firstProblem(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  const line =
    lines.find((text) => text.startsWith("fatal: ")) ?? lines.find((text) => text !== "") ?? "git failed";
  return line.replace(/^(?:fatal|error): /, "").replace(/[.:]+$/, "");
}

/** From one letter per byte to text. */
export function readable(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** An error for the middle of a sentence. */
export function wordsOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}

/** Git shows real paths, without links. */
export function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Throws an error for the middle of a sentence. */
export function refuse(reason: string): never {
  throw new LoopError("surroundings", reason);
}

export function mustSucceed({ code, stdout, problem }: GitAnswer): string {
  return code === 0 ? stdout : refuse(problem);
}

/** Empty if the folder is missing. */
export function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}

/** The commit of a branch, ref or commit id; null: it does not exist. */
export async function commitOf(git: Git, name: string): Promise<string | null> {
  const found = await git.run({ args: ["rev-parse", "-q", "--verify", `${name}^{commit}`] });
  return found.code === 0 ? found.stdout.trim() : null;
}

export async function isAncestor(git: Git, one: string, other: string): Promise<boolean> {
  return (await git.run({ args: ["merge-base", "--is-ancestor", one, other] })).code === 0;
}

/** From text to one letter per byte, for git's input. */
export function asBytes(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
