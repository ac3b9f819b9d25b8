import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClaudeAgent, readClaudeEnd } from "../../../src/agents/claude/cli.ts";
import type { Conversation } from "../../../src/ports/agent.ts";
import {
  failedAs,
  fixture,
  makeControl,
  makeProject,
  makeTurn,
  makeWatcher,
  type Project,
} from "../../fixtures/agents/project.ts";
import { until } from "../../support/until.ts";

// The shape of Claude Code 2.1.325, with the keys in its order: `type` comes late.
const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
const init = { type: "system", subtype: "init", session_id: id, tools: ["Bash"], model: "claude-opus-5-5" };
const spoken = {
  type: "assistant",
  message: { content: [{ type: "text", text: '{"type":"result","is_error":false}' }] },
};
const model = {
  inputTokens: 100,
  outputTokens: 20,
  cacheReadInputTokens: 30,
  cacheCreationInputTokens: 4,
  costUSD: 0.25,
};
const result = {
  stop_reason: "end_turn",
  session_id: id,
  total_cost_usd: 7.75,
  usage: { input_tokens: 10, cache_creation_input_tokens: 2, cache_read_input_tokens: 3, output_tokens: 5 },
  permission_denials: [],
  terminal_reason: "completed",
  is_error: false,
  subtype: "success",
  api_error_status: null,
  result: "deploy is green",
  type: "result",
  result_index: 0,
  model_usage_since_last_result: { "claude-opus-5-5": model },
};
const overloaded = {
  ...result,
  terminal_reason: "api_error",
  is_error: true,
  api_error_status: 529,
  result: "API Error: 529 Overloaded.\nTry again in a moment.",
  model_usage_since_last_result: {},
};
const readText = (answer: string, exitCode = 0, stderr = "", conversation: Conversation | null = null) =>
  readClaudeEnd({ exitCode, stderr, answer }, { conversation }, "/project");
const read = (
  events: readonly unknown[],
  exitCode = 0,
  stderr = "",
  conversation: Conversation | null = null,
) => readText(`${events.map((event) => JSON.stringify(event)).join("\n")}\n`, exitCode, stderr, conversation);
const idle = { toolCalls: 0, edits: {}, reads: [], denials: [] };

describe("the end of a headless Claude Code (E3)", () => {
  test("a result is the answer, with what this run cost and no earlier one of the session", () => {
    expect(read([init, spoken, result])).toEqual({
      kind: "ok",
      answer: "deploy is green",
      usage: { costUsd: 0.25, inputTokens: 134, outputTokens: 20 },
      conversation: { id, costUsd: 7.75 },
      activity: idle,
    });
  });

  test("of several results the last one counts, and all of their cost", () => {
    const usage = { costUsd: 0.5, inputTokens: 268, outputTokens: 40 };
    expect(read([init, overloaded, result, { ...result, result: "last" }])).toEqual({
      kind: "ok",
      answer: "last",
      usage,
      conversation: { id, costUsd: 7.75 },
      activity: idle,
    });
    expect(read([init, result, overloaded])).toMatchObject({ kind: "failed", usage: { costUsd: 0.25 } });
  });

  test("an older client that names no parts: its totals", () => {
    const { model_usage_since_last_result: _, ...older } = result;
    expect(read([init, older])).toMatchObject({ usage: { costUsd: 7.75, inputTokens: 15, outputTokens: 5 } });
    expect(read([init, { ...older, usage: "?", total_cost_usd: -1 }])).toMatchObject({
      kind: "ok",
      usage: { costUsd: null, inputTokens: null, outputTokens: null },
    });
  });

  test("B13 an API error says success and is none", () => {
    expect(read([init, overloaded], 1)).toEqual({
      ...failedAs("outage", "claude: api error 529: API Error: 529 Overloaded. Try again in a moment."),
      answer: overloaded.result,
      usage: { costUsd: 0, inputTokens: 0, outputTokens: 0 },
      conversation: { id, costUsd: 7.75 },
      activity: idle,
    });
    expect(
      read([init, { ...overloaded, terminal_reason: "prompt_too_long", api_error_status: null, result: "" }]),
    ).toMatchObject(failedAs("overflow", "claude: prompt too long"));
  });

  test("another subtype than success is a failure, whatever is_error says", () => {
    const { terminal_reason: _, ...stopped } = { ...result, subtype: "error_max_turns", result: null };
    expect(read([init, stopped])).toMatchObject({
      ...failedAs("timeout", "claude: error max turns"),
      answer: "",
    });
  });

  test("a good result and a bad exit code is a failure that keeps the answer and the cost", () => {
    expect(read([init, result], 137)).toMatchObject({
      ...failedAs("fault", "killed by SIGKILL"),
      answer: "deploy is green",
      usage: { costUsd: 0.25 },
    });
  });

  test("no result is a failure, with exit code 0 too: words of the model are none", () => {
    expect(read([init, spoken])).toMatchObject({
      ...failedAs("fault", "claude ended without a result"),
      usage: null,
    });
    expect(read([], 1, "Invalid API key\n")).toMatchObject(failedAs("fault", "exit 1: Invalid API key"));
    const torn = JSON.stringify(result).slice(0, -5);
    expect(readText(torn)).toMatchObject({ kind: "failed" });
    for (const odd of ["", "\n\n", "null", '"result"', '{"type":"result"}', '[{"type":"result"}]']) {
      expect(readText(odd)).toMatchObject({ kind: "failed" });
    }
  });

  test("an answer of more than 1 MiB is kept from its end", () => {
    const end = read([init, { ...result, result: `${"ü".repeat(1_000_000)}!` }]);
    if (end.kind !== "ok") throw new Error(end.kind);
    expect(Buffer.byteLength(end.answer)).toBeLessThanOrEqual(1024 * 1024);
    expect(end.answer).toMatch(/^ü+!$/);
  });
});

describe("B12 what a run of a conversation cost", () => {
  const cost = (total: number | null, part: number | null, before: Conversation | null) => {
    const models = part === null ? null : { opus: { ...model, costUSD: part } };
    const event = { ...result, total_cost_usd: total, model_usage_since_last_result: models };
    const end = read([init, event], 0, "", before);
    return end.kind === "ok" ? end.usage?.costUsd : end;
  };
  const worth = (costUsd: number | null): Conversation => ({ id, costUsd });

  test.each<[string, number | null, number | null, Conversation | null, number | null]>([
    ["a fresh one: its own", 2, 2, null, 2],
    ["one that goes on: the difference", 3.5, 1.5, worth(2), 1.5],
    ["an older client: the difference, too", 3.5, null, worth(2), 1.5],
    ["one whose total is not known: the parts", 3.5, 1.5, worth(null), 1.5],
    ["a total that began anew, and is smaller: itself", 0.5, null, worth(2), 0.5],
    ["a total that began anew, and is larger by now: the parts", 3, 3, worth(2), 3],
    ["a run before it that was killed and told nothing: both", 4, 1, worth(2), 2],
    ["no total: the parts", null, 1.5, worth(2), 1.5],
    ["neither: not known", null, null, worth(2), null],
    ["nothing used", 2, 0, worth(2), 0],
  ])("%s", (_, total, part, before, expected) => {
    expect(cost(total, part, before)).toBe(expected);
  });

  test("never negative, never more than all of the total and the parts together", () => {
    const usd = fc.double({ min: 0, max: 1_000, noNaN: true });
    const property = fc.property(usd, fc.option(usd), usd, (total, part, before) => {
      const found = cost(total, part, worth(before));
      expect(found).toBeGreaterThanOrEqual(0);
      expect(found).toBeLessThanOrEqual(Math.max(total, part ?? 0));
    });
    fc.assert(property);
  });

  test("of a run that was killed: its conversation can go on from the total of before", () => {
    expect(read([init], 137, "", worth(2))).toMatchObject({ usage: null, conversation: worth(2) });
    expect(read([init], 137)).toMatchObject({ usage: null, conversation: worth(0) });
    expect(read([], 137, "", worth(2))).toMatchObject({ conversation: null });
  });
});

describe("how Claude Code is started", () => {
  let project: Project;
  beforeEach(async () => {
    project = await makeProject(`it's a "project"`);
  });
  afterEach(() => project.remove());

  test("headless, prompt on stdin, arguments as they are, no shell in between", async () => {
    const executable = join(project.dir, "it's claude $HOME");
    writeFileSync(
      executable,
      `#!/usr/bin/env node
      const prompt = require("node:fs").readFileSync(0, "utf8");
      const seen = JSON.stringify([process.argv.slice(2), prompt]);
      console.log(JSON.stringify({ type: "result", is_error: false, subtype: "success", result: seen }));`,
      { mode: 0o755 },
    );
    const args = ["--model", "a b", "$(touch ran)", "it's", "", "-"];
    const end = await createClaudeAgent({ executable, args, projectDir: project.dir }).run(
      makeTurn(),
      makeControl(),
    );
    if (end.kind !== "ok") throw new Error(JSON.stringify(end));
    expect(JSON.parse(end.answer)).toEqual([
      ["-p", "--output-format", "stream-json", "--verbose", ...args],
      "check the deploy",
    ]);
  });

  const replaying = (name: string, env: Record<string, string> = {}) =>
    createClaudeAgent({
      executable: fixture("claude-replays.mjs"),
      projectDir: project.dir,
      env: { PATH: process.env.PATH, FAKE_STREAM: fixture(`claude/${name}.jsonl`), ...env },
    });
  const calls = () =>
    readFileSync(join(project.dir, "calls.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { args: string[] }).args.slice(4));

  test.each([
    ["generator", ["--allowedTools=Edit(./**)"]],
    ["planner", []],
    ["judge", []],
  ])(
    "B4 E3 in the role of a %s it is given %j, and no mode in place of the person's own",
    async (role, more) => {
      await replaying("retried").run(makeTurn({ env: { LOOP_ROLE: role } }), makeControl());
      expect(calls()).toEqual([more]);
    },
  );

  test("B12 a conversation goes on, and the client is told what the turn may cost", async () => {
    const agent = replaying("retried");
    const conversation = { id, costUsd: 0.0003 };
    const end = await agent.run(makeTurn({ id: "a", conversation, budgetUsd: 2.5 }), makeControl());
    expect(end).toMatchObject({
      kind: "ok",
      answer: "fine",
      conversation: { id: "80f646c1-282c-4277-a050-8edb270bd5c8", costUsd: 0.0008 },
    });
    await agent.run(makeTurn({ id: "b", budgetUsd: 0.00001 }), makeControl());
    await agent.run(makeTurn({ id: "c" }), makeControl());
    expect(calls()).toEqual([
      ["--resume", id, "--max-budget-usd", "2.5000"],
      ["--max-budget-usd", "0.0001"],
      [],
    ]);
  });

  test("what it does is shown while it does it, and told again at the end", async () => {
    const control = makeWatcher();
    const end = replaying("edits", { FAKE_HOLD: "1" }).run(makeTurn(), control);
    await until(() => control.events.length === 8, "all is shown but the result");
    expect(existsSync(join(project.dir, ".loop/runs/aabbccdd/aabbccdd-1/exit.7"))).toBe(false);
    writeFileSync(join(project.dir, "go"), "");
    expect(await end).toMatchObject({ kind: "ok", activity: { toolCalls: 3 } });
    expect(control.events.map(({ type }) => type).at(-1)).toBe("usage");
  });

  test("stopped at its deadline it keeps what a result said, and no stream", async () => {
    const executable = join(project.dir, "claude");
    const lines = [init, spoken, result].map((event) => `echo '${JSON.stringify(event)}'`);
    writeFileSync(executable, `#!/bin/sh\n${lines.join("\n")}\ntouch ready\nexec sleep 1000\n`, {
      mode: 0o755,
    });
    let looks = 0;
    const now = () => (looks++ === 0 ? 0 : existsSync(join(project.dir, "ready")) ? 5_400_000 : 5_399_990);
    const agent = createClaudeAgent({ executable, projectDir: project.dir, now });
    expect(await agent.run(makeTurn({ deadlineAt: 5_400_000 }), makeControl())).toEqual({
      ...failedAs("timeout", "timed out after 1h30m"),
      answer: "deploy is green",
      usage: { costUsd: 0.25, inputTokens: 134, outputTokens: 20 },
      conversation: { id, costUsd: 7.75 },
      activity: idle,
    });
  });

  // `exit` is a word of the shell: it must not be taken for one
  test.each(["/no/such/claude", "exit"])(
    "an executable %s that is not there is said to be so",
    async (executable) => {
      const agent = createClaudeAgent({ executable, projectDir: project.dir });
      const end = await agent.run(makeTurn(), makeControl());
      const reason = new RegExp(`^exit 127: the command was not found: .*${executable}: not found`);
      expect(end).toMatchObject(failedAs("fault", expect.stringMatching(reason)));
    },
  );
});
