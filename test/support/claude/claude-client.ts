/**
 * The real Claude Code, where `npm run test:claude` has put it. It is asked for no key and reaches no network: its
 * model is scripted (scripted-model.ts), its home is a test's own.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { clientFolder } from "../agents/installed.ts";
import { cleanEnv, type Finish, leftovers } from "../cli.ts";
import { until } from "../until.ts";
import type { ScriptedModel } from "./scripted-model.ts";

const KEY = "sk-ant-dummy-test-key";
/** The client gives its hooks three seconds when it ends, and a busy machine takes more. */
const GONE_MS = 30_000;

export const CLAUDE = join(clientFolder("claude"), "node_modules", ".bin", "claude");
export const isClaudeMissing = !existsSync(CLAUDE);
export const isClaudeRequired = process.env.LOOP_TEST_CLAUDE === "required";
/** For the title of what is left out without it. */
export const whyMissing = isClaudeMissing ? ` (no client at ${CLAUDE}: npm run test:claude)` : "";

/** LOOP_TEST_CLAUDE=required makes its absence a failure. */
export function expectClaude(): void {
  if (isClaudeMissing)
    throw new Error(`Claude Code is required (LOOP_TEST_CLAUDE) and not at ${CLAUDE}: npm run test:claude`);
}

/** What keeps a run to itself, beside a HOME of its own. */
export function claudeEnv(modelUrl: string, temporary: string): Record<string, string> {
  return {
    TMPDIR: temporary,
    CLAUDE_CODE_TMPDIR: temporary,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: modelUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
  };
}

export interface ClientOptions {
  readonly model: ScriptedModel;
  /** A plugin that is loaded for this run only. */
  readonly pluginDir?: string;
  /** The person's own settings of the client; they stay for later runs in the project. */
  readonly settings?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

export interface Client {
  /** CLAUDE_CONFIG_DIR: settings, transcripts, and which conversations are open. */
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

/**
 * What a client needs to run in a project of `makeProject`. All clients of a project are the same person's: they
 * share a home, which asks for no onboarding, no key and no trust, so that one may resume what another began. When
 * the test is over nothing of any of them may be left.
 */
export function prepareClient(project: string, options: ClientOptions, finish: Finish): Client {
  const config = configOf(project);
  const temporary = join(dirname(project), "claude-tmp");
  if (!existsSync(config)) {
    mkdirSync(config);
    mkdirSync(temporary);
    writeFileSync(join(config, ".claude.json"), JSON.stringify(answeredQuestions(project)));
    finish(() => expectGone(project));
  }
  const { model, pluginDir, settings, env, args = [] } = options;
  if (settings !== undefined) writeFileSync(join(config, "settings.json"), JSON.stringify(settings));
  return {
    config,
    env: cleanEnv(project, {
      LANG: "C.UTF-8",
      SHELL: "/bin/sh",
      CLAUDE_CONFIG_DIR: config,
      ...claudeEnv(model.url, temporary),
      ...env,
    }),
    args: [
      ...["--permission-mode", "acceptEdits"],
      ...(pluginDir === undefined ? [] : ["--plugin-dir", pluginDir]),
      ...args,
    ],
  };
}

export interface TranscriptLine extends Readonly<Record<string, unknown>> {
  readonly type: string;
}

/** What the client wrote down of a conversation so far. */
export function transcriptOf(project: string, sessionId: string): readonly TranscriptLine[] {
  const folders = join(configOf(project), "projects");
  const names = existsSync(folders) ? readdirSync(folders) : [];
  const files = names
    .map((name) => join(folders, name, `${sessionId}.jsonl`))
    .filter((file) => existsSync(file));
  // what follows the last line end is still being written
  const lines = files.flatMap((file) => readFileSync(file, "utf8").split("\n").slice(0, -1));
  return lines.map((line) => JSON.parse(line) as TranscriptLine);
}

function configOf(project: string): string {
  return join(dirname(project), "claude");
}

function answeredQuestions(project: string): object {
  return {
    hasCompletedOnboarding: true,
    theme: "dark",
    // the client knows a key by its end
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
}

async function expectGone(project: string): Promise<void> {
  const isGone = () => leftovers(project).length === 0;
  await until(isGone, "all that the clients started is gone", GONE_MS).catch((error: Error) => {
    throw new Error(`${error.message}; left are:\n${leftovers(project).map(describeProcess).join("\n")}`);
  });
}

function describeProcess(pid: number): string {
  try {
    return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`;
  } catch {
    return `${pid} (just ended)`;
  }
}
