/**
 * The real Claude Code against a scripted model on loopback: no key, no network. `npm run test:claude` installs
 * the client into a cache first; LOOP_TEST_CLAUDE=required makes its absence a failure.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClaudeAgent } from "../../../src/agents/claude/cli.ts";
import type { FailureClass } from "../../../src/core/goal/goal.ts";
import {
  failedAs,
  makeControl,
  makeProject,
  makeTurn,
  makeWatcher,
  type Project,
} from "../../fixtures/agents/project.ts";
import {
  CLAUDE,
  claudeEnv,
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import { type Reply, type ScriptedModel, startScriptedModel } from "../../support/claude/scripted-model.ts";
import { until } from "../../support/until.ts";

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

describe.skipIf(isClaudeMissing)(`the real Claude Code (E3)${whyMissing}`, () => {
  let project: Project;
  let model: ScriptedModel | undefined;
  beforeEach(async () => {
    project = await makeProject(`it's a "project"`);
  });
  afterEach(async () => {
    await model?.close();
    model = undefined;
    await project.remove();
  });

  async function claude(
    replies: readonly [Reply, ...Reply[]],
    { args = [], env = {} }: { args?: readonly string[]; env?: Record<string, string | undefined> } = {},
  ) {
    model = await startScriptedModel(...replies);
    const [home = "", config = "", temporary = ""] = ["home", "config", "tmp"].map((name) =>
      join(project.dir, "..", name),
    );
    for (const folder of [home, config, temporary]) mkdirSync(folder);
    const all = {
      PATH: process.env.PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: config,
      ...claudeEnv(model.url, temporary),
      ...env,
    };
    const agent = createClaudeAgent({ executable: CLAUDE, args, projectDir: project.dir, env: all });
    return { agent, prompts: model.prompts };
  }

  const say = (text: string): Reply => ({ kind: "text", text });
  const call = (name: string, input: object): Reply => ({ kind: "tool", name, input });
  const fail = (status: number, type: string, message = "scripted trouble"): Reply => ({
    kind: "error",
    status,
    type,
    message,
  });

  test("gets the prompt and gives the answer, with its cost and its conversation", async () => {
    const { agent, prompts } = await claude([say("deploy is green")]);
    const end = await agent.run(makeTurn(), makeControl());
    expect(end).toEqual({
      kind: "ok",
      answer: "deploy is green",
      usage: { costUsd: expect.any(Number), inputTokens: 1_000, outputTokens: 50 },
      conversation: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), costUsd: expect.any(Number) },
      activity: { toolCalls: 0, edits: {}, reads: [], denials: [] },
    });
    expect(end.kind === "ok" ? end.usage?.costUsd : 0).toBeGreaterThan(0);
    expect(prompts).toEqual([expect.stringContaining("check the deploy")]);
  });

  test("B12 each of three turns of a conversation costs what it cost; the total adds up", async () => {
    const { agent } = await claude([say("one"), say("two"), say("three")]);
    let conversation = null;
    const costs: number[] = [];
    for (const n of [1, 2, 3]) {
      const end = await agent.run(makeTurn({ id: `t-${n}`, conversation }), makeControl());
      if (end.kind !== "ok" || end.conversation === null) throw new Error(JSON.stringify(end));
      if (conversation !== null) expect(end.conversation.id).toBe(conversation.id);
      conversation = end.conversation;
      costs.push(end.usage?.costUsd ?? 0);
      expect(end.usage).toMatchObject({ inputTokens: 1_000, outputTokens: 50 });
    }
    const [first = 0] = costs;
    expect(first).toBeGreaterThan(0);
    expect(costs).toEqual([first, expect.closeTo(first, 9), expect.closeTo(first, 9)]);
    expect(conversation?.costUsd).toBeCloseTo(3 * first, 9);
  });

  test("a conversation that is gone is told from one that failed", async () => {
    const { agent, prompts } = await claude([say("never said")]);
    const conversation = { id: "11111111-2222-4333-8444-555555555555", costUsd: 1 };
    expect(await agent.run(makeTurn({ conversation }), makeControl())).toMatchObject({
      ...failedAs("overflow", expect.stringContaining("No conversation found")),
      usage: { costUsd: 0 },
      conversation: null,
    });
    expect(prompts).toEqual([]);
  });

  test.each<[number, string, string, FailureClass]>([
    [529, "overloaded_error", "Overloaded", "outage"],
    [500, "api_error", "scripted trouble", "outage"],
    [429, "rate_limit_error", "too many requests", "quota"],
    [401, "authentication_error", "invalid x-api-key", "auth"],
    [400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum", "overflow"],
    [400, "invalid_request_error", "messages: odd", "fault"],
  ])("B13 an API error %i %s (%s) is of the class %s", async (status, type, message, expected) => {
    const { agent } = await claude([fail(status, type, message)]);
    const end = await agent.run(makeTurn(), makeControl());
    const reason = expect.stringMatching(new RegExp(`^claude: (api error|prompt too long) ${status}: `));
    expect(end).toMatchObject(failedAs(expected, reason));
  });

  test("B13 a subscription that is used up names the moment when it is not", async () => {
    const headers = {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": "1994830400",
      "anthropic-ratelimit-unified-representative-claim": "five_hour",
      "anthropic-ratelimit-unified-5h-reset": "1994830400",
      "anthropic-ratelimit-unified-5h-utilization": "1.0",
      "retry-after": "3600",
    };
    const env = { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-dummy-test-token" };
    const { agent } = await claude([{ ...fail(429, "rate_limit_error"), headers } as Reply], { env });
    const reason = expect.stringMatching(/^claude: api error 429: /);
    expect(await agent.run(makeTurn(), makeControl())).toMatchObject(
      failedAs("quota", reason, 1_994_830_400_000),
    );
  });

  test("B13 nobody there is an outage; trouble that passes is none, and is shown", async () => {
    const env = { CLAUDE_CODE_MAX_RETRIES: "1" };
    const { agent } = await claude([fail(529, "overloaded_error"), say("fine")], { env });
    const control = makeWatcher();
    expect(await agent.run(makeTurn(), control)).toMatchObject({ kind: "ok", answer: "fine" });
    expect(control.events[0]).toEqual({
      type: "failure",
      failure: { class: "outage", reason: "claude retries: overloaded 529", resetsAt: null },
    });
    await model?.close();
    model = undefined;
    const end = await agent.run(makeTurn({ id: "t-2" }), makeControl());
    expect(end).toMatchObject(failedAs("outage", expect.stringContaining("claude: api error: ")));
  });

  test("B7 C9 edits and reads are counted, and a tool that was denied is named", async () => {
    const path = join(project.dir, "notes.md");
    const { agent } = await claude(
      [
        call("Write", { file_path: path, content: "one\n" }),
        call("Edit", { file_path: path, old_string: "one", new_string: "two" }),
        call("Edit", { file_path: path, old_string: "not there", new_string: "two" }),
        call("Read", { file_path: path }),
        call("Bash", { command: "curl http://127.0.0.1:9/", description: "ask" }),
        say("done"),
      ],
      { args: ["--permission-mode", "acceptEdits"] },
    );
    const end = await agent.run(makeTurn(), makeControl());
    if (end.kind !== "ok") throw new Error(JSON.stringify(end));
    const reads = ["notes.md"];
    expect(end.activity).toEqual({ toolCalls: 5, edits: { "notes.md": 2 }, reads, denials: ["Bash"] });
    expect(readFileSync(path, "utf8")).toBe("two\n");
  });

  test("B12 what a turn may cost is the client's limit, and no fault of the agent's", async () => {
    const { agent } = await claude([call("Bash", { command: "ls", description: "look" })]);
    const end = await agent.run(makeTurn({ budgetUsd: 0.0001 }), makeControl());
    expect(end).toMatchObject({
      ...failedAs("timeout", expect.stringContaining("claude: budget exhausted")),
      usage: { costUsd: expect.any(Number) },
    });
  });

  test("what it does is shown while it still works; cancelled in mid-turn it leaves no process", async () => {
    const { agent, prompts } = await claude([
      call("Bash", { command: "echo hello", description: "greet" }),
      { kind: "silence" },
    ]);
    const control = makeWatcher();
    const end = agent.run(makeTurn(), control);
    await until(() => prompts.length > 1, "the model was asked again");
    await until(() => control.events.length > 0, "something is shown");
    expect(control.events).toEqual([{ type: "tool", name: "Bash", detail: "echo hello" }]);
    expect(project.processes()).not.toEqual([]);
    control.abort();
    expect(await end).toEqual({ kind: "cancelled", conversation: { id: expect.any(String), costUsd: 0 } });
    expect(project.processes()).toEqual([]);
  });
});
