/** How `claude -p` is handed the engine's tools, and that a turn does without them where there are none. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readActivity } from "../../../src/agents/claude/activity.ts";
import { createClaudeAgent } from "../../../src/agents/claude/cli.ts";
import { parseClaudeStream } from "../../../src/agents/claude/events.ts";
import type { ToolServer, Turn } from "../../../src/ports/agent.ts";
import { makeControl, makeProject, makeTurn, type Project } from "../../fixtures/agents/project.ts";

const SECRET = "s3cret-token";

/** Writes down what becomes of its conversations. */
function aServer(open = () => Promise.resolve()): ToolServer & { readonly log: (string | Turn | null)[] } {
  const log: (string | Turn | null)[] = [];
  return {
    log,
    open: async () => {
      await open();
      log.push("open");
      return {
        url: "http://127.0.0.1:9/mcp",
        headers: { Authorization: `Bearer ${SECRET}` },
        serve: (turn) => void log.push(turn),
        bind: ({ pid }) => void log.push(`bind ${pid}`),
        close: () => void log.push("close"),
      };
    },
  };
}

describe("E3 the engine's tools for claude -p", () => {
  let project: Project;
  let executable: string;
  beforeEach(async () => {
    project = await makeProject(`it's a "project"`);
    executable = join(project.dir, "claude");
    const script = `#!/usr/bin/env node
      const { LOOP_TOOLS_AUTH: auth = null } = process.env;
      const seen = JSON.stringify({ args: process.argv.slice(6), auth });
      console.log(JSON.stringify({ type: "result", is_error: false, subtype: "success", result: seen }));`;
    writeFileSync(executable, script, { mode: 0o755 });
  });
  afterEach(() => project.remove());

  async function run(turn: Turn, toolServer?: ToolServer) {
    const options = { executable, projectDir: project.dir, ...(toolServer && { toolServer }) };
    const end = await createClaudeAgent(options).run(turn, makeControl());
    if (end.kind !== "ok") throw new Error(JSON.stringify(end));
    return JSON.parse(end.answer) as { args: string[]; auth: string | null };
  }

  test("a server beside the person's own, its tools allowed, the token in the environment alone", async () => {
    const server = aServer();
    const turn = makeTurn();
    const { args, auth } = await run(turn, server);
    const [allowed, config = "", ...more] = args;
    expect(allowed).toBe("--allowedTools=mcp__loopwright__*");
    expect(more).toEqual([]);
    expect(JSON.parse(config.replace(/^--mcp-config=/, ""))).toEqual({
      mcpServers: {
        loopwright: {
          type: "http",
          url: "http://127.0.0.1:9/mcp",
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
          headers: { Authorization: "${LOOP_TOOLS_AUTH}" },
        },
      },
    });
    expect(auth).toBe(`Bearer ${SECRET}`);
    expect(args.join()).not.toContain(SECRET);
    expect(server.log).toEqual(["open", turn, expect.stringMatching(/^bind [1-9]/), "close"]);
  });

  test("beside what a generator may do already", async () => {
    const { args } = await run(makeTurn({ env: { LOOP_ROLE: "generator" } }), aServer());
    expect(args[0]).toBe("--allowedTools=Edit(./**),mcp__loopwright__*");
  });

  test("no port: the turn goes on without them", async () => {
    const refusing = aServer(() => Promise.reject(new Error("EMFILE")));
    expect(await run(makeTurn(), refusing)).toEqual({ args: [], auth: null });
    expect(await run(makeTurn({ id: "t-2" }))).toEqual({ args: [], auth: null });
  });

  test("an agent that fails leaves no token behind, and neither does one that never started", async () => {
    const server = aServer();
    const agent = createClaudeAgent({
      executable: "/no/such/claude",
      projectDir: project.dir,
      toolServer: server,
    });
    expect(await agent.run(makeTurn(), makeControl())).toMatchObject({ kind: "failed" });
    const control = makeControl();
    control.abort();
    expect(await agent.run(makeTurn({ id: "t-2" }), control)).toEqual({ kind: "cancelled" });
    expect(server.log.filter((line) => line === "open" || line === "close")).toEqual(
      Array(2).fill(["open", "close"]).flat(),
    );
  });

  test("a runner inside of a turn does not hand its own tools on", async () => {
    const env = { ...process.env, LOOP_TOOLS_URL: "http://127.0.0.1:8/mcp", LOOP_TOOLS_AUTH: "Bearer outer" };
    const agent = createClaudeAgent({ executable, projectDir: project.dir, env });
    const end = await agent.run(makeTurn(), makeControl());
    expect(end.kind === "ok" ? JSON.parse(end.answer) : end).toEqual({ args: [], auth: null });
  });
});

test.each([
  ["mcp__loopwright__loop_report", 0],
  ["mcp__plugin_loopwright_loop__Wakeup", 0],
  ["mcp__loop__CronList", 0],
  ["mcp__loopback__ping", 1],
  ["Bash", 1],
])("B7 a call of %s counts %i as work", (name, count) => {
  const content = [{ type: "tool_use", id: "a", name, input: {} }];
  const events = parseClaudeStream(`${JSON.stringify({ type: "assistant", message: { content } })}\n`);
  expect(readActivity(events, "/project").toolCalls).toBe(count);
});
