/** Translates a client's hook input into an event of the conversation. */
import { makeFailure } from "../../agents/process/reasons.ts";
import type { ConversationEvent, PromptRef } from "../conversation/event.ts";
import type { ClientEvent, Told } from "./clients/client.ts";

/** `words`: the text of a loop command; null: not a loop command. */
export function clientEvent(
  event: Exclude<ClientEvent, "said">,
  told: Told,
  promptId: string,
  words: string | null,
): ConversationEvent {
  const at: PromptRef = { promptId, transcript: null };
  if (words !== null) return { ...at, type: "typed", words };
  switch (event) {
    case "stop":
      return toEnd(told, at);
    case "prompt":
      return { ...at, type: "prompted", wake: null };
    case "start":
      return { ...at, type: "session-started", isCompacted: told.source === "compact" };
    case "end":
      return { ...at, type: "session-ended" };
    case "interrupt":
      return { ...at, type: "idle" };
  }
}

function toEnd({ end, answer }: Told, at: PromptRef): ConversationEvent {
  if (end === "interrupted") return { ...at, type: "idle" };
  return end === "failed"
    ? { ...at, type: "failed", failure: FAILED }
    : { ...at, type: "stopped", answer: answer ?? "" };
}

/** These clients do not say why. */
const FAILED = makeFailure("outage", "the client's request failed: unknown");
