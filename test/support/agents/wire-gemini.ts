/** Google's generateContent and streamGenerateContent. */
import { sendJson } from "../claude/scripted-model.ts";
import { allText, callsIn, openStream, textIn, tokensIn, type Wire, wordsOf } from "./wire.ts";

interface Part {
  readonly text?: string;
  readonly functionResponse?: { readonly response: Readonly<Record<string, unknown>> };
}

interface GeminiRequest {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly Part[] }[];
  readonly systemInstruction?: { readonly parts?: readonly Part[] };
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
  readonly generationConfig?: { readonly responseMimeType?: string };
}

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

export const geminiWire: Wire = {
  name: "gemini",
  path: /:(generateContent|streamGenerateContent)$/,
  parse: (json) => {
    const { contents = [], systemInstruction, tools = [] } = json as GeminiRequest;
    return {
      system: allText(systemInstruction?.parts),
      tools: tools.flatMap((tool) => tool.functionDeclarations ?? []).map(({ name }) => name),
      messages: contents.map(({ role = "user", parts = [] }) => ({
        role: role === "model" ? "assistant" : role,
        text: allText(parts),
        results: parts.flatMap(({ functionResponse }) =>
          functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response)],
        ),
      })),
    };
  },
  answer: async (response, { path, json }, reply, id) => {
    if (reply.kind === "error") {
      const { status: code, message, headers } = reply;
      sendJson(response, code, { error: { code, message, status: STATUS[code] ?? "UNKNOWN" } }, headers);
      return;
    }
    const { input, output } = tokensIn(reply);
    const usageMetadata = {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    };
    const calls = callsIn(reply).map(({ name, input: args }, n) => ({
      functionCall: { id: `call_${id}_${n}`, name, args },
    }));
    const candidate = (parts: readonly object[], end: object = {}) => ({
      candidates: [{ index: 0, content: { role: "model", parts }, ...end }],
      usageMetadata,
      modelVersion: "scripted",
      responseId: id,
    });
    const end = { finishReason: "STOP" };
    if (!/stream/.test(path)) {
      const text = isJsonWanted(json) ? SMALL_ANSWER : textIn(reply);
      sendJson(response, 200, candidate([{ text }, ...calls], end));
      return;
    }
    const send = openStream(response);
    for await (const text of wordsOf(reply)) send(candidate([{ text }]));
    send(candidate(calls.length > 0 ? calls : [{ text: "" }], end));
    response.end();
  },
};

/** The client asks small questions of its own: which model to take, who speaks next. */
const SMALL_ANSWER = JSON.stringify({
  reasoning: "scripted",
  model_choice: "flash",
  complexity_score: 10,
  complexity_reasoning: "scripted",
  next_speaker: "user",
});

function isJsonWanted(json: object): boolean {
  return (json as GeminiRequest).generationConfig?.responseMimeType === "application/json";
}
