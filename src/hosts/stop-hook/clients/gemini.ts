/** Gemini CLI: hooks in `settings.json`, before and after the agent runs. */
import { type Fields, isFields, textOf } from "../../conversation/fields.ts";
import { addUp, after } from "../record-lines.ts";
import { renderLikeClaude } from "../render.ts";
import { readNamed, type StopClient, type Told, type TurnFacts } from "./client.ts";

const EVENTS = { stop: "AfterAgent", prompt: "BeforeAgent", start: "SessionStart" } as const;
const NAMES = { session: "session_id", answer: "prompt_response", transcript: "transcript_path" };

export const gemini: StopClient = {
  name: "gemini",
  title: "Gemini CLI",
  commandName: "/loop",
  cap: 0,
  givesContext: true,
  steers: false,
  read,
  render: (event, answer) => renderLikeClaude(EVENTS, event, answer),
  readTurn,
};

/**
 * After the first turn the reported answer is useless: it joins all turns since the prompt, with spaces between the
 * streamed pieces. The transcript has the separate messages.
 */
function read(input: Fields): Told {
  const told = readNamed(input, NAMES);
  return input.stop_hook_active === true ? { ...told, answer: null } : told;
}

/** The transcript repeats a message together with its tool calls; the last line of an id counts. */
function readTurn(lines: readonly Fields[]): TurnFacts {
  const own = after(lines, isPrompt).filter(({ type }) => type === "gemini");
  const messages = [...new Map(own.map((message) => [message.id, message])).values()];
  const calls = messages.map(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls.length : 0));
  const last = messages.at(-1);
  const hasEnded = last !== undefined && (calls.at(-1) ?? 0) === 0;
  return {
    answer: hasEnded ? textOf(last, "content") : null,
    toolCalls: calls.reduce((sum, count) => sum + count, 0),
    usage: addUp(
      messages.map(({ tokens }) => tokens),
      ["input", "output", "cached"],
      textOf(last, "model"),
    ),
  };
}

/** Tool results are user messages too. */
function isPrompt({ type, content }: Fields): boolean {
  if (type !== "user") return false;
  return !(Array.isArray(content) && content.some((part) => isFields(part) && "functionResponse" in part));
}
