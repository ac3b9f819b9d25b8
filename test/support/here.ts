/**
 * The command in the process of the tests, for steps that only arrange or look: a real process costs 200 ms of CPU,
 * this costs 10. Invariant: one command at a time, since environment and folder belong to the whole process.
 * `LOOP_TEST_LONG=1` runs each as a real process instead.
 */
import { createIo, type Io } from "../../src/cli/io.ts";
import { cleanEnv, type Result, type RunOptions, runLoop } from "./cli.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

let last: Promise<unknown> = Promise.resolve();

/** Like `runLoop`, for commands that end by themselves. One that reads stdin or has another user gets a process. */
export function runHere(args: readonly string[], options: RunOptions): Promise<Result> {
  const { uid, input } = options;
  if (process.env.LOOP_TEST_LONG || uid !== undefined || input !== undefined || args.includes("-"))
    return runLoop(args, options);
  const run = last.then(() => runAlone(args, options));
  last = run.catch(() => {});
  return run;
}

async function runAlone(args: readonly string[], { cwd, env }: RunOptions): Promise<Result> {
  const { runCommand } = await import("../../src/cli/command.ts");
  const output = { stdout: "", stderr: "" };
  const leave = enter(cwd, cleanEnv(cwd, env));
  try {
    const code = await runCommand(args, ioTo(output));
    return { code, ...output };
  } finally {
    leave();
  }
}

function ioTo(output: { stdout: string; stderr: string }): Io {
  const streams = {
    out: (text: string) => {
      output.stdout += `${text}\n`;
    },
    say: (text: string) => {
      output.stderr += `${text}\n`;
    },
  };
  return { ...createIo(process.env, streams), interactive: false, colour: false };
}

/** The folder and the environment of the command; returns how to get the old ones back, without its signal handlers. */
function enter(cwd: string, env: Readonly<Record<string, string>>): () => void {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const handlers = SIGNALS.map((signal) => process.listeners(signal));
  process.chdir(cwd);
  replaceEnv(env);
  return () => {
    process.chdir(before.cwd);
    replaceEnv(before.env);
    for (const [n, signal] of SIGNALS.entries())
      for (const handler of process.listeners(signal))
        if (!handlers[n]?.includes(handler)) process.off(signal, handler);
  };
}

function replaceEnv(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}
