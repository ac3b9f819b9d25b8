/** One agent of the corpus as a real process under a real `loop until`, and what came of it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PauseCode, Receipt } from "../../src/core/goal/goal.ts";
import type { EndView } from "../../src/core/views/goal-view.ts";
import { LOOP, type RunOptions, runLoop } from "../support/cli.ts";

export const PROGRAMS = fileURLToPath(new URL("../fixtures/", import.meta.url));
/** Scores as a tool or a colleague, and is one step. */
export const SPEC = "Make the sum in src/ add its two numbers. No new dependencies.";

export interface GoalEvent {
  readonly type: string;
  readonly event?: { readonly type: string; readonly text?: string };
  readonly job?: string;
  readonly receipt?: Receipt;
  readonly pause?: {
    readonly code: PauseCode;
    readonly reason: string;
    readonly evidence: readonly string[];
  };
  readonly end?: { readonly notes: readonly string[] };
}

export interface GoalRun {
  readonly code: number | null;
  readonly end: EndView | null;
  readonly pause: GoalEvent["pause"] | null;
  readonly receipts: readonly Receipt[];
  /** Turns that were begun. */
  readonly starts: number;
  readonly notesOfEnd: readonly string[];
  /** Everything that the agent printed. */
  readonly said: string;
  /** What it wrote down outside of the project. */
  readonly notes: string;
  readonly stderr: string;
}

export interface AgentRun {
  readonly checks: readonly string[];
  readonly agentCmd: string;
  readonly flags: readonly string[];
  readonly env?: RunOptions["env"];
  readonly spec?: readonly string[];
}

export async function runGoal(project: string, run: AgentRun): Promise<GoalRun> {
  const args = [
    ...["until", "--json", "--yes", "--agent-cmd", run.agentCmd],
    ...run.checks.flatMap((check) => ["--check", check]),
    ...run.flags,
    ...(run.spec ?? [SPEC]),
  ];
  const result = await runLoop(args, { cwd: project, env: agentEnv(project, run.env) });
  return readRun(project, result);
}

export function agentEnv(project: string, env: RunOptions["env"] = {}): Record<string, string> {
  return {
    LIARS: join(PROGRAMS, "liars"),
    HONEST: join(PROGRAMS, "honest"),
    NOTES: notesFile(project),
    LOOP_COMMAND: LOOP,
    ...env,
  };
}

export function notesFile(project: string): string {
  return join(dirname(project), "notes.txt");
}

export function readRun(
  project: string,
  { code, stdout, stderr }: { code: number | null; stdout: string; stderr: string },
): GoalRun {
  const events = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as GoalEvent);
  return {
    code,
    end: (events.findLast(({ type }) => type === "loop.end") as EndView | undefined) ?? null,
    pause: events.findLast(({ type }) => type === "loop.pause")?.pause ?? null,
    receipts: events.flatMap(({ type, receipt }) =>
      type === "turn.end" && receipt !== undefined ? [receipt] : [],
    ),
    starts: new Set(events.flatMap(({ type, job }) => (type === "turn.start" ? [job] : []))).size,
    notesOfEnd: events.findLast(({ type }) => type === "loop.result")?.end?.notes ?? [],
    said: events.flatMap(({ event }) => (event?.text === undefined ? [] : [event.text])).join("\n"),
    notes: existsSync(notesFile(project)) ? readFileSync(notesFile(project), "utf8") : "",
    stderr,
  };
}
