/** Anthropic's Messages API, as scripted-model.ts speaks it. */
import { answer, type MessagesRequest, resultsOf, textOf } from "../claude/scripted-model.ts";
import type { Wire } from "./wire.ts";

export const messagesWire: Wire = {
  name: "messages",
  path: /\/v1\/messages$/,
  parse: (json) => {
    const { system, tools, messages } = json as MessagesRequest;
    return {
      system: textOf(system ?? ""),
      tools: (tools ?? []).map(({ name }) => name),
      messages: messages.map(({ role, content }) => ({
        role,
        text: textOf(content),
        results: resultsOf(content),
      })),
    };
  },
  answer: (response, { json }, reply, id) => answer(response, json as MessagesRequest, reply, id),
};
