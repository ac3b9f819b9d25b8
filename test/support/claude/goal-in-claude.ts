/**
 * Goal loops inside a conversation of the real Claude Code: a repository whose checks read a number in a file, and a
 * model that puts the number of its turn there, with a tool or without. Guard with `isClaudeMissing`.
 */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { GoalView } from "../../../src/core/goal/view.ts";
import { makeProject } from "../cli.ts";
import { commitAll, git, readState } from "../goals/goal-cli.ts";
import { PLUGIN } from "./plugin.ts";
import type { Asked, Reply, ScriptedModel } from "./scripted-model.ts";
import { startScriptedModel } from "./scripted-model.ts";

export const SPEC = "Count up to the number in the file n. Done when n has it. Only that file.";

/** Lifts the client's own limit of stops that a hook may answer in a row. */
export const NO_CAP = { env: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0" } };

export interface GoalWorld {
  readonly project: string;
  readonly model: ScriptedModel;
}

/** The file n has a 0; the model says "fine" until it is told something else. */
export async function makeGoalWorld(): Promise<GoalWorld> {
  const project = makeProject();
  writeFileSync(join(project, "n"), "0\n");
  git(project, "init", "-q", "-b", "main");
  commitAll(project);
  const model = await startScriptedModel({ kind: "text", text: "fine" });
  onTestFinished(() => model.close());
  return { project, model };
}

/** What a person types: a criterion for every second number, so that some move in time for the breakers. */
export function untilCounted(target: number, ...flags: string[]): string {
  const steps = Array.from({ length: Math.floor(target / 2) }, (_, index) => 2 * (index + 1));
  const checks = steps.map((n) => `--check "n${n}=test $(cat n) -ge ${n}"`);
  return [
    ...["/loopwright until", ...checks, "--yes --exit-on proof --iterations 30", ...flags, `"${SPEC}"`],
  ].join(" ");
}

export interface Counter {
  /** Of the turns that the loop gave so far, in order. */
  readonly turns: readonly CountedTurn[];
  readonly script: (asked: Asked) => Reply;
}

export interface CountedTurn {
  readonly number: number;
  readonly nonce: string;
  /** The request that brought it. */
  readonly asked: Asked;
  /** What the loop said. */
  readonly prompt: string;
}

export interface CounterOptions {
  /** Counts up with a call of Bash in this turn, and not behind the client's back. */
  readonly isCalling?: (turn: CountedTurn) => boolean;
  /** Says something else in this turn, once it has counted. */
  readonly reply?: (turn: CountedTurn) => Reply | null;
  /** Does not count in this turn. */
  readonly isIdle?: (turn: CountedTurn) => boolean;
}

/** A model that does one number a turn; what is no turn of a loop is answered with "fine". */
export function counter(project: string, options: CounterOptions = {}): Counter {
  const { isCalling = () => false, reply = () => null, isIdle = () => false } = options;
  const turns: CountedTurn[] = [];
  const finish = (turn: CountedTurn): Reply =>
    reply(turn) ?? { kind: "text", text: `Turn ${turn.number} is over.` };
  const script = (asked: Asked): Reply => {
    const prompt = lastPrompt(asked);
    // the client wants a summary of the conversation
    const isToShorten = asked.messages.some(({ text }) => text.includes("Respond with TEXT ONLY"));
    if (prompt === null || isToShorten) return { kind: "text", text: "fine" };
    const nonce = nonceIn(prompt);
    const known = turns.at(-1);
    // a copy of the conversation has its prompts too
    if (turns.some((turn) => turn.nonce === nonce && sessionOf(turn.asked) !== sessionOf(asked)))
      return { kind: "text", text: "fine" };
    if (known?.nonce === nonce) return finish(known);
    const turn = { number: turns.length + 1, nonce, asked, prompt };
    turns.push(turn);
    if (isIdle(turn)) return finish(turn);
    const next = Number(readFileSync(join(project, "n"), "utf8")) + 1;
    if (isCalling(turn))
      return { kind: "tool", name: "Bash", input: { command: `echo ${next} > n`, description: "count" } };
    writeFileSync(join(project, "n"), `${next}\n`);
    return finish(turn);
  };
  return { turns, script };
}

/** Which conversation asked, as the client tells the model. */
export function sessionOf(asked: Asked): string {
  const { json } = asked as Asked & { readonly json?: { readonly metadata?: unknown } };
  return (
    /session_?(?:id)?\W*([0-9a-f]{8}-[0-9a-f-]{27})/.exec(JSON.stringify(json?.metadata ?? ""))?.[1] ?? ""
  );
}

/** A claim that all is done, in the form that the turn asked for. */
export function claim({ nonce }: Pick<CountedTurn, "nonce">): Reply {
  const lines = ["All done.", "", "---LOOP_STATUS---", `NONCE: ${nonce}`, "EXIT_SIGNAL: true"];
  return { kind: "text", text: [...lines, "STEP: done", "NEXT: none", "---END_STATUS---"].join("\n") };
}

/** What the loop said last, if nothing was said to the model after it; null: it is asked for something else. */
function lastPrompt({ messages }: Asked): string | null {
  const isPrompt = (text: string) => text.includes("Nonce of this turn:");
  const at = messages.findLastIndex(({ text }) => isPrompt(text));
  const found = messages[at];
  if (found === undefined) return null;
  const text = found.text.slice(found.text.lastIndexOf(MARK) + MARK.length);
  const isTalk = ({ role, text, results }: Asked["messages"][number]) =>
    role === "user" && results.length === 0 && text !== "";
  // what is typed after a turn that was cut off comes in the same message
  const [, rest = ""] = found.role === "user" ? text.split("</system-reminder>") : [];
  return rest.trim() !== "" || messages.slice(at + 1).some(isTalk) ? null : text;
}

const MARK = "additional context: ";

function nonceIn(prompt: string): string {
  return [...prompt.matchAll(/Nonce of this turn: (\w+)/g)].at(-1)?.[1] ?? "";
}

/** The goals of the project as they are published, oldest first. */
export function goalsOf(project: string): readonly GoalView[] {
  const runs = join(project, ".loop", "runs");
  const names = existsSync(runs) ? readdirSync(runs) : [];
  const paths = names.map((name) => join(runs, name, "state.json")).filter((path) => existsSync(path));
  return paths.map(readState).sort((a, b) => (a.createdAt ?? "").localeCompare(b.createdAt ?? ""));
}

/** The plugin, with a server that takes a second whenever it is started again: by then a hook has long answered. */
export function slowToComeBack(project: string): string {
  const copy = join(dirname(project), "plugin");
  cpSync(PLUGIN, copy, { recursive: true });
  const start = `[ -e "$0" ] && sleep 1; : > "$0"; exec node "$1/bin/server.cjs"`;
  const args = ["-c", start, join(dirname(project), "started"), copy];
  writeFileSync(join(copy, ".mcp.json"), JSON.stringify({ mcpServers: { loop: { command: "sh", args } } }));
  return copy;
}

/** Not even as one that nobody has asked for its end yet. */
export function isGone(pid: number): boolean {
  return !existsSync(`/proc/${pid}`);
}

/** Processes of the plugin in this project, by the file that they run: server, monitor. */
export function pluginPids(pids: readonly number[], program: string): readonly number[] {
  return pids.filter((pid) => commandOf(pid).includes(`${program}.cjs`));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
