/** Renders answers for clients that use Claude Code's form. */
import type { ConversationAnswer } from "../conversation/answer.ts";
import type { ClientEvent } from "./clients/client.ts";

/** `names`: the client's names of the events that can be answered. */
export function renderLikeClaude(
  names: Readonly<Partial<Record<ClientEvent, string>>>,
  event: ClientEvent,
  answer: ConversationAnswer,
): string {
  const hookEventName = names[event];
  if (hookEventName === undefined) return "";
  switch (answer.kind) {
    case "nothing":
      return "";
    case "tell":
      return JSON.stringify({ systemMessage: answer.message });
    case "local":
      return JSON.stringify({ decision: "block", reason: answer.text });
    case "context": {
      const told = answer.message === undefined ? {} : { systemMessage: answer.message };
      return JSON.stringify(
        event === "stop"
          ? { decision: "block", reason: answer.text, ...told }
          : { hookSpecificOutput: { hookEventName, additionalContext: answer.text }, ...told },
      );
    }
  }
}
