/** The forms in which agents say that something failed, as the real ones sent them, and what is made of each. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parsePromptResult, parseUpdate } from "../../../src/agents/acp/connection/messages.ts";
import { PeerGone, PeerSilent } from "../../../src/agents/acp/connection/peer.ts";
import { WireError } from "../../../src/agents/acp/connection/wire.ts";
import { failureOfError, failureOfResult, withCause } from "../../../src/agents/acp/failures/failure.ts";
import { readKeptError } from "../../../src/agents/acp/failures/recorded-errors.ts";
import { type AcpProfileName, plainProfile, profileOf } from "../../../src/agents/acp/profiles.ts";
import { AcpTurnRecord } from "../../../src/agents/acp/record.ts";
import { readAcpUsage, type SessionTotals } from "../../../src/agents/acp/usage.ts";

const NOTHING: SessionTotals = { costUsd: null, tokens: null };

function recordOf(...updates: object[]) {
  const record = new AcpTurnRecord("/project");
  for (const update of updates) {
    const parsed = parseUpdate({ sessionId: "s", update });
    if (parsed?.update) record.add(parsed.update);
  }
  return record;
}
const says = (text: string, more: object = {}) => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
  ...more,
});
const tool = (status: string) => ({ sessionUpdate: "tool_call", toolCallId: "t", kind: "execute", status });
const sessionFailure = (category: string, actions: string[], severity = "error") => ({
  jetbrains: { air: { version: 1, sessionFailure: { category, severity, title: "the reason", actions } } },
});

describe("B13 a request that was answered with an error", () => {
  const rows: readonly (readonly [AcpProfileName, number, string, unknown, string])[] = [
    ["claude", -32603, "Internal error: API Error: 500", { errorKind: "server_error" }, "outage"],
    ["claude", -32603, "API Error: Overloaded", { errorKind: "overloaded" }, "outage"],
    ["claude", -32603, "Failed to authenticate", { errorKind: "authentication_failed" }, "auth"],
    ["claude", -32603, "Request rejected (429)", { errorKind: "rate_limit" }, "quota"],
    ["claude", -32603, "exceeded the output token maximum", { errorKind: "max_output_tokens" }, "overflow"],
    ["claude", -32603, "Something", { errorKind: "unknown" }, "fault"],
    ["claude", -32603, "Something", null, "fault"],
    ["codex", -32000, "Authentication required", undefined, "auth"],
    ["gemini", 401, '{"error":{"code":401}}', undefined, "auth"],
    ["gemini", 429, '{"error":{"code":429}}', undefined, "quota"],
    ["gemini", 503, '{"error":{"code":503}}', undefined, "outage"],
    ["gemini", 400, '{"error":{"code":400}}', undefined, "fault"],
    ["gemini", -32603, "Internal error", { details: "500 of something" }, "fault"],
    ["opencode", -32603, "Internal error: no key", { errorName: "ProviderAuthError" }, "auth"],
    ["opencode", -32603, "Internal error: too long", { errorName: "ContextOverflowError" }, "overflow"],
    ["opencode", -32603, "Internal error: 401 Unauthorized", { errorName: "APIError" }, "fault"],
    ["qwen", -32603, "Internal error", { details: "401 scripted error 401" }, "auth"],
    ["qwen", -32603, "Internal error", { details: "429 You have hit your limit" }, "quota"],
    ["qwen", -32603, "Internal error", { details: "the model said 401" }, "fault"],
    ["qwen", 429, "Rate limit exceeded. Try again later.", undefined, "quota"],
  ];
  test.each(rows)("%s: %i %s %j → %s", (name, code, message, data, type) => {
    const failure = failureOfError(profileOf(name), new WireError(code, message, data), recordOf());
    expect(failure).toMatchObject({ class: type, resetsAt: null });
    expect(failure.reason).toMatch(new RegExp(`^${name}: `));
  });

  test("the status in the agent's own record decides the class", () => {
    const error = new WireError(-32603, "Internal error: no", { errorName: "APIError" });
    const classes = [401, 429, 500, 418].map(
      (status) => failureOfError(profileOf("opencode"), error, null, status).class,
    );
    expect(classes).toEqual(["auth", "quota", "outage", "fault"]);
  });

  test("the kind of a Copilot error comes from its session", async () => {
    const told = failureOfResult(
      profileOf("copilot"),
      parsePromptResult({ stopReason: "end_turn" }),
      recordOf(says("Error: no")),
      false,
    );
    if (told === null) throw new Error("it is a failure");
    const classes = [
      ...[["rate_limit", 429] as const, ["quota", null] as const, ["authentication", 401] as const],
      ...[["policy", null] as const, ["context_limit", 400] as const, ["query", 500] as const],
      ...[["query", 400] as const, ["query", null] as const, [null, null] as const],
    ].map(([kind, status]) => withCause(told, { kind, status }).class);
    expect(told).toMatchObject({ class: "outage", reason: "copilot: Error: no" });
    expect(classes).toEqual([
      ...["quota", "quota", "auth", "auth", "overflow", "outage", "fault", "outage", "outage"],
    ]);
  });

  test("the kind is that of the last error with the same words", async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), "loop-kept-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "events.jsonl");
    const event = (errorType: string, message: string, statusCode?: number) =>
      `${JSON.stringify({ type: "session.error", data: { errorType, message, statusCode } })}\n`;
    const noise = `${JSON.stringify({ type: "assistant.message", data: { content: "session.error" } })}\n`;
    const lines = [event("query", "no", 500), event("rate_limit", "no"), noise.repeat(9_000)];
    writeFileSync(path, [...lines, "torn session.error\n", event("authentication", "other", 401)].join(""));
    expect(await readKeptError(path, "other ")).toEqual({ kind: "authentication", status: 401 });
    // too far back: an error ends its turn, and what was written since is of others
    expect(await readKeptError(path, "no")).toBeNull();
    appendFileSync(path, lines.slice(0, 2).join(""));
    expect(await readKeptError(path, "no")).toEqual({ kind: "rate_limit", status: null });
    expect(await readKeptError(join(folder, "none"), "no")).toBeNull();
  });

  test("a quota has the reset time of the agent's event", () => {
    const limit = (status: string) => ({ "_claude/rateLimit": { status, resetsAt: 1_800_000_000 } });
    const error = new WireError(-32603, "limit", { errorKind: "rate_limit" });
    const usage = (status: string) => ({
      sessionUpdate: "usage_update",
      used: 1,
      size: 2,
      _meta: limit(status),
    });
    const resets = (status: string) =>
      failureOfError(profileOf("claude"), error, recordOf(usage(status))).resetsAt;
    expect([resets("rejected"), resets("allowed_warning")]).toEqual([1_800_000_000_000, null]);
  });

  test("an ended agent is a fault, a silent agent is an outage", () => {
    const profile = plainProfile("any");
    expect(failureOfError(profile, new PeerGone("killed"), null)).toMatchObject({
      class: "fault",
      reason: "any: killed",
    });
    expect(failureOfError(profile, new PeerSilent("silent"), null)).toMatchObject({ class: "outage" });
  });
});

describe("B13 end_turn is no success", () => {
  const failureOf = (name: AcpProfileName, result: object, ...updates: object[]) => {
    const profile = profileOf(name);
    const record = recordOf(...updates);
    const parsed = parsePromptResult(result);
    const { usage } = readAcpUsage(profile, record, parsed, NOTHING, null);
    return (
      failureOfResult(profile, parsed, record, usage !== null && usage.outputTokens !== 0)?.class ?? "ok"
    );
  };
  const done = { stopReason: "end_turn", usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11 } };
  const typed = (category: string, actions: string[], severity?: string) => ({
    stopReason: "end_turn",
    usage: null,
    _meta: sessionFailure(category, actions, severity),
  });
  const rows: readonly (readonly [string, AcpProfileName, object, object[], string])[] = [
    ["a typed failure: limit", "codex", typed("limit", ["retry"]), [], "quota"],
    ["a typed failure: limit of the conversation", "codex", typed("limit", ["new_session"]), [], "overflow"],
    ["a typed failure: service", "codex", typed("service", ["retry", "new_session"]), [], "outage"],
    ["a typed failure: connection", "claude", typed("connection", []), [], "outage"],
    ["a typed failure: access", "codex", typed("access", ["login"]), [], "auth"],
    ["a typed failure: request", "codex", typed("request", []), [], "fault"],
    ["a typed failure of a new kind", "codex", typed("weather", []), [], "fault"],
    [
      "a warning is none",
      "codex",
      { ...done, _meta: sessionFailure("service", [], "warning") },
      [says("x")],
      "ok",
    ],
    [
      "a text without usage, where usage proves",
      "codex",
      { stopReason: "end_turn", usage: null },
      [says("stream error")],
      "outage",
    ],
    [
      "the client's own error as text",
      "copilot",
      done,
      [says("I try. "), says("Error: Failed to get response")],
      "outage",
    ],
    ["a word that only sounds like it", "copilot", done, [says("No "), says("more Error: in the log")], "ok"],
    ["the same text from another agent", "gemini", done, [says("Error: that is what the log said")], "ok"],
    ["a text with usage", "codex", done, [says("done")], "ok"],
    ["no text but work", "gemini", { stopReason: "end_turn" }, [tool("completed")], "ok"],
    ["nothing at all", "gemini", { stopReason: "end_turn" }, [], "fault"],
    ["white space", "gemini", { stopReason: "end_turn" }, [says(" \n")], "fault"],
  ];
  test.each(rows)("%s (%s)", (_, name, result, updates, expected) => {
    expect(failureOf(name, result, ...updates)).toBe(expected);
  });

  test("copilot's total that has not grown is no usage", () => {
    const record = recordOf(says("sorry"));
    const result = parsePromptResult(done);
    const before = readAcpUsage(profileOf("copilot"), record, result, NOTHING, null).totals;
    const { usage } = readAcpUsage(profileOf("copilot"), record, result, before, null);
    expect(usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
  });
});

describe("E3 what a turn used, by what the agent's figures mean", () => {
  const cost = (amount: number, currency = "USD") => ({
    sessionUpdate: "usage_update",
    used: 1,
    size: 2,
    cost: { amount, currency },
  });
  const of = (
    name: AcpProfileName,
    result: object,
    updates: object[] = [],
    before: SessionTotals = NOTHING,
    model: string | null = null,
  ) => readAcpUsage(profileOf(name), recordOf(...updates), parsePromptResult(result), before, model).usage;
  const usage = (
    inputTokens: number,
    outputTokens: number,
    totalTokens: number,
    cachedReadTokens = 0,
    thoughtTokens = 0,
  ) => ({
    stopReason: "end_turn",
    usage: { inputTokens, outputTokens, totalTokens, cachedReadTokens, thoughtTokens },
  });

  test.each([
    ["Claude counts what is cached beside", of("claude", usage(1000, 50, 1250, 200)), 1200, 50],
    ["Copilot counts it in", of("copilot", usage(1000, 50, 1050, 200)), 1000, 50],
    ["Codex counts thoughts as output", of("codex", usage(800, 50, 1050, 200, 30)), 1000, 50],
    ["thoughts that are counted beside are output", of("claude", usage(800, 50, 880, 0, 30)), 800, 80],
    [
      "without a total",
      of("claude", { stopReason: "end_turn", usage: { inputTokens: 5, outputTokens: 2 } }),
      5,
      2,
    ],
  ])("%s", (_, found, inputTokens, outputTokens) => {
    expect(found).toMatchObject({ inputTokens, outputTokens });
  });

  test("opencode reports its last request only: with tools, only the cost is known", () => {
    expect(of("opencode", usage(800, 50, 1050, 200), [cost(0.01)])).toMatchObject({
      costUsd: 0.01,
      inputTokens: 1000,
    });
    const many = of("opencode", usage(800, 50, 1050, 200), [tool("completed"), cost(0.02)], {
      costUsd: 0.01,
      tokens: null,
    });
    expect(many).toEqual({ costUsd: 0.01, inputTokens: null, outputTokens: null });
  });

  test("Gemini tells with its quota, and which model it was", () => {
    const quota = {
      token_count: { input_tokens: 7, output_tokens: 3 },
      model_usage: [{ model: "gemini-x" }],
    };
    expect(of("gemini", { stopReason: "end_turn", _meta: { quota } })).toEqual({
      costUsd: null,
      inputTokens: 7,
      outputTokens: 3,
      model: "gemini-x",
    });
  });

  test("Qwen tells with its messages, one for each request", () => {
    const told = {
      _meta: { usage: { inputTokens: 100, outputTokens: 5, totalTokens: 105, cachedReadTokens: 20 } },
    };
    const found = of(
      "qwen",
      { stopReason: "end_turn" },
      [says("", told), says("x", told)],
      NOTHING,
      "$runtime|openai|scripted(openai)",
    );
    expect(found).toEqual({
      costUsd: null,
      inputTokens: 200,
      outputTokens: 10,
      model: "scripted",
      cacheReadTokens: 40,
    });
  });

  test("a lower total started again; a cost in another currency is ignored", () => {
    const before = { costUsd: 5, tokens: null };
    expect(of("opencode", { stopReason: "end_turn" }, [cost(0.5)], before)?.costUsd).toBe(0.5);
    expect(of("opencode", { stopReason: "end_turn" }, [cost(7)], before)?.costUsd).toBe(2);
    expect(of("opencode", { stopReason: "end_turn" }, [cost(7, "EUR")], before)).toBe(null);
  });
});

describe("E3 the answer is the last message", () => {
  test.each([
    ["what was said after the last tool", [says("a"), tool("completed"), says("b"), says("c")], "bc"],
    ["what was said before it, if nothing came after", [says("a"), tool("completed"), says(" ")], "a"],
    [
      "the last of several messages",
      [says("a", { messageId: "1" }), says("b", { messageId: "2" }), says("c", { messageId: "2" })],
      "bc",
    ],
    ["one message, if they have no ids", [says("a"), says("b")], "ab"],
    [
      "not what was thought",
      [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } }, says("a")],
      "a",
    ],
    [
      "not what the person said",
      [{ sessionUpdate: "user_message_chunk", content: { type: "text", text: "hm" } }, says("a")],
      "a",
    ],
  ])("%s", (_, updates, answer) => {
    expect(recordOf(...updates).answer()).toBe(answer);
  });
});
