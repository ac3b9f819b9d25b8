/**
 * A conversation of the real Claude Code, one process for many prompts, whose model waits with every answer until it
 * is told to give it. So several can be measured turn by turn: the others wait meanwhile. No key, no network, a home
 * of its own.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { type SlowReply, slow, startScriptedModel } from "../test/support/claude/scripted-model.ts";
import { until } from "../test/support/until.ts";

/** `npm run test:claude` puts it there; the figures run in the folder of the checkout. */
export const CLAUDE = clientPath();
export const isClaudeMissing = !existsSync(CLAUDE);
export const isClaudeRequired = process.env.LOOP_TEST_CLAUDE === "required";

const KEY = "sk-ant-dummy-bench-key";
const WAIT_MS = 60_000;

export interface TalkOptions {
  /** The project; the client's home is made beside it. */
  readonly project: string;
  readonly pluginDir: string;
  readonly args?: readonly string[];
}

/** What followed on the end of an answer, and after how many milliseconds. */
export interface Followed {
  readonly kind: "request" | "result";
  readonly ms: number;
}

export interface Talk {
  readonly project: string;
  readonly session: string;
  /** Returns when the model was asked, or when the prompt was answered without it. */
  prompt(text: string): Promise<Followed["kind"]>;
  /** Lets the model give its answer, and waits for what follows. */
  answer(): Promise<Followed>;
  close(): Promise<void>;
}

export async function startTalk({ project, pluginDir, args = [] }: TalkOptions): Promise<Talk> {
  const held: SlowReply[] = [];
  const model = await startScriptedModel(() => {
    const reply = slow("Still at it.", { words: 0 });
    held.push(reply);
    return reply;
  });
  const streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  const child = spawn(CLAUDE, ["-p", ...streams, "--plugin-dir", pluginDir, ...args], {
    cwd: project,
    env: clientEnv(project, model.url),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const results: number[] = [];
  let session = "";
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const at = performance.now();
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = JSON.parse(line) as { readonly type: string; readonly session_id?: string };
      session = event.session_id ?? session;
      if (event.type === "result") results.push(at);
    }
  });
  /** The first request or result after so many of each. */
  const followed = (requests: number, over: number) =>
    until(
      () => {
        if (child.exitCode !== null) throw new Error(`the client ended with ${child.exitCode}`);
        const [request, result] = [model.bodies[requests], results[over]];
        if (request !== undefined) return { kind: "request", at: request.askedAt } as const;
        return result === undefined ? null : ({ kind: "result", at: result } as const);
      },
      "the client goes on",
      WAIT_MS,
    );
  return {
    project,
    get session() {
      return session;
    },
    async prompt(text) {
      const next = followed(model.bodies.length, results.length);
      child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`);
      return (await next).kind;
    },
    async answer() {
      const asked = model.bodies.at(-1);
      const next = followed(model.bodies.length, results.length);
      held.at(-1)?.release();
      const { kind, at } = await next;
      return { kind, ms: at - (asked?.answeredAt ?? Number.NaN) };
    },
    async close() {
      // a loop goes on for as long as it is asked, so the end of the input would not be enough
      child.kill("SIGTERM");
      await ended;
      await model.close();
    },
  };
}

/** Where the client keeps what was said. */
export function transcriptPath(project: string, session: string): string {
  const folders = join(configOf(project), "projects");
  const path = readdirSync(folders)
    .map((name) => join(folders, name, `${session}.jsonl`))
    .find((file) => existsSync(file));
  if (path === undefined) throw new Error(`no transcript of ${session}`);
  return path;
}

function clientEnv(project: string, url: string): NodeJS.ProcessEnv {
  const base = dirname(project);
  const [home, temporary, config] = [join(base, "home"), join(base, "tmp"), configOf(project)];
  for (const folder of [home, temporary, config]) mkdirSync(folder, { recursive: true });
  const projects = { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } };
  if (!existsSync(join(config, ".claude.json")))
    writeFileSync(join(config, ".claude.json"), JSON.stringify({ hasCompletedOnboarding: true, projects }));
  return {
    PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
    HOME: home,
    TZ: "UTC",
    LANG: "C.UTF-8",
    SHELL: "/bin/sh",
    TMPDIR: temporary,
    CLAUDE_CODE_TMPDIR: temporary,
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
    CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0",
  };
}

function configOf(project: string): string {
  return join(dirname(project), "claude");
}

function clientPath(): string {
  const hash = createHash("sha256").update(readFileSync("test/clients/claude/package-lock.json"));
  const { LOOPWRIGHT_CLIENTS, XDG_CACHE_HOME } = process.env;
  const cache = LOOPWRIGHT_CLIENTS || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "loopwright-clients");
  return join(cache, `claude-${hash.digest("hex").slice(0, 16)}`, "node_modules/.bin/claude");
}
