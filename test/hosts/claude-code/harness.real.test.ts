/**
 * What the tests of this folder stand on: the real Claude Code, headless and in its terminal, with a plugin and a
 * scripted model (test/support/claude-headless.ts, claude-tui.ts). `npm run test:claude` installs the client.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  transcriptOf,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import { runClaude, startClaude } from "../../support/claude/claude-headless.ts";
import { openClaude } from "../../support/claude/claude-tui.ts";
import { type Script, slow, startScriptedModel } from "../../support/claude/scripted-model.ts";
import { leftovers, makeProject } from "../../support/cli.ts";
import { refuse, say } from "../../support/goals/goal-replies.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

/** The client takes a second a turn, and several where the machine is busy. */
const TEST_MS = 120_000;

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

describe.skipIf(isClaudeMissing)(`E1 Claude Code headless, with a scripted model${whyMissing}`, () => {
  test(
    "a stop hook of a plugin that blocks once makes one more request, whose delay can be measured",
    async () => {
      const { project, model, pluginDir } = await makeWorld(say("one"), say("two"));
      const run = await runClaude(project, ["begin"], { model, pluginDir });
      expect(run).toMatchObject({ exitCode: 0, stderr: "", result: { is_error: false, result: "two" } });
      expect(run.events[0]).toMatchObject({ type: "system" });
      expect(stopsIn(pluginDir)).toMatchObject([
        { stop_hook_active: false, last_assistant_message: "one", session_id: run.result?.session_id },
        { stop_hook_active: true, last_assistant_message: "two" },
      ]);
      const [first, second, ...more] = model.bodies;
      expect(more).toEqual([]);
      expect(first?.messages.some(({ role, text }) => role === "user" && text.includes("begin"))).toBe(true);
      expect(second?.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^user: .*KEEP GOING/s),
          expect.stringMatching(/^system: .*KEEP GOING/s),
        ]),
      );
      expect(second?.system).toContain("Claude");
      expect(second?.tools).toContain("Bash");
      const [asked = 0, answered = 0] = [second?.askedAt, first?.answeredAt ?? undefined];
      expect(asked - answered).toBeGreaterThan(0);
    },
    TEST_MS,
  );

  test(
    "a text and three calls in one reply, one of them of an MCP tool, give three results",
    async () => {
      const { project, model, pluginDir } = await makeWorld(say("never said"));
      const path = join(project, "notes.md");
      model.script(
        {
          kind: "calls",
          text: "I write, look and ask.",
          calls: [
            { name: "Write", input: { file_path: path, content: "one\n" } },
            { name: "Bash", input: { command: "echo from the shell", description: "greet" } },
            { name: "mcp__plugin_tiny_echo__echo", input: { text: "from the server" } },
          ],
        },
        { kind: "tool", name: "Edit", input: { file_path: path, old_string: "one", new_string: "two" } },
        say("done"),
      );
      const words = ["begin", "--allowedTools", "mcp__plugin_tiny_echo__echo"];
      const run = await runClaude(project, words, { model, pluginDir });
      expect(run).toMatchObject({ exitCode: 0, result: { result: "done", permission_denials: [] } });
      expect(readFileSync(path, "utf8")).toBe("two\n");
      expect(model.bodies[1]?.messages.flatMap(({ results }) => results)).toEqual([
        expect.stringContaining(path),
        "from the shell",
        "echo: from the server",
      ]);
      const said = model.bodies[1]?.messages.find(({ role }) => role === "assistant");
      expect(said?.text).toContain("I write, look and ask.");
    },
    TEST_MS,
  );

  test.each([
    [529, "overloaded_error"],
    [429, "rate_limit_error"],
    [401, "authentication_error"],
  ])(
    "an error %i %s of the model is the result",
    async (status, type) => {
      const { project, model } = await makeWorld(refuse(status, type, "scripted trouble"));
      const run = await runClaude(project, ["begin"], { model });
      expect(run).toMatchObject({ exitCode: 1, result: { is_error: true, api_error_status: status } });
    },
    TEST_MS,
  );

  test(
    "a request of the client's own uses up no reply",
    async () => {
      const { project, model } = await makeWorld(say("one"), say("two"));
      const hook = { type: "prompt", prompt: "Is it well asked?" };
      const settings = { hooks: { UserPromptSubmit: [{ hooks: [hook] }] } };
      const run = await runClaude(project, ["begin"], { model, settings });
      expect(run.result).toMatchObject({ result: "one" });
      expect(model.bodies).toHaveLength(1);
      expect(model.helpers).toMatchObject([{ tools: [] }]);
      expect(JSON.stringify(model.helpers[0]?.messages)).toContain("Is it well asked?");
    },
    TEST_MS,
  );

  test(
    "settings and environment reach it; killed in mid-answer it has no result, and can be resumed",
    async () => {
      const reply = slow("it will never say all of this");
      const { project, model, pluginDir } = await makeWorld(reply, say("again"));
      const settings = { env: { FROM_SETTINGS: "1" } };
      const env = { FROM_TEST: "2" };
      const running = startClaude(project, ["begin"], { model, pluginDir, settings, env });
      const body = await model.asks(1);
      const id = running.events.find(({ session_id }) => session_id !== undefined)?.session_id as string;
      await until(() => hasPrompt(project, id), "the client has written down what it was asked");
      running.signal("SIGKILL");
      expect(await running.ended).toMatchObject({ exitCode: null, result: null });
      await until(() => body.isCut, "the model sees that nobody listens");
      expect(body.answeredAt).toBeNull();

      const run = await runClaude(project, ["go on", "--resume", id], { model, pluginDir, env });
      expect(run).toMatchObject({ exitCode: 0, result: { result: "again", session_id: id } });
      expect(model.bodies[1]?.messages.some(({ text }) => text.includes("begin"))).toBe(true);
      expect(readFileSync(join(pluginDir, "env"), "utf8")).toBe("1 2\n1 2\n");
    },
    TEST_MS,
  );
});

const whyNot = hasTmux ? whyMissing : `${whyMissing} (no tmux)`;
describe.skipIf(isClaudeMissing || !hasTmux)(`E1 Claude Code in its terminal${whyNot}`, () => {
  test(
    "asks nothing at its start; words come as they are released; the stop hook makes one more turn",
    async () => {
      const reply = slow("alpha\n\nbeta\n\ngamma\n\ndelta");
      const { project, model, pluginDir } = await makeWorld(reply, say("and that was it"));
      const claude = await openClaude(project, { model, pluginDir });
      expect(claude.screen()).toContain("accept edits on");
      expect(claude.isIdle()).toBe(true);

      await claude.type(`say "something", it's time`);
      const first = await model.asks(1);
      expect(model.prompts[0]).toContain(`say "something", it's time`);
      reply.release(1);
      await claude.sees(/alpha\s+beta/);
      expect(claude.screen()).not.toContain("gamma");
      expect(claude.isIdle()).toBe(false);
      expect(first.answeredAt).toBeNull();

      reply.release();
      const second = await model.hears(/KEEP GOING/);
      expect(second.askedAt).toBeGreaterThan(first.answeredAt ?? Number.POSITIVE_INFINITY);
      await claude.sees(/and that was it/);
      await claude.idle();
      expect(stopsIn(pluginDir)).toMatchObject([
        { session_id: claude.sessionId(), last_assistant_message: "alpha\n\nbeta\n\ngamma\n\ndelta" },
        { session_id: claude.sessionId(), last_assistant_message: "and that was it" },
      ]);
      expect(await claude.records(/alpha.*delta/)).toMatchObject({ type: "assistant" });
      expect(await claude.records(/and that was it/)).toMatchObject({ type: "assistant" });
      expect(await claude.exit()).toBe(0);
      expect(leftovers(project)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "Esc cuts an answer off and no stop hook runs; /clear opens another conversation; a long text goes in whole",
    async () => {
      const { project, model, pluginDir } = await makeWorld(slow("alpha\n\nbeta\n\ngamma"), say("fine"));
      const claude = await openClaude(project, { model, pluginDir, columns: 90, rows: 30 });
      await claude.type("begin");
      await claude.sees(/● alpha/);
      claude.escape();
      await claude.sees(/Interrupted/);
      await claude.idle();
      await until(() => model.bodies[0]?.isCut === true, "the model sees that nobody listens");
      expect(model.bodies).toMatchObject([{ answeredAt: null }]);
      expect(stopsIn(pluginDir)).toEqual([]);
      await claude.records(/\[Request interrupted by user\]/);

      const before = claude.sessionId();
      await claude.type("/clear");
      await until(() => claude.sessionId() !== before, "there is another conversation");
      const long = `${"many words ".repeat(300)}and the end`;
      await claude.type(long);
      expect((await model.asks(2)).messages.some(({ text }) => text.includes(long))).toBe(true);
      await model.hears(/KEEP GOING/);
      await claude.idle();
      expect(await claude.exit()).toBe(0);
    },
    TEST_MS,
  );

  test(
    "two are open in a project at once; one is killed and its conversation resumed in a third",
    async () => {
      const { project, model } = await makeWorld(say("fine"));
      const one = await openClaude(project, { model });
      const two = await openClaude(project, { model });
      expect(one.pid()).not.toBe(two.pid());
      expect(one.sessionId()).not.toBe(two.sessionId());
      await one.type("remember the number 4711");
      await one.sees(/● fine/);
      await one.idle();
      // what is not written down yet dies with the client
      await one.records(/"fine"/);
      process.kill(one.pid(), "SIGKILL");
      expect(await one.ended()).toBe(137);
      expect(one.isIdle()).toBe(false);
      expect(two.isIdle()).toBe(true);

      const three = await openClaude(project, { model, args: ["--resume", one.sessionId()] });
      expect(three.sessionId()).toBe(one.sessionId());
      await three.type("which number?");
      const { messages } = await model.hears(/which number/);
      expect(messages.some(({ text }) => text.includes("4711"))).toBe(true);
      await two.close();
      expect(leftovers(project)).not.toContain(two.pid());
      expect(leftovers(project)).toContain(three.pid());
      // the last one ends with the test, with its window
    },
    TEST_MS,
  );
});

async function makeWorld(...scripts: readonly [Script, ...Script[]]) {
  const project = makeProject();
  const model = await startScriptedModel(...scripts);
  onTestFinished(() => model.close());
  return { project, model, pluginDir: makePlugin(project) };
}

/** Its stop hook blocks once and keeps what it was given; its server repeats what it is told. */
function makePlugin(project: string): string {
  const dir = join(dirname(project), "plugin");
  for (const name of [".claude-plugin", "hooks"]) mkdirSync(join(dir, name), { recursive: true });
  const put = (name: string, value: object) => writeFileSync(join(dir, name), JSON.stringify(value));
  put(".claude-plugin/plugin.json", { name: "tiny", version: "1.0.0", description: "for tests" });
  const run = (file: string) => ({
    type: "command",
    command: "sh",
    args: [`\${CLAUDE_PLUGIN_ROOT}/${file}`],
  });
  put("hooks/hooks.json", {
    hooks: {
      SessionStart: [{ hooks: [run("start.sh")] }],
      Stop: [{ hooks: [run("stop.sh")] }],
    },
  });
  const server = { command: process.execPath, args: [`\${CLAUDE_PLUGIN_ROOT}/server.cjs`], alwaysLoad: true };
  put(".mcp.json", { mcpServers: { echo: server } });
  writeFileSync(join(dir, "start.sh"), START);
  writeFileSync(join(dir, "stop.sh"), STOP);
  writeFileSync(join(dir, "server.cjs"), SERVER);
  return dir;
}

const START = `cd "\${0%/*}" && echo "$FROM_SETTINGS $FROM_TEST" >> env\n`;

const STOP = `cd "\${0%/*}"
{ cat; echo; } >> stops
mkdir blocked 2> /dev/null && echo '{"decision":"block","reason":"KEEP GOING"}'
exit 0
`;

const SERVER = `
const { createInterface } = require("node:readline");
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "echo", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
  "tools/call": ({ arguments: { text } }) => ({ content: [{ type: "text", text: "echo: " + text }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = results[method];
  const rest = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such method" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...rest }));
});
`;

function hasPrompt(project: string, sessionId: string): boolean {
  return transcriptOf(project, sessionId).some(({ type }) => type === "user");
}

function stopsIn(pluginDir: string): readonly unknown[] {
  const file = join(pluginDir, "stops");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as unknown);
}
