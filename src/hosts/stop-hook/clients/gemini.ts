/** Gemini CLI: hooks in `settings.json`, before and after the agent's part of a prompt. */
import { type Fields, isFields, textOf } from "../fields.ts";
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
 * The answer that it tells is no use after the first turn: it is that of all turns since the prompt, with a space
 * between any two pieces that came over the wire. The record has the messages one by one.
 */
function read(input: Fields): Told {
  const told = readNamed(input, NAMES);
  return input.stop_hook_active === true ? { ...told, answer: null } : told;
}

/** A message is written again with the calls that it led to: the last one of its id counts. */
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
      last === undefined ? "" : textOf(last, "model"),
    ),
  };
}

/** What tools returned is written down as the user's too. */
function isPrompt({ type, content }: Fields): boolean {
  if (type !== "user") return false;
  return !(Array.isArray(content) && content.some((part) => isFields(part) && "functionResponse" in part));
}
