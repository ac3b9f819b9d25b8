import { describe, expect, test } from "vitest";
import { parsePayload } from "../../../src/hosts/claude-code/hooks/payload.ts";
import { claudeEvent, isOurCall } from "../../../src/hosts/claude-code/hooks/to-event.ts";
import { asNotification } from "../../support/played-client.ts";

function payloadOf(event: string, fields: object = {}) {
  const base = { hook_event_name: event, session_id: "s-1", prompt_id: "p-1", transcript_path: "/t.jsonl" };
  const payload = parsePayload({ ...base, ...fields });
  if (payload === null) throw new Error("it is no payload");
  return payload;
}

describe("D1 what a hook tells, as an event of the conversation", () => {
  test.each<readonly [string, object, object | null]>([
    ["Stop", { last_assistant_message: "done" }, { type: "stopped", answer: "done" }],
    ["StopFailure", { error: "rate_limit" }, { type: "failed", failure: { class: "quota" } }],
    ["StopFailure", { error: "constructor" }, { type: "failed", failure: { class: "outage" } }],
    ["UserPromptSubmit", { prompt: "hello" }, { type: "prompted", wake: null }],
    [
      "UserPromptSubmit",
      { prompt: asNotification("x [wake 0123456789ab]") },
      { type: "prompted", wake: "0123456789ab" },
    ],
    ["UserPromptSubmit", { prompt: "/loopwright list" }, null],
    ["UserPromptExpansion", { prompt: "/loopwright:loop 5m check" }, { type: "typed", words: "5m check" }],
    ["UserPromptExpansion", { prompt: "/review" }, { type: "other" }],
    ["Notification", {}, { type: "idle" }],
    ["SessionStart", { source: "resume" }, { type: "session-started", isCompacted: false }],
    ["SessionStart", { source: "compact" }, { type: "session-started", isCompacted: true }],
    ["SessionEnd", { reason: "clear" }, { type: "session-ended" }],
    ["PreToolUse", { tool_name: "Bash" }, null],
  ])("%s with %j", (event, fields, expected) => {
    const made = claudeEvent(payloadOf(event, fields));
    if (expected === null) expect(made).toBeNull();
    else expect(made).toMatchObject({ promptId: "p-1", transcript: "/t.jsonl", ...expected });
  });

  test("D7 a call of a tool: who made it, how it went, and what it ran", () => {
    const fields = {
      tool_name: "Bash",
      tool_use_id: "t-1",
      tool_input: { command: "npm test" },
      duration_ms: 5,
    };
    expect(
      claudeEvent(payloadOf("PostToolUse", { ...fields, tool_response: { stdout: "ok" } })),
    ).toMatchObject({
      type: "tool",
      used: {
        tool: "Bash",
        id: "t-1",
        isOk: true,
        durationMs: 5,
        isOfSubAgent: false,
        ran: { command: "npm test", exitCode: 0, output: "ok" },
      },
    });
    const failed = { ...fields, agent_id: "a-1", error: "Exit code 2\nno" };
    expect(claudeEvent(payloadOf("PostToolUseFailure", failed))).toMatchObject({
      used: { isOk: false, isOfSubAgent: true, ran: { exitCode: 2 } },
    });
  });

  test.each([
    ["PreToolUse", "mcp__plugin_loopwright_loop__loop_status", true],
    ["PreToolUse", "mcp__plugin_loopwright_loop__hook", false],
    ["PreToolUse", "Bash", false],
    ["PostToolUse", "mcp__plugin_loopwright_loop__loop_status", false],
  ])("%s of %s needs no question: %s", (event, tool, isOurs) => {
    expect(isOurCall(payloadOf(event, { tool_name: tool }))).toBe(isOurs);
  });
});
