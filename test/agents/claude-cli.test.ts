import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClaudeAgent, readClaudeEnd } from "../../src/agents/claude-cli.ts";
import { makeControl, makeProject, makeTurn, type Project } from "../fixtures/agents/project.ts";

// The shape of Claude Code 2.1.325, with the keys in its order: `type` comes late.
const init = { type: "system", subtype: "init", tools: ["Bash"], model: "claude-opus-5-5" };
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
const read = (events: readonly unknown[], exitCode = 0, stderr = "") =>
  readClaudeEnd({ exitCode, stderr, answer: `${events.map((event) => JSON.stringify(event)).join("\n")}\n` });

describe("the end of a headless Claude Code (E3)", () => {
  test("a result is the answer, with what this run cost and no earlier one of the session", () => {
    expect(read([init, spoken, result])).toEqual({
      kind: "ok",
      answer: "deploy is green",
      usage: { costUsd: 0.25, inputTokens: 134, outputTokens: 20 },
    });
  });

  test("of several results the last one counts, and all of their cost", () => {
    const usage = { costUsd: 0.5, inputTokens: 268, outputTokens: 40 };
    expect(read([init, overloaded, result, { ...result, result: "last" }])).toEqual({
      kind: "ok",
      answer: "last",
      usage,
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
      kind: "failed",
      reason: "claude: api error 529: API Error: 529 Overloaded. Try again in a moment.",
      answer: overloaded.result,
      usage: { costUsd: 0, inputTokens: 0, outputTokens: 0 },
    });
    expect(
      read([init, { ...overloaded, terminal_reason: "prompt_too_long", api_error_status: null, result: "" }]),
    ).toMatchObject({ kind: "failed", reason: "claude: prompt too long" });
  });

  test("another subtype than success is a failure, whatever is_error says", () => {
    const { terminal_reason: _, ...stopped } = { ...result, subtype: "error_max_turns", result: null };
    expect(read([init, stopped])).toMatchObject({
      kind: "failed",
      reason: "claude: error max turns",
      answer: "",
    });
  });

  test("a good result and a bad exit code is a failure that keeps the answer and the cost", () => {
    expect(read([init, result], 137)).toMatchObject({
      kind: "failed",
      reason: "killed by SIGKILL",
      answer: "deploy is green",
      usage: { costUsd: 0.25 },
    });
  });

  test("no result is a failure, with exit code 0 too: words of the model are none", () => {
    expect(read([init, spoken])).toMatchObject({
      kind: "failed",
      reason: "claude ended without a result",
      usage: null,
    });
    expect(read([], 1, "Invalid API key\n")).toMatchObject({
      kind: "failed",
      reason: "exit 1: Invalid API key",
    });
    const torn = JSON.stringify(result).slice(0, -5);
    expect(readClaudeEnd({ exitCode: 0, stderr: "", answer: torn })).toMatchObject({ kind: "failed" });
    for (const odd of ["", "\n\n", "null", '"result"', '{"type":"result"}', '[{"type":"result"}]']) {
      expect(readClaudeEnd({ exitCode: 0, stderr: "", answer: odd })).toMatchObject({ kind: "failed" });
    }
  });

  test("an answer of more than 1 MiB is kept from its end", () => {
    const end = read([init, { ...result, result: `${"ü".repeat(1_000_000)}!` }]);
    if (end.kind !== "ok") throw new Error(end.kind);
    expect(Buffer.byteLength(end.answer)).toBeLessThanOrEqual(1024 * 1024);
    expect(end.answer).toMatch(/^ü+!$/);
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
      kind: "failed",
      reason: "timed out after 1h30m",
      answer: "deploy is green",
      usage: { costUsd: 0.25, inputTokens: 134, outputTokens: 20 },
    });
  });

  // `exit` is a word of the shell: it must not be taken for one
  test.each(["/no/such/claude", "exit"])(
    "an executable %s that is not there is said to be so",
    async (executable) => {
      const agent = createClaudeAgent({ executable, projectDir: project.dir });
      const end = await agent.run(makeTurn(), makeControl());
      expect(end).toMatchObject({
        kind: "failed",
        reason: expect.stringContaining("exit 127: the command was not found: "),
      });
      expect(end).toMatchObject({ reason: expect.stringContaining(`${executable}: not found`) });
    },
  );
});
