/** GitHub Copilot CLI: hooks in separate files. The transcript, not the stop hook, has the answer and the tool calls. */
import type { ConversationAnswer } from "../../conversation/answer.ts";
import { type Fields, fieldOf, isFields, textOf } from "../../conversation/fields.ts";
import { addUp, after } from "../record-lines.ts";
import { type ClientEvent, readNamed, type StopClient, type Told, type TurnFacts } from "./client.ts";

export const copilot: StopClient = {
  name: "copilot",
  title: "GitHub Copilot CLI",
  commandName: "/loopwright",
  cap: 8,
  givesContext: true,
  steers: false,
  read,
  render,
  readTurn,
};

function read(input: Fields): Told {
  const told = readNamed(input, { session: "sessionId", transcript: "transcriptPath" });
  return { ...told, prompt: asTyped(told.prompt) };
}

/** In a terminal the hook gets the expanded command: the text of our skill with the arguments at its end. */
function asTyped(prompt: string): string {
  if (!INVOKED.test(prompt)) return prompt;
  const [, words = ""] = /\nARGUMENTS: ([\s\S]*)\n<\/skill-context>\s*$/.exec(prompt) ?? [];
  return `/loopwright ${words}`;
}

const INVOKED =
  /^The user explicitly invoked the "\/loopwright" skill\.[^\n]*\n\n<skill-context name="loopwright">\n/;

function render(event: ClientEvent, answer: ConversationAnswer): string {
  switch (answer.kind) {
    case "context":
      return JSON.stringify(
        event === "stop" ? { decision: "block", reason: answer.text } : { additionalContext: answer.text },
      );
    case "local":
      return JSON.stringify({ decision: "block", reason: answer.text });
    case "tell":
      return JSON.stringify({ systemMessage: answer.message });
    default:
      return "";
  }
}

function readTurn(lines: readonly Fields[]): TurnFacts {
  const own = after(lines, ({ type }) => type === "user.message");
  const dataOf = (type: string) => own.filter((line) => line.type === type).map(({ data }) => data);
  const last = dataOf("assistant.message").findLast(isFields);
  const usages = dataOf("session.usage_record").map((data) => fieldOf(data, "usage"));
  return {
    answer: last === undefined ? null : textOf(last, "content"),
    toolCalls: dataOf("tool.execution_complete").length,
    usage: addUp(
      usages,
      ["inputTokens", "outputTokens", "cacheReadTokens"],
      textOf(usages.findLast(isFields), "model"),
    ),
  };
}
