/**
 * Goal loops as a user runs them: a small repository whose check looks for one file, and agents of a few lines of
 * shell. What an agent was told and what it found in its environment is kept beside the project, not in it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { EndView, GoalView } from "../../../src/core/goal/view.ts";
import {
  cleanEnv,
  type Finish,
  loopJson,
  makeProject,
  type Result,
  type RunOptions,
  runLoop,
} from "../cli.ts";

/** Scores 9 with one check: runs as a tool, in one step. */
export const SPEC = "Create done.txt in the root folder. No new dependencies.";
export const STEP = "Create done.txt in the root folder";
export const CHECK = ["--check", "done=sh check.sh"] as const;

export function git(cwd: string, ...args: string[]): string {
  const env = { ...cleanEnv(cwd), GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** A commit with a check that is red until there is a done.txt. */
export function makeRepository(finish: Finish = onTestFinished, prefix?: string): string {
  const cwd = makeProject(finish, prefix);
  writeFileSync(join(cwd, "check.sh"), "test -f done.txt\n");
  git(cwd, "init", "-q", "-b", "main");
  commitAll(cwd);
  return cwd;
}

export function commitAll(cwd: string): void {
  git(cwd, "add", "-A");
  git(cwd, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "start");
}

const PRELUDE = `
cat > /dev/null
mkdir -p ../turns
cp "$LOOP_PROMPT_FILE" "../turns/$LOOP_FIRE_ID.prompt"
env | grep '^LOOP_' > "../turns/$LOOP_FIRE_ID.env"
report() {
  printf '\\n---LOOP_STATUS---\\nNONCE: %s\\nEXIT_SIGNAL: %s\\nSTEP: %s\\n%s\\n---END_STATUS---\\n' "$LOOP_NONCE" "$1" "\${2:-done}" "\${3:-NEXT: none}"
}
verdict() {
  printf '\\n<verdict nonce="%s">%s</verdict>\\n<rejection_reason>%s</rejection_reason>\\n' "$LOOP_NONCE" "$1" "$2"
}
`;

/** The command line of an agent that runs these lines of shell in each turn; it can `report` and give a `verdict`. */
export function makeAgent(cwd: string, ...lines: string[]): string {
  const base = dirname(cwd);
  const name = `agent-${readdirSync(base).length}.sh`;
  writeFileSync(join(base, name), `${PRELUDE}\n${lines.join("\n")}\n`);
  return `sh ../${name}`;
}

export const worker = (cwd: string) => makeAgent(cwd, "touch done.txt", "report true");
export const idler = (cwd: string) => makeAgent(cwd, "report false open");

/** Hangs in its first turn with a child; says so in a file of its own. */
export const sleeper = (cwd: string) =>
  makeAgent(cwd, 'sleep 600 & echo "$$ $!" > ../sleeping.tmp', "mv ../sleeping.tmp ../sleeping", "wait");

/** The processes of a `sleeper` that is in its turn; null: not yet. */
export function sleepingPids(cwd: string): readonly number[] | null {
  const file = join(dirname(cwd), "sleeping");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split(" ").map(Number) : null;
}

/**
 * A `claude` on the PATH that does these lines of shell. `says <words> <cost>` is a turn that signals the end;
 * `quota <seconds>` one that a limit refused until then.
 */
export function installClaude(cwd: string, ...lines: string[]): void {
  const file = join(dirname(cwd), "bin", "claude");
  writeFileSync(file, `${CLAUDE}\n${lines.join("\n")}\n`, { mode: 0o755 });
}

const CLAUDE = `#!/bin/sh
cat > /dev/null
printf '{"type":"system","subtype":"init","session_id":"c1"}\\n'
says() {
  block="---LOOP_STATUS---\\\\nNONCE: $LOOP_NONCE\\\\nEXIT_SIGNAL: true\\\\n---END_STATUS---"
  printf '{"type":"assistant","session_id":"c1","message":{"content":[{"type":"text","text":"%s"}]}}\\n' "$1\\\\n\\\\n$block"
  printf '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","session_id":"c1","total_cost_usd":%s,"result":"%s"}\\n' "$2" "$1\\\\n\\\\n$block"
}
quota() {
  printf '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%s}}\\n' $(( $(date +%s) + $1 ))
  printf '{"type":"assistant","error":"rate_limit","message":{"content":[{"type":"text","text":"limit"}]}}\\n'
  printf '{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"session_id":"c1","total_cost_usd":0,"result":"5-hour limit reached"}\\n'
  exit 1
}
`;

export interface ToldTurn {
  readonly id: string;
  readonly prompt: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What agents of `makeAgent` were told, in the order of their turns. */
export function turnsOf(cwd: string): readonly ToldTurn[] {
  const dir = join(dirname(cwd), "turns");
  if (!existsSync(dir)) return [];
  const number = (id: string) => Number(/^\w+-(\d+)/.exec(id)?.[1]);
  const ids = readdirSync(dir).flatMap((name) => (name.endsWith(".env") ? [name.slice(0, -4)] : []));
  return ids
    .sort((a, b) => number(a) - number(b) || (a < b ? -1 : 1))
    .map((id) => {
      const lines = readFileSync(join(dir, `${id}.env`), "utf8")
        .trim()
        .split("\n");
      const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
      return { id, prompt: readFileSync(join(dir, `${id}.prompt`), "utf8"), env };
    });
}

/** `loop until` with the check, the agent and the spec of this file; flags come before them. */
export function untilArgs(agent: string, ...flags: string[]): readonly string[] {
  return ["until", ...flags, ...CHECK, "--agent-cmd", agent, SPEC];
}

export interface JsonRun extends Result {
  readonly lines: readonly (Record<string, unknown> & { readonly type: string })[];
  readonly end: EndView;
}

/** With `--json`: every line of stdout is an object, and the last one is the end. */
export async function runJson(args: readonly string[], options: RunOptions): Promise<JsonRun> {
  const result = await runLoop([...args, "--json"], options);
  const lines = result.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonRun["lines"][number]);
  return { ...result, lines, end: lines.at(-1) as unknown as EndView };
}

export const stateOf = (cwd: string) => readState(join(cwd, ".loop", "state.json"));

export function readState(path: string): GoalView {
  return JSON.parse(readFileSync(path, "utf8")) as GoalView;
}

export const statusOf = (cwd: string, ...args: string[]) =>
  loopJson<(GoalView & { readonly owner: string | null }) | null>(["status", ...args], { cwd });

/** A file of the repository's own that has commands in it. */
export function writeShape(cwd: string, text: string): void {
  mkdirSync(join(cwd, ".loop", "shape"), { recursive: true });
  writeFileSync(join(cwd, ".loop", "shape", "SHAPE.md"), text);
}
