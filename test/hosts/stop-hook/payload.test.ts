/** What clients tell and write down, as they were measured, in one form; and the answers in theirs. */
import { describe, expect, test } from "vitest";
import type { ConversationAnswer } from "../../../src/hosts/conversation/answer.ts";
import {
  CLIENT_EVENTS,
  CLIENT_NAMES,
  type ClientEvent,
  type ClientName,
  typedAt,
} from "../../../src/hosts/stop-hook/clients/client.ts";
import { CLIENTS } from "../../../src/hosts/stop-hook/clients/clients.ts";
import { isOwnCommand, ownCommand, sharedCommand } from "../../../src/hosts/stop-hook/install/shell.ts";

const TURN: ConversationAnswer = { kind: "context", text: "do it", message: "it begins" };
const LOCAL: ConversationAnswer = { kind: "local", text: "a list" };
const TELL: ConversationAnswer = { kind: "tell", message: "it is paused" };

const RENDERED: readonly (readonly [ClientName, ClientEvent, ConversationAnswer, object | null])[] = [
  ["codex", "stop", TURN, { decision: "block", reason: "do it", systemMessage: "it begins" }],
  ["codex", "prompt", LOCAL, { decision: "block", reason: "a list" }],
  ["codex", "end", TELL, null],
  ["gemini", "stop", TURN, { decision: "block", reason: "do it", systemMessage: "it begins" }],
  [
    "gemini",
    "prompt",
    TURN,
    {
      hookSpecificOutput: { hookEventName: "BeforeAgent", additionalContext: "do it" },
      systemMessage: "it begins",
    },
  ],
  ["gemini", "stop", TELL, { systemMessage: "it is paused" }],
  ["copilot", "stop", TURN, { decision: "block", reason: "do it" }],
  ["copilot", "prompt", TURN, { additionalContext: "do it" }],
  ["cursor", "stop", TURN, { followup_message: "do it" }],
  ["cursor", "stop", TELL, null],
  ["cursor", "prompt", LOCAL, { continue: false, user_message: "a list" }],
  ["cursor", "prompt", TURN, { continue: true }],
  ["opencode", "stop", TURN, TURN],
  ["opencode", "prompt", LOCAL, LOCAL],
];

describe("E5 D1 answers in the form of each client", () => {
  test.each(RENDERED)("E5 %s, %s: %o", (name, event, answer, wanted) => {
    const text = CLIENTS[name].render(event, answer);
    expect(text === "" ? null : JSON.parse(text)).toEqual(wanted);
  });

  test.each(CLIENT_NAMES)("E5 D2 %s: nothing to say is nothing printed, or a prompt let through", (name) => {
    for (const event of CLIENT_EVENTS) {
      const text = CLIENTS[name].render(event, { kind: "nothing" });
      expect(["", '{"continue":true}']).toContain(text);
    }
  });

  test.each(CLIENT_NAMES)("E5 H5 %s: what is of the wrong kind is what was not told", (name) => {
    const wrong = { session_id: 1, sessionId: [], conversation_id: {}, session: null, workspace_roots: "x" };
    const told = CLIENTS[name].read({
      ...wrong,
      prompt: 7,
      cwd: false,
      status: 3,
      transcript_path: 4,
      usage: "x",
    });
    expect(told).toMatchObject({ session: "", prompt: "", transcript: null, end: "ok" });
    expect(CLIENTS[name].read({ status: "constructor", end: "constructor" }).end).toBe("ok");
  });
});

describe("E5 B10 what a client wrote down of the turn that just ended", () => {
  test("E5 gemini: the last message alone, though the hook is told all of them run together", () => {
    const { read, readTurn } = CLIENTS.gemini;
    const told = read({ session_id: "s", prompt_response: "one one \ntwo two ", stop_hook_active: true });
    expect(told.answer).toBeNull();
    const call = { name: "run_shell_command", status: "success" };
    const lines = [
      { id: "a", type: "user", content: [{ text: "first" }] },
      { id: "b", type: "gemini", content: "EXIT_SIGNAL: true", tokens: { input: 9, output: 9, cached: 0 } },
      { id: "c", type: "user", content: [{ text: "second" }] },
      { id: "d", type: "gemini", content: "running", tokens: { input: 10, output: 1, cached: 4 } },
      {
        id: "d",
        type: "gemini",
        content: "running",
        tokens: { input: 10, output: 1, cached: 4 },
        toolCalls: [call],
      },
      { id: "e", type: "user", content: [{ functionResponse: { name: "run_shell_command" } }] },
      { $set: { lastUpdated: "now" } },
      { id: "f", type: "gemini", content: "done", tokens: { input: 12, output: 2, cached: 0 }, model: "g" },
    ];
    expect(readTurn?.(lines, told)).toEqual({
      answer: "done",
      toolCalls: 1,
      usage: { costUsd: null, inputTokens: 22, outputTokens: 3, cacheReadTokens: 4, model: "g" },
    });
    expect(readTurn?.(lines.slice(0, 5), told)).toMatchObject({ answer: null, toolCalls: 1 });
  });

  test("E5 copilot: message, calls and tokens since the last prompt", () => {
    const usage = { model: "gpt-4.1", inputTokens: 10, outputTokens: 2, cacheReadTokens: 3 };
    const lines = [
      { type: "assistant.message", data: { content: "before" } },
      { type: "user.message", data: { content: "go" } },
      { type: "session.usage_record", data: { usage } },
      { type: "assistant.message", data: { content: "running", toolRequests: [{}] } },
      { type: "tool.execution_complete", data: { success: true } },
      { type: "session.usage_record", data: { usage } },
      { type: "assistant.message", data: { content: "said" } },
    ];
    expect(CLIENTS.copilot.readTurn?.(lines, CLIENTS.copilot.read({}))).toEqual({
      answer: "said",
      toolCalls: 1,
      usage: { costUsd: null, inputTokens: 20, outputTokens: 4, cacheReadTokens: 6, model: "gpt-4.1" },
    });
  });

  test("E5 codex: a text of ours is a prompt in its record, and calls before it are another turn's", () => {
    const count = (input: number) => ({
      type: "event_msg",
      payload: { type: "token_count", info: { last_token_usage: { input_tokens: input, output_tokens: 1 } } },
    });
    const message = (role: string) => ({ type: "response_item", payload: { type: "message", role } });
    const called = { type: "response_item", payload: { type: "function_call", name: "exec_command" } };
    const lines = [
      message("user"),
      called,
      count(5),
      message("user"),
      called,
      called,
      count(7),
      message("assistant"),
    ];
    const told = CLIENTS.codex.read({ model: "gpt-5-codex", last_assistant_message: "x" });
    expect(CLIENTS.codex.readTurn?.(lines, told)).toEqual({
      answer: null,
      toolCalls: 2,
      usage: { costUsd: null, inputTokens: 7, outputTokens: 1, model: "gpt-5-codex" },
    });
  });
});

describe("E5 what reaches us", () => {
  test("E5 copilot: at a terminal its command comes as the text of the skill, with the words at the end", () => {
    const head = `The user explicitly invoked the "/loopwright" skill. Follow its instructions now.\n\n<skill-context name="loopwright">\nBase directory for this skill: /x\n\nLoopwright answers this command itself.\n`;
    const read = (prompt: string) => CLIENTS.copilot.read({ prompt }).prompt;
    expect(read(`${head}\n\nARGUMENTS: until "x" do\nit\n</skill-context>`)).toBe(
      '/loopwright until "x" do\nit',
    );
    expect(typedAt(read(`${head}</skill-context>`))).toBe("");
    expect(read(`He said: ${head}`)).toContain("He said");
    expect(read(head.replaceAll("loopwright", "other"))).toContain("/other");
  });

  test.each([
    ["/loop until x", "until x"],
    ["$loop list", "list"],
    ["/loopwright status\nnow", "status\nnow"],
    ["/prompts:loop help", "help"],
    ["  /loop  ", ""],
    ["/loops", null],
    ["please /loop", null],
    ["loop until x", null],
    ["/looper x", null],
  ])("E5 %j is %j", (prompt, typed) => {
    expect(typedAt(prompt)).toBe(typed);
  });

  test("E5 D13 our commands are known again, and those of others and for other clients are not", () => {
    for (const event of CLIENT_EVENTS) {
      expect(isOwnCommand(ownCommand("/home/it's/hooks", "codex", event), "codex")).toBe(true);
      expect(isOwnCommand(sharedCommand("codex", event), "codex")).toBe(true);
      expect(isOwnCommand(sharedCommand("gemini", event), "codex")).toBe(false);
    }
    for (const command of [
      "loop up",
      "echo loop hook",
      "my-loop-hooks codex stop",
      'node "x/hook.cjs" Stop',
      7,
    ])
      expect(isOwnCommand(command, "codex")).toBe(false);
  });
});
