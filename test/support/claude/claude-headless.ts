/** The real Claude Code without its terminal: `claude -p`, and every event that it prints. See claude-client.ts. */
import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import type { Finish } from "../cli.ts";
import { CLAUDE, type ClientOptions, prepareClient } from "./claude-client.ts";

export interface ClientEvent extends Readonly<Record<string, unknown>> {
  readonly type: string;
  readonly subtype?: string;
}

/** The last event of a run, of which there may be several when something went on in the background. */
export interface ResultEvent extends ClientEvent {
  readonly is_error: boolean;
  readonly result: string;
  readonly session_id: string;
  readonly num_turns: number;
}

export interface ClaudeRun {
  readonly events: readonly ClientEvent[];
  /** Null: it ended before it came to that. */
  readonly result: ResultEvent | null;
  /** Null: a signal ended it. */
  readonly exitCode: number | null;
  readonly stderr: string;
}

export interface RunningClaude {
  readonly pid: number;
  /** So far. */
  readonly events: readonly ClientEvent[];
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<ClaudeRun>;
}

export interface HeadlessOptions extends ClientOptions {
  /** Tests that run at once pass their own. */
  readonly finish?: Finish;
}

/** Runs `claude -p <words>` to its end; the prompt comes first in the words, flags after it. */
export function runClaude(
  project: string,
  words: readonly string[],
  options: HeadlessOptions,
): Promise<ClaudeRun> {
  return startClaude(project, words, options).ended;
}

/** The same, for those who want to do something to it meanwhile. */
export function startClaude(
  project: string,
  words: readonly string[],
  options: HeadlessOptions,
): RunningClaude {
  const { finish = onTestFinished } = options;
  const { env, args } = prepareClient(project, options, finish);
  const output = ["--output-format", "stream-json", "--verbose"];
  const child = spawn(CLAUDE, ["-p", ...words, ...output, ...args], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const events: ClientEvent[] = [];
  let rest = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    events.push(...lines.filter(Boolean).map((line) => JSON.parse(line) as ClientEvent));
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<ClaudeRun>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ events, result: resultOf(events), exitCode, stderr }));
  });
  finish(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return { pid: child.pid ?? 0, events, signal: (signal) => child.kill(signal), ended };
}

function resultOf(events: readonly ClientEvent[]): ResultEvent | null {
  return (events.findLast(({ type }) => type === "result") as ResultEvent | undefined) ?? null;
}
