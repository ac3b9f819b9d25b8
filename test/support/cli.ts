/**
 * The command as a user runs it: a real process, a project of its own, an environment with nothing real in it.
 * Whatever a test started is gone after it, and a process that outlived its runner fails the test.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { runHere } from "./here.ts";
import { until } from "./until.ts";

export const LOOP = fileURLToPath(new URL("../../dist/loop.cjs", import.meta.url));

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** As another user, who may not see the folder that this checkout is in: runs a copy beside the project. */
  readonly uid?: number;
}

/** Tests that run at once have a hook of their own: the common one does not know whose it is. */
export type Finish = (end: () => void | Promise<void>) => void;

/** A folder whose name needs care: spaces and both kinds of quotes. Gone after the test, with all that ran in it. */
export function makeProject(finish: Finish = onTestFinished, prefix = 'loop it\'s "so" '): string {
  const base = mkdtempSync(join(tmpdir(), prefix));
  const project = join(base, "my project");
  mkdirSync(project);
  mkdirSync(join(base, "home"));
  giveKey(join(base, "home"));
  mkdirSync(join(base, "bin"));
  symlinkSync(LOOP, join(base, "bin", "loop"));
  finish(() => {
    const left = leftovers(project);
    for (const pid of left) kill(pid);
    rmSync(base, { recursive: true, force: true });
    expect(left, "processes that outlived the test's runners").toEqual([]);
  });
  return project;
}

/** Read at once: tests that run at the same time replace the environment. */
const KEY = join(process.env.XDG_CONFIG_HOME ?? "", "loopwright", "key");

/** The key of the tests' own process, so that a command counts what a test wrote into a journal. */
export function giveKey(home: string): void {
  const config = join(home, ".config", "loopwright");
  mkdirSync(config, { recursive: true, mode: 0o700 });
  copyFileSync(KEY, join(config, "key"));
}

/** Makes the HOME of the project's commands the home of this user, with the key in it. */
export function giveHome(project: string, uid: number): void {
  execFileSync("chown", ["-R", `${uid}:${uid}`, join(dirname(project), "home")]);
}

/** Nothing of the person's own: no HOME, no keys, no agent on the PATH but what a test puts there. */
export function cleanEnv(project: string, extra: RunOptions["env"] = {}): Record<string, string> {
  const base = dirname(project);
  const path = [join(base, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":");
  return { PATH: path, HOME: join(base, "home"), TZ: "UTC", ANTHROPIC_API_KEY: "fake", ...extra };
}

export async function runLoop(args: readonly string[], options: RunOptions): Promise<Result> {
  const { child, output } = launch(args, options);
  child.stdin?.end(options.input ?? "");
  const code = await ended(child);
  return { code, ...output };
}

/** Runs it in this process, must end with 0, and reads what it printed as JSON. */
export async function loopJson<T>(args: readonly string[], options: RunOptions): Promise<T> {
  const { code, stdout, stderr } = await runHere([...args, "--json"], options);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as T;
}

export interface RunningLoop {
  readonly pid: number;
  readonly output: { stdout: string; stderr: string };
  /** Waits for text on stdout. */
  line(pattern: RegExp, withinMs?: number): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
}

export function startLoop(
  args: readonly string[],
  options: RunOptions,
  finish: Finish = onTestFinished,
): RunningLoop {
  const { child, output } = launch(args, options);
  child.stdin?.end();
  const end = ended(child);
  const pid = child.pid ?? 0;
  finish(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await until(() => child.exitCode !== null || child.signalCode !== null, "the runner ended").catch(() =>
      child.kill("SIGKILL"),
    );
  });
  return {
    pid,
    output,
    line: (pattern, withinMs) =>
      until(
        () => {
          const found = pattern.exec(output.stdout)?.[0];
          if (found === undefined && child.exitCode !== null)
            throw new Error(`it ended with ${child.exitCode}: ${output.stdout}${output.stderr}`);
          return found;
        },
        `stdout has ${pattern}, which was:\n${output.stdout}${output.stderr}`,
        withinMs,
      ),
    signal: (signal) => child.kill(signal),
    ended: end,
  };
}

function launch(args: readonly string[], { cwd, env, uid }: RunOptions) {
  const program = uid === undefined ? LOOP : copyProgram(cwd);
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: cleanEnv(cwd, env),
    stdio: ["pipe", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  child.stdin?.on("error", () => {});
  return { child, output };
}

function copyProgram(project: string): string {
  const copy = join(dirname(project), "program");
  if (!existsSync(copy)) cpSync(dirname(LOOP), copy, { recursive: true });
  return join(copy, "loop.cjs");
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code));
  });
}

/** Processes that still have this project's fake HOME in their environment. */
export function leftovers(project: string): number[] {
  const mark = `HOME=${join(dirname(project), "home")}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => environOf(pid).split("\0").includes(mark));
}

function environOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it ended by itself
  }
}

/** One hash over names, modes and contents of everything below: the same when nothing was changed. */
export function hashTree(path: string): string {
  const hash = createHash("sha256");
  const visit = (at: string) => {
    const stat = lstatSync(at, { throwIfNoEntry: false });
    hash.update(`${at}\0${stat?.mode}\0`);
    if (stat?.isDirectory()) for (const name of readdirSync(at).sort()) visit(join(at, name));
    else if (stat?.isSymbolicLink()) hash.update(readlinkSync(at));
    else if (stat?.isFile()) hash.update(readFileSync(at));
  };
  visit(path);
  return hash.digest("hex");
}

export interface TaskJson {
  readonly id: string;
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly prompt: string;
  readonly recurring: boolean;
  readonly durable: boolean;
  readonly state: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastFiredAt: string | null;
  readonly nextFireAt: string | null;
  readonly jitterMs: number;
  readonly human: string;
  readonly notice?: string | null;
}

export interface FireJson {
  readonly fireId: string;
  readonly taskId: string;
  readonly slot: string;
  readonly dueAt: string;
  readonly outcome: string;
  readonly kind: string;
  readonly reason: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface ListJson {
  readonly owner: { readonly owner: string; readonly pid: number } | null;
  readonly tasks: readonly TaskJson[];
  readonly held: readonly object[];
}

export const listOf = (cwd: string) => loopJson<ListJson>(["list"], { cwd });
export const historyOf = (cwd: string, ...args: string[]) =>
  loopJson<FireJson[]>(["history", ...args], { cwd });
export const create = (cwd: string, ...args: string[]) => loopJson<TaskJson>(args, { cwd });
