/**
 * A project in which the real Claude Code is opened with our plugin. Every conversation may have a model of its own:
 * then what that was asked tells where a fire went. Guard with `isClaudeMissing` and `hasTmux`.
 */
import { onTestFinished } from "vitest";
import { type FireJson, historyOf, leftovers, listOf, makeProject, type TaskJson } from "../cli.ts";
import { until } from "../until.ts";
import type { ClientOptions } from "./claude-client.ts";
import { type ClaudeTui, openClaude, type TuiOptions } from "./claude-tui.ts";
import { PLUGIN } from "./plugin.ts";
import { type Body, type Script, type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

const WAIT_MS = 40_000;

export interface PluginWorld {
  readonly project: string;
  readonly model: ScriptedModel;
  /** For a client without its terminal. */
  readonly client: ClientOptions;
  open(options?: Partial<TuiOptions>): Promise<ClaudeTui>;
}

export async function makePluginWorld(...scripts: readonly [Script, ...Script[]]): Promise<PluginWorld> {
  const project = makeProject();
  const model = await openModel(...scripts);
  const client = { model, pluginDir: PLUGIN };
  const open = async (options: Partial<TuiOptions> = {}) => {
    const claude = await openClaude(project, { ...client, ...options });
    // a client that is closed in the middle of a turn takes its time, more than its terminal is given
    onTestFinished(() => (leftovers(project).includes(claude.pid()) ? claude.close() : undefined));
    return claude;
  };
  return { project, model, client, open };
}

/** Gone after the test. */
export async function openModel(...scripts: readonly [Script, ...Script[]]): Promise<ScriptedModel> {
  const model = await startScriptedModel(...scripts);
  onTestFinished(() => model.close());
  return model;
}

/** What the client puts over an answer that a hook gave in the model's place. */
const ANSWERED = "operation blocked by hook:";

/** Types something for us and waits until the last local answer on the screen matches; returns that answer. */
export async function tellLoop(claude: ClaudeTui, typed: string, answer: RegExp): Promise<string> {
  await claude.type(typed);
  const last = new RegExp(`${ANSWERED}(?![\\s\\S]*${ANSWERED})[\\s\\S]*?(?:${answer.source})`, answer.flags);
  return localAnswer(await claude.sees(last));
}

/** The last one, without what the client has under it. */
function localAnswer(screen: string): string {
  const lines = (screen.split(ANSWERED).at(-1) ?? "").split("\n");
  const end = lines.findIndex((line) => /^(?:─{10}|❯| +◐)/.test(line));
  return lines
    .slice(1, end === -1 ? undefined : end)
    .map((line) => line.trimEnd().replace(/^ {2}/, ""))
    .join("\n")
    .trim();
}

/** Requests that brought the model something in which this is. */
export function heard({ bodies }: ScriptedModel, pattern: RegExp): readonly Body[] {
  return bodies.filter((body) => pattern.test(newIn(body)));
}

/** What was said since the model spoke last. */
export function newIn({ messages }: Pick<Body, "messages">): string {
  const spoken = messages.findLastIndex(({ role }) => role === "assistant");
  return messages
    .slice(spoken + 1)
    .map(({ text }) => text)
    .join("\n");
}

/** Until the model was told this so many times; returns these requests. */
export function hearsOften(model: ScriptedModel, pattern: RegExp, count: number): Promise<readonly Body[]> {
  return until(
    () => {
      const found = heard(model, pattern);
      return found.length >= count ? found : null;
    },
    `the model hears ${pattern} ${count} times`,
    WAIT_MS,
  );
}

/** When it was asked, on the clock by which tasks go. */
export function askedAt(body: Body): number {
  return performance.timeOrigin + body.askedAt;
}

export async function onlyTask(project: string): Promise<TaskJson> {
  const { tasks } = await listOf(project);
  const [task, ...more] = tasks;
  if (task === undefined || more.length > 0) throw new Error(`there are ${tasks.length} tasks, not one`);
  return task;
}

/** Until so many fires of it are over. */
export function firesOf(project: string, id: string, count: number): Promise<readonly FireJson[]> {
  return until(
    async () => {
      const fires = (await historyOf(project, id)).filter(({ finishedAt }) => finishedAt !== null);
      return fires.length >= count ? fires : null;
    },
    `${count} fires of ${id} are over`,
    WAIT_MS,
  );
}

/** Until the lease is held by this conversation. */
export async function leads(project: string, claude: ClaudeTui, withinMs = WAIT_MS): Promise<void> {
  const owner = `session:${claude.sessionId()}`;
  await until(
    async () => (await listOf(project)).owner?.owner === owner,
    `${owner} holds the lease`,
    withinMs,
  );
}

/** Real time goes by: a slot has to pass, and nothing is to happen at it. */
export async function clockPasses(at: number): Promise<void> {
  await until(() => Date.now() > at, "the clock has gone on", Math.max(0, at - Date.now()) + 5_000);
}
