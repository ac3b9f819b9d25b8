/** What Claude Code's own events say of a turn: recordings of 2.1.325 against a scripted model. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readActivityLine } from "../../../src/agents/claude/activity.ts";
import { readClaudeEnd } from "../../../src/agents/claude/cli.ts";
import type { FailureClass } from "../../../src/core/goal/goal.ts";
import type { AgentEvent, Conversation } from "../../../src/ports/agent.ts";
import { failedAs, fixture } from "../../fixtures/agents/project.ts";

const recording = (name: string) => readFileSync(fixture(`claude/${name}.jsonl`), "utf8");
const replay = (stream: string, conversation: Conversation | null = null, exitCode = 1) =>
  readClaudeEnd({ exitCode, answer: stream, stderr: "" }, { conversation }, "/project");
const watch = (stream: string): readonly AgentEvent[] =>
  stream.split("\n").flatMap((line) => readActivityLine(line, "/project"));
/** The recording with other values in its events. */
const changed = (name: string, change: (event: Record<string, unknown>) => object) =>
  recording(name)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.stringify(change(JSON.parse(line) as Record<string, unknown>)))
    .join("\n");
const known = { id: "11111111-2222-4333-8444-555555555555", costUsd: 1 };

describe("B13 the class of a failure", () => {
  test.each<[string, FailureClass, RegExp]>([
    ["rate-limited", "quota", /^claude: api error 429: API Error: Request rejected \(429\)/],
    ["unauthorized", "auth", /^claude: api error 401: Invalid API key/],
    ["forbidden", "auth", /^claude: api error 403: Failed to authenticate/],
    ["not-signed-in", "auth", /^claude: api error: Not logged in/],
    ["no-credit", "auth", /^claude: api error 400: Credit balance is too low/],
    ["overloaded", "outage", /^claude: api error 529: /],
    ["no-connection", "outage", /^claude: api error: .*ECONNREFUSED/],
    ["too-long", "overflow", /^claude: prompt too long 400: /],
    ["bad-request", "fault", /^claude: api error 400: API Error: 400 messages: weird/],
    ["over-budget", "timeout", /^claude: budget exhausted: Reached maximum budget/],
    ["over-turns", "timeout", /^claude: max turns: Reached maximum number of turns/],
    ["no-conversation", "fault", /^claude: error during execution: No conversation found/],
  ])("%s: %s", (name, type, reason) => {
    expect(replay(recording(name))).toMatchObject(failedAs(type, expect.stringMatching(reason)));
  });

  test.each(["no-conversation", "bad-conversation"])("%s: a fresh one is the cure", (name) => {
    expect(replay(recording(name), known)).toMatchObject({
      ...failedAs("overflow", expect.stringContaining("claude: error during execution: ")),
      conversation: null,
    });
  });

  test("a conversation that began and broke off is not taken for one that is gone", () => {
    const stream = changed("bad-request", (event) =>
      event.type === "result"
        ? { ...event, subtype: "error_during_execution", terminal_reason: null, api_error_status: null }
        : event,
    );
    expect(replay(stream, known)).toMatchObject(failedAs("fault", expect.any(String)));
  });

  test("quota: until the moment that the client's own event names", () => {
    const reason = "claude: api error 429: You've hit your 5-hour limit · resets 12pm (UTC)";
    expect(replay(recording("quota"))).toMatchObject(failedAs("quota", reason, 1_794_830_400_000));
  });

  test.each<[unknown, number | null]>([
    [1_794_830_400, 1_794_830_400_000],
    [1_794_830_400_123, 1_794_830_400_123],
    ["1794830400", 1_794_830_400_000],
    ["2026-11-16T12:00:00Z", 1_794_830_400_000],
    ["2026-11-16T14:00:00+02:00", 1_794_830_400_000],
    ["2026-11-16T12:00:00", null],
    ["12pm (UTC)", null],
    ["", null],
    [0, null],
    [null, null],
    [{}, null],
  ])("quota: a reset at %j is %s; without a time zone it is none", (resetsAt, expected) => {
    const stream = changed("quota", (event) =>
      event.type === "rate_limit_event"
        ? { ...event, rate_limit_info: { status: "rejected", resetsAt } }
        : event,
    );
    expect(replay(stream)).toMatchObject(failedAs("quota", expect.any(String), expected));
  });

  test("the reset of a quota that is not used up is none", () => {
    const stream = changed("quota", (event) =>
      event.type === "rate_limit_event"
        ? { ...event, rate_limit_info: { status: "allowed_warning", resetsAt: 1_794_830_400 } }
        : event,
    );
    expect(replay(stream)).toMatchObject(failedAs("quota", expect.any(String), null));
    expect(replay(recording("quota-left"), null, 0)).toMatchObject({ kind: "ok", answer: "hi" });
  });

  test.each<[number | null, FailureClass]>([
    [429, "quota"],
    [401, "auth"],
    [402, "auth"],
    [403, "auth"],
    [408, "outage"],
    [500, "outage"],
    [502, "outage"],
    [529, "outage"],
    [404, "fault"],
    [413, "fault"],
    [null, "outage"],
  ])("the status %s decides where the client names no kind: %s", (status, type) => {
    const stream = changed("bad-request", (event) =>
      event.type === "result" ? { ...event, api_error_status: status } : event,
    );
    expect(replay(stream)).toMatchObject(failedAs(type, expect.any(String)));
  });

  test("words decide nothing: a model that speaks of limits has not hit one", () => {
    const says = "API Error 429: rate limit, resets 12pm. authentication_failed prompt_too_long";
    const stream = changed("bad-request", (event) =>
      event.type === "result" ? { ...event, result: says, errors: [says] } : event,
    );
    expect(replay(stream)).toMatchObject(failedAs("fault", expect.stringContaining("429: rate limit")));
  });

  test("an error of a sub-agent's is not the turn's", () => {
    const [init = "", , result = ""] = recording("bad-request").split("\n");
    const [, spoken = ""] = recording("rate-limited").split("\n");
    const sub = JSON.stringify({ ...JSON.parse(spoken), parent_tool_use_id: "toolu_1" });
    expect(replay([init, sub, result].join("\n"))).toMatchObject(failedAs("fault", expect.any(String)));
  });

  test("a denied tool: a turn that failed was denied, one that got along was not", () => {
    expect(replay(recording("denied"), null, 0)).toMatchObject({ kind: "ok", answer: "done it" });
    const failed = changed("denied", (event) =>
      event.type === "result" ? { ...event, is_error: true, subtype: "error_during_execution" } : event,
    );
    expect(replay(failed)).toMatchObject(failedAs("denied", expect.any(String)));
    const out = changed("denied", (event) =>
      event.type === "result"
        ? { ...event, is_error: true, terminal_reason: "api_error", api_error_status: 529 }
        : event,
    );
    expect(replay(out)).toMatchObject(failedAs("outage", expect.any(String)));
  });
});

describe("B7 what it did", () => {
  const activityOf = (stream: string, projectDir = "/project") => {
    const finished = { exitCode: 0, answer: stream, stderr: "" };
    const end = readClaudeEnd(finished, { conversation: null }, projectDir);
    return end.kind === "ok" ? end.activity : end;
  };

  test("edits are counted per file, in the project by their short names", () => {
    const edits = { "a.txt": 2, "b/c.txt": 1 };
    expect(activityOf(recording("edits"))).toEqual({ toolCalls: 3, edits, reads: [], denials: [] });
  });

  test("a file outside of the project keeps its whole name", () => {
    const edits = { "/project/a.txt": 2, "c.txt": 1 };
    expect(activityOf(recording("edits"), "/project/b")).toEqual({
      toolCalls: 3,
      edits,
      reads: [],
      denials: [],
    });
  });

  test("a denied or failed edit is none, but a call", () => {
    const denials = ["Write", "Bash"];
    expect(activityOf(recording("denied"))).toEqual({ toolCalls: 2, edits: {}, reads: [], denials });
    const failed = changed("edits", (event) => {
      const text = JSON.stringify(event);
      const result = '"type":"tool_result"';
      return JSON.parse(
        event.type === "user" ? text.replace(result, `${result},"is_error":true`) : text,
      ) as object;
    });
    expect(activityOf(failed)).toEqual({ toolCalls: 3, edits: {}, reads: [], denials: [] });
  });

  test("sub-agents count; a message that is repeated counts once, a tool is named once", () => {
    const twice = (name: string) => recording(name) + recording(name);
    expect(activityOf(twice("sub-agent"))).toEqual({ toolCalls: 2, edits: {}, reads: [], denials: [] });
    expect(activityOf(twice("denied"))).toEqual({
      toolCalls: 2,
      edits: {},
      reads: [],
      denials: ["Write", "Bash"],
    });
  });

  test("nothing is something: no calls", () => {
    expect(activityOf(recording("retried"))).toEqual({ toolCalls: 0, edits: {}, reads: [], denials: [] });
  });
});

describe("what is shown while it works", () => {
  test("text, tools, files, and what the end used", () => {
    expect(watch(recording("edits"))).toEqual([
      { type: "text", text: "a" },
      { type: "tool", name: "Write", detail: "a.txt" },
      { type: "file", path: "a.txt" },
      { type: "tool", name: "Write", detail: "b/c.txt" },
      { type: "file", path: "b/c.txt" },
      { type: "tool", name: "Edit", detail: "a.txt" },
      { type: "file", path: "a.txt" },
      { type: "text", text: "all done" },
      { type: "usage", usage: { costUsd: expect.closeTo(0.0024), inputTokens: 300, outputTokens: 60 } },
    ]);
  });

  test("what was denied, and what a sub-agent does but not what it says to its own", () => {
    expect(watch(recording("denied")).filter(({ type }) => type === "permission")).toEqual([
      { type: "permission", tool: "Write", answer: "denied" },
      { type: "permission", tool: "Bash", answer: "denied" },
    ]);
    expect(watch(recording("sub-agent")).filter(({ type }) => type !== "usage")).toEqual([
      { type: "text", text: "I will delegate" },
      { type: "tool", name: "Agent", detail: "look" },
      { type: "tool", name: "Bash", detail: "ls" },
      { type: "text", text: "all done" },
      { type: "text", text: "ok" },
    ]);
  });

  test("B13 that the client tries again by itself, with the class of the trouble", () => {
    expect(watch(recording("retried"))[0]).toEqual({
      type: "failure",
      failure: { class: "outage", reason: "claude retries: overloaded 529", resetsAt: null },
    });
  });

  test.each([
    "",
    "null",
    "{",
    '{"type":"assistant"}',
    '{"type":"assistant","message":{"content":"x"}}',
    "plain",
  ])("%j shows nothing", (line) => expect(readActivityLine(line, "/project")).toEqual([]));
});
