/** OpenAI's two forms: chat completions, which most compatible vendors speak, and responses, which Codex speaks. */
import type { ServerResponse } from "node:http";
import { type Answer, type Asked, type Message, sendJson } from "../claude/scripted-model.ts";
import {
  allText,
  callsIn,
  type Failed,
  openStream,
  type Request,
  textIn,
  tokensIn,
  type Wire,
  wordsOf,
} from "./wire.ts";

interface Tool {
  readonly type: string;
  readonly name?: string;
  readonly function?: { readonly name: string };
  /** Of a namespace. */
  readonly tools?: readonly Tool[];
}

interface OpenAiRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly input?:
    | string
    | readonly { readonly type?: string; readonly role?: string; readonly content?: unknown }[];
}

export const chatWire: Wire = {
  name: "chat",
  path: /\/chat\/completions$/,
  parse: (json) => {
    const { messages = [], tools } = json as OpenAiRequest;
    return asked(
      messages.map(({ role, content }) => said(role, content, role === "tool")),
      tools,
    );
  },
  answer: (response, request, reply, id) =>
    reply.kind === "error" ? refuse(response, reply) : answerChat(response, request, reply, id),
};

export const responsesWire: Wire = {
  name: "responses",
  path: /\/responses$/,
  parse: (json) => {
    const { input = [], tools, instructions = "" } = json as OpenAiRequest;
    const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
    const messages = items.flatMap((item) => {
      if ("type" in item && /_output$/.test(item.type ?? "")) return [said("tool", item, true)];
      return item.role === undefined ? [] : [said(item.role, item.content, false)];
    });
    return asked([{ role: "system", text: instructions, results: [] }, ...messages], tools);
  },
  answer: (response, request, reply, id) =>
    reply.kind === "error" ? refuse(response, reply) : answerResponses(response, request, reply, id),
};

function said(role: string, content: unknown, isResult: boolean): Message {
  const text = allText(content);
  const known = role === "developer" ? "system" : role;
  return isResult ? { role: known, text: "", results: [text] } : { role: known, text, results: [] };
}

function asked(all: readonly Message[], tools: readonly Tool[] = []): Asked {
  const isSystem = ({ role }: Message) => role === "system";
  return {
    system: all
      .filter(isSystem)
      .map(({ text }) => text)
      .join("\n"),
    tools: tools.flatMap(namesOf),
    messages: all.filter((message) => !isSystem(message)),
  };
}

/** Tools of a namespace are called as `<namespace>::<name>` here. */
function namesOf(tool: Tool): readonly string[] {
  const name = tool.name ?? tool.function?.name ?? tool.type;
  if (tool.type !== "namespace") return [name];
  return (tool.tools ?? []).flatMap(namesOf).map((inner) => `${name}::${inner}`);
}

async function refuse(response: ServerResponse, { status, type, message, headers }: Failed): Promise<void> {
  const code = status === 429 ? "rate_limit_exceeded" : status === 401 ? "invalid_api_key" : null;
  const known = status === 401 ? "invalid_request_error" : status >= 500 ? "server_error" : type;
  sendJson(response, status, { error: { message, type: known, param: null, code } }, headers);
}

async function answerChat(
  response: ServerResponse,
  { json }: Request,
  reply: Answer,
  id: string,
): Promise<void> {
  const { model, stream } = json as OpenAiRequest;
  const { input, output } = tokensIn(reply);
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const calls = callsIn(reply).map(({ name, input: args }, index) => ({
    index,
    id: `call_${id}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  const base = { id: `chatcmpl-${id}`, created: 1, model };
  if (stream !== true) {
    const message = {
      role: "assistant",
      content: textIn(reply),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const choices = [{ index: 0, message, finish_reason }];
    sendJson(response, 200, { ...base, object: "chat.completion", choices, usage });
    return;
  }
  const send = openStream(response);
  const chunk = (delta: object, reason: string | null = null) =>
    send({
      ...base,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
  chunk({ role: "assistant", content: "" });
  for await (const content of wordsOf(reply)) chunk({ content });
  if (calls.length > 0) chunk({ tool_calls: calls });
  chunk({}, finish_reason);
  send({ ...base, object: "chat.completion.chunk", choices: [], usage });
  send("[DONE]");
  response.end();
}

async function answerResponses(
  response: ServerResponse,
  { json }: Request,
  reply: Answer,
  id: string,
): Promise<void> {
  const request = json as OpenAiRequest;
  const begun = { id: `resp_${id}`, object: "response", created_at: 1, model: request.model };
  const { input, output } = tokensIn(reply);
  const usage = {
    ...{ input_tokens: input, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: 0 } },
    total_tokens: input + output,
  };
  const text = textIn(reply);
  const message = {
    ...{ type: "message", id: `msg_${id}`, role: "assistant", status: "completed" },
    content: [{ type: "output_text", text, annotations: [] }],
  };
  const items = [...(text === "" ? [] : [message]), ...callItems(request, reply, id)];
  const done = { ...begun, status: "completed", output: items, usage };
  if (request.stream !== true) {
    sendJson(response, 200, done);
    return;
  }
  const stream = openStream(response);
  let sequence_number = 0;
  const send = (type: string, data: object) => {
    stream({ type, sequence_number, ...data }, type);
    sequence_number += 1;
  };
  send("response.created", { response: { ...begun, status: "in_progress", output: [], usage: null } });
  for (const [output_index, item] of items.entries()) {
    const empty = item === message ? { content: [] } : { arguments: "" };
    send("response.output_item.added", { output_index, item: { ...item, ...empty, status: "in_progress" } });
    if (item === message)
      for await (const delta of wordsOf(reply))
        send("response.output_text.delta", { item_id: item.id, output_index, content_index: 0, delta });
    send("response.output_item.done", { output_index, item });
  }
  send("response.completed", { response: done });
  response.end();
}

/** A tool that takes free text instead of arguments is called with the `input` that it was given. */
function callItems({ tools = [] }: OpenAiRequest, reply: Answer, id: string): readonly { id: string }[] {
  return callsIn(reply).map(({ name: full, input }, n) => {
    const [name = full, namespace] = full.split("::").reverse();
    const item = { id: `fc_${id}_${n}`, call_id: `call_${id}_${n}`, name, status: "completed" };
    const isFree = tools.some((tool) => tool.type === "custom" && tool.name === name);
    if (isFree) return { ...item, type: "custom_tool_call", input: (input as { input: string }).input };
    return {
      ...item,
      type: "function_call",
      arguments: JSON.stringify(input),
      ...(namespace === undefined ? {} : { namespace }),
    };
  });
}
