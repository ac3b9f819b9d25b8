import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOOK_EVENTS, parsePayload } from "../../../src/hosts/claude-code/hooks/payload.ts";

/** As the client writes it to a command hook (measured). */
const STOP = {
  session_id: "5d2f7a10-aaaa-4bbb-8ccc-0123456789ab",
  transcript_path: "/home/x/t.jsonl",
  cwd: "/project",
  prompt_id: "p-1",
  permission_mode: "default",
  effort: { level: "medium" },
  hook_event_name: "Stop",
  stop_hook_active: false,
  last_assistant_message: 'two\nlines with "quotes", `ticks` and $(x)',
  background_tasks: [],
  session_crons: [],
};

const TOOL = {
  ...STOP,
  hook_event_name: "PostToolUse",
  agent_id: "a1",
  tool_name: "Bash",
  tool_use_id: "toolu_1",
  tool_input: { command: "npm test" },
  tool_response: { stdout: "ok", stderr: "" },
  duration_ms: 23,
};

/** What a tool hook makes of it: every value is text, objects are JSON text, what is not there is empty. */
function asStrings(input: object): Record<string, string> {
  const fields =
    "agent_id tool_name tool_use_id tool_input tool_response duration_ms error error_details prompt source reason";
  const blank = Object.fromEntries(fields.split(" ").map((name) => [name, ""]));
  const texts = Object.entries(input).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return { ...blank, ...Object.fromEntries(texts) };
}

describe("D1 both forms of a hook come out the same", () => {
  test.each([
    ["Stop", STOP],
    ["PostToolUse", TOOL],
    ["a tool that answers with text", { ...TOOL, tool_response: "it worked" }],
    ["a tool that answers with a list", { ...TOOL, tool_response: [1, 2] }],
    ["StopFailure", { ...STOP, hook_event_name: "StopFailure", error: "rate_limit", error_details: "429" }],
    ["SessionEnd", { ...STOP, hook_event_name: "SessionEnd", reason: "clear" }],
    ["SessionStart", { ...STOP, hook_event_name: "SessionStart", source: "resume" }],
  ])("%s", (_, input) => {
    const parsed = parsePayload(input);
    expect(parsed).not.toBeNull();
    const bare = { toolInput: parsed?.toolInput ?? "", toolResponse: parsed?.toolResponse ?? "" };
    expect(parsePayload(asStrings(input))).toEqual({ ...parsed, ...bare });
  });

  test("every field is where it belongs", () => {
    expect(parsePayload(TOOL)).toEqual({
      event: "PostToolUse",
      session: STOP.session_id,
      promptId: "p-1",
      transcript: "/home/x/t.jsonl",
      cwd: "/project",
      agentId: "a1",
      prompt: "",
      answer: STOP.last_assistant_message,
      source: "",
      error: "",
      errorDetails: "",
      tool: "Bash",
      toolUseId: "toolu_1",
      toolInput: { command: "npm test" },
      toolResponse: { stdout: "ok", stderr: "" },
      durationMs: 23,
    });
    expect(parsePayload({ ...STOP, hook_event_name: "SessionEnd", reason: "clear" })?.source).toBe("clear");
    expect(parsePayload({ ...STOP, transcript_path: "" })?.transcript).toBeNull();
  });
});

describe("H5 nothing in it is trusted to be there", () => {
  test.each([null, undefined, 5, "Stop", [], {}, { hook_event_name: "PreCompact" }, { hook_event_name: 5 }])(
    "%j is none of our events",
    (input) => {
      expect(parsePayload(input)).toBeNull();
    },
  );

  test("a field of the wrong kind is an empty one", () => {
    const broken = {
      hook_event_name: "Stop",
      session_id: 5,
      prompt_id: null,
      transcript_path: {},
      prompt: [],
    };
    expect(parsePayload(broken)).toMatchObject({ session: "", promptId: "", transcript: null, prompt: "" });
  });

  test.each([
    ["", null],
    ["12", 12],
    [0, 0],
    ["soon", null],
    [undefined, null],
    [null, null],
    [Number.NaN, null],
    [{}, null],
    [[], null],
    [true, null],
    [{ valueOf: 1, toString: 1 }, null],
  ])("a duration of %j is %j", (given, durationMs) => {
    expect(parsePayload({ ...TOOL, duration_ms: given })?.durationMs).toBe(durationMs);
  });

  test("JSON that is torn stays text", () => {
    expect(parsePayload({ ...TOOL, tool_input: '{"command":' })?.toolInput).toBe('{"command":');
  });

  test("whatever comes, nothing is thrown and the event is one of ours", () => {
    const fields = fc.dictionary(fc.constantFrom(...Object.keys(TOOL)), fc.anything());
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fields),
        fc.constantFrom(...HOOK_EVENTS, "Other"),
        (input, name) => {
          const given =
            typeof input === "object" && input !== null ? { ...input, hook_event_name: name } : input;
          const parsed = parsePayload(given);
          if (parsed === null) expect(given === input || name === "Other" || Array.isArray(input)).toBe(true);
          else expect(HOOK_EVENTS).toContain(parsed.event);
        },
      ),
    );
  });
});
