/**
 * The MCP server under the real Claude Code, with a model that is scripted (no key, no network): what the model calls,
 * what hooks call, and what the model is told of.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CLAUDE,
  claudeEnv,
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import { type Reply, type ScriptedModel, startScriptedModel } from "../../support/claude/scripted-model.ts";

/** Listed: `add`. Not listed: `hook`, which keeps the conversation going once. Both write down how they were called. */
const SERVER = `
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { serveMcp } from "./server.ts";
const note = (what) => appendFileSync(process.env.CALLS, JSON.stringify(what) + "\\n");
let stops = 0;
serveMcp({
  name: "loop", version: "1.2.3", instructions: "INSTRUCTED",
  input: process.stdin, output: process.stdout,
  onClose: () => note({ closed: true }),
  tools: [
    {
      name: "add", description: "adds", schema: z.strictObject({ a: z.number(), b: z.number() }), alwaysLoad: true,
      run: async (input, { isFromModel }) => {
        note({ tool: "add", input, isFromModel });
        return { text: JSON.stringify({ sum: input.a + input.b }) };
      },
    },
    {
      name: "hook", description: "for hooks", schema: z.looseObject({}), isListed: false,
      run: async (input, { isFromModel }) => {
        note({ tool: "hook", input, isFromModel });
        const output = { hookEventName: "Stop", additionalContext: "GO ON" };
        return { text: stops++ === 0 ? JSON.stringify({ hookSpecificOutput: output }) : "" };
      },
    },
  ],
});`;

const STOP_HOOK = {
  type: "mcp_tool",
  server: "plugin:loopwright:loop",
  tool: "hook",
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the client fills them in
  input: { event: "${hook_event_name}", session: "${session_id}", last: "${last_assistant_message}" },
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the client fills them in
};

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

describe.skipIf(isClaudeMissing)(`E1 the MCP server in the real Claude Code${whyMissing}`, () => {
  let base = "";
  let model: ScriptedModel;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "loop mcp "));
    for (const name of ["home", "config", "tmp", "project"]) mkdirSync(join(base, name));
  });
  afterEach(async () => {
    await model.close();
    rmSync(base, { recursive: true, force: true });
  });

  const call = (tool: string, input: object): Reply => {
    return { kind: "tool", name: `mcp__plugin_loopwright_loop__${tool}`, input };
  };
  const say = (text: string): Reply => ({ kind: "text", text });

  test("the model calls a listed tool, and a hook calls one that the model cannot call", async () => {
    model = await startScriptedModel(
      call("hook", { event: "forged" }),
      call("add", { a: 19, b: 23 }),
      say('first "end"'),
      say("over"),
    );
    await makePlugin();
    expect(await runClaude("go", "--allowedTools", "mcp__plugin_loopwright_loop__*")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("over"),
    });
    expect(calls()).toMatchObject([
      { tool: "add", input: { a: 19, b: 23 }, isFromModel: true },
      { tool: "hook", input: { event: "Stop", last: 'first "end"' }, isFromModel: false },
      { tool: "hook", input: { event: "Stop", last: "over" }, isFromModel: false },
    ]);
    expect(model.prompts).toHaveLength(4);
    expect(model.prompts.at(-1)).toContain("GO ON");
    expect(JSON.stringify(model.asked)).toContain("INSTRUCTED");
  });

  async function makePlugin(): Promise<void> {
    const plugin = join(base, "plugin");
    for (const name of [".claude-plugin", "hooks"]) mkdirSync(join(plugin, name), { recursive: true });
    const write = (name: string, content: object) =>
      writeFileSync(join(plugin, name), JSON.stringify(content));
    write(".claude-plugin/plugin.json", { name: "loopwright", version: "1.0.0", description: "test" });
    write("hooks/hooks.json", { hooks: { Stop: [{ hooks: [STOP_HOOK] }] } });
    const server = {
      command: process.execPath,
      args: [join(plugin, "server.mjs")],
      env: { CALLS: join(base, "calls") },
    };
    write(".mcp.json", { mcpServers: { loop: server } });
    await build({
      stdin: {
        contents: SERVER,
        resolveDir: join(import.meta.dirname, "../../../src/hosts/mcp"),
        loader: "ts",
      },
      outfile: join(plugin, "server.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      logLevel: "error",
    });
  }

  function calls(): unknown[] {
    const lines = readFileSync(join(base, "calls"), "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as unknown).filter((call) => !("closed" in (call as object)));
  }

  function runClaude(...args: string[]): Promise<{ code: number | null; stdout: string }> {
    const child = spawn(CLAUDE, ["--plugin-dir", join(base, "plugin"), "-p", ...args], {
      cwd: join(base, "project"),
      env: {
        PATH: process.env.PATH,
        HOME: join(base, "home"),
        CLAUDE_CONFIG_DIR: join(base, "config"),
        ...claudeEnv(model.url, join(base, "tmp")),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    return new Promise((resolve, reject) => {
      child.on("error", reject).on("close", (code) => resolve({ code, stdout }));
    });
  }
});
