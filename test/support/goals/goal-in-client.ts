/**
 * Goal loops inside a conversation of a real client that is asked by hooks: a repository whose check looks for
 * done.txt, the hooks as `loop install` puts them there, and a model that answers turn by turn.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { GoalView } from "../../../src/core/goal/view.ts";
import { type AgentModel, startModel } from "../agents/model.ts";
import { makeWorld, type World } from "../agents/worlds.ts";
import type { Asked, Reply, Script } from "../claude/scripted-model.ts";
import { cleanEnv, runLoop } from "../cli.ts";
import { makeRepository, readState } from "./goal-cli.ts";

export const SPEC = "Create done.txt in the root folder. No new dependencies.";

export type HookedClient = "codex" | "gemini" | "copilot" | "opencode";

export interface ClientWorld {
  readonly project: string;
  readonly model: AgentModel;
  readonly world: World;
  readonly env: Record<string, string>;
  /** The files of its home before anything was installed, by their paths. */
  readonly before: Readonly<Record<string, string>>;
}

/** The client with our hooks in it, and a model that says "fine" until it is told something else. */
export async function makeClientWorld(name: HookedClient): Promise<ClientWorld> {
  const project = makeRepository();
  const model = await startModel({ kind: "text", text: "fine" });
  onTestFinished(() => model.close());
  const world = makeWorld(name, project, model.url);
  const before = filesIn(world.home);
  const { code, stderr } = await runLoop(["install", name], { cwd: project, env: world.env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return { project, model, world, env: cleanEnv(project, world.env), before };
}

function filesIn(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "utf8")]));
}

/** What a person types behind the word of the client. */
export function typedGoal(...flags: readonly string[]): string {
  return ["until", '--check "done=sh check.sh"', "--yes", ...flags, `"${SPEC}"`].join(" ");
}

export interface ClientRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the client to its end. */
export function runClient({ project, env }: ClientWorld, args: readonly string[]): Promise<ClientRun> {
  const [program = "", ...words] = args;
  const child = spawn(program, words, {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (part) => {
    stdout += String(part);
  });
  child.stderr.on("data", (part) => {
    stderr += String(part);
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  });
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** What the model does in each turn of the loop, request by request; what is no turn is answered with "fine". */
export function playTurns(...turns: readonly (readonly Script[])[]): {
  readonly nonces: string[];
  readonly script: Script;
} {
  const nonces: string[] = [];
  const used = new Map<string, number>();
  const script = (asked: Asked): Reply => {
    const nonce = nonceOf(asked);
    if (nonce === null) return { kind: "text", text: "fine" };
    if (!nonces.includes(nonce)) nonces.push(nonce);
    const count = used.get(nonce) ?? 0;
    used.set(nonce, count + 1);
    const reply = turns[nonces.indexOf(nonce)]?.[count] ?? { kind: "text", text: "fine" };
    return typeof reply === "function" ? reply(asked) : reply;
  };
  return { nonces, script };
}

/** A report in the form that the turn asked for. */
export function report(exit: boolean): (asked: Asked) => Reply {
  return (asked) => ({
    kind: "text",
    text: [
      ...["That is it for this turn.", "", "---LOOP_STATUS---", `NONCE: ${nonceOf(asked) ?? ""}`],
      ...[`EXIT_SIGNAL: ${exit}`, `CRITERIA: {"done": ${exit}}`, `STEP: ${exit ? "done" : "open"}`],
      ...["NEXT: none", "---END_STATUS---"],
    ].join("\n"),
  });
}

/** Of the newest turn that the model was told of; null: none. Some clients hand the first one on as their own words. */
export function nonceOf({ messages, system }: Asked): string | null {
  const find = (text: string) => [...text.matchAll(/Nonce of this turn: (\w+)/g)].at(-1)?.[1] ?? null;
  return messages.map(({ text }) => find(text)).findLast((nonce) => nonce !== null) ?? find(system);
}

/** All that the model was told in a request. */
export function toldIn({ messages, system }: Asked): string {
  return [system, ...messages.map(({ text }) => text)].join("\n");
}

/** The goals of the project as they are published. */
export function goalsOf(project: string): readonly GoalView[] {
  const runs = join(project, ".loop", "runs");
  const names = existsSync(runs) ? readdirSync(runs) : [];
  return names
    .map((name) => join(runs, name, "state.json"))
    .filter((path) => existsSync(path))
    .map(readState);
}
