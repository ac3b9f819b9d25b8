/** Codex: hooks in `hooks.json`, in Claude Code's form. */
import { type Fields, fieldOf, isFields, textOf } from "../../conversation/fields.ts";
import { addUp, after } from "../record-lines.ts";
import { renderLikeClaude } from "../render.ts";
import { readNamed, type StopClient, type Told, type TurnFacts } from "./client.ts";

const EVENTS = { stop: "Stop", prompt: "UserPromptSubmit", start: "SessionStart" } as const;
const NAMES = {
  session: "session_id",
  promptId: "turn_id",
  answer: "last_assistant_message",
  transcript: "transcript_path",
};

export const codex: StopClient = {
  name: "codex",
  title: "Codex",
  commandName: "$loop",
  cap: 0,
  givesContext: true,
  steers: true,
  read: (input) => readNamed(input, NAMES),
  render: (event, answer) => renderLikeClaude(EVENTS, event, answer),
  readTurn,
};

const CALLS = new Set(["function_call", "custom_tool_call", "local_shell_call", "web_search_call"]);

/** The hook reports the answer. The transcript has the tool calls and tokens since the last prompt. */
function readTurn(lines: readonly Fields[], { model }: Told): TurnFacts {
  const own = after(lines, ({ type, payload }) => type === "response_item" && isPrompt(payload));
  const payloads = own.map(({ payload }) => payload).filter(isFields);
  // the usage of one model request each
  const usages = payloads
    .filter(({ type }) => type === "token_count")
    .map(({ info }) => fieldOf(info, "last_token_usage"));
  return {
    answer: null,
    toolCalls: payloads.filter((payload) => CALLS.has(textOf(payload, "type"))).length,
    usage: addUp(usages, ["input_tokens", "output_tokens", "cached_input_tokens"], model),
  };
}

function isPrompt(payload: unknown): boolean {
  return isFields(payload) && payload.type === "message" && payload.role === "user";
}
