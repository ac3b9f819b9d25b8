/**
 * A Messages API on loopback that says what a test tells it to. Enough of the protocol for Claude Code:
 * streamed and plain answers, calls of tools, errors with a status and headers, and a request that is never answered.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Reply =
  | { readonly kind: "text"; readonly text: string; readonly tokens?: Tokens }
  | { readonly kind: "tool"; readonly name: string; readonly input: object; readonly tokens?: Tokens }
  | {
      readonly kind: "error";
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "silence" };

/** What an answer is said to have used, in and out. */
export type Tokens = readonly [number, number];

/** A reply, or how it follows from what was asked. */
export type Script = Reply | ((asked: Asked) => Reply);

export interface Asked {
  /** Who said it, and the text; calls of tools and their results have none. */
  readonly messages: readonly { readonly role: string; readonly text: string }[];
}

export interface ScriptedModel {
  readonly url: string;
  /** The text of the last user message of every request so far. */
  readonly prompts: readonly string[];
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

interface Block {
  readonly type: string;
  readonly text?: string;
}

interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

const TOKENS: Tokens = [1_000, 50];

/** One reply after the other; the last one stays. */
export async function startScriptedModel(...scripts: readonly [Script, ...Script[]]): Promise<ScriptedModel> {
  const prompts: string[] = [];
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      if (request.method !== "POST" || pathname !== "/v1/messages") {
        sendJson(response, 404, { type: "error", error: { type: "not_found_error", message: pathname } });
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as MessagesRequest;
      const script = scripts[Math.min(prompts.length, scripts.length - 1)] ?? scripts[0];
      const now = { messages: body.messages.map(({ role, content }) => ({ role, text: textOf(content) })) };
      asked.push(now);
      prompts.push(now.messages.findLast(({ role }) => role === "user")?.text ?? "");
      answer(response, body, typeof script === "function" ? script(now) : script, `${prompts.length}`);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    prompts,
    asked,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, request: MessagesRequest, reply: Reply, id: string): void {
  if (reply.kind === "silence") return;
  if (reply.kind === "error") {
    const { status, type, message, headers } = reply;
    sendJson(response, status, { type: "error", error: { type, message } }, headers);
    return;
  }
  const usage = usageOf(reply.tokens ?? TOKENS);
  const stop = { stop_reason: reply.kind === "tool" ? "tool_use" : "end_turn", stop_sequence: null };
  const message = { id: `msg_${id}`, type: "message", role: "assistant", model: request.model };
  const block =
    reply.kind === "tool"
      ? { type: "tool_use", id: `toolu_${id}`, name: reply.name, input: reply.input }
      : { type: "text", text: reply.text };
  if (request.stream !== true) {
    sendJson(response, 200, { ...message, ...stop, content: [block], usage });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null };
  send("message_start", { message: { ...begun, usage: { ...usage, output_tokens: 1 } } });
  const [empty, delta] =
    reply.kind === "tool"
      ? [{ input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(reply.input) }]
      : [{ text: "" }, { type: "text_delta", text: reply.text }];
  send("content_block_start", { index: 0, content_block: { ...block, ...empty } });
  send("content_block_delta", { index: 0, delta });
  send("content_block_stop", { index: 0 });
  send("message_delta", { delta: stop, usage });
  send("message_stop", {});
  response.end();
}

function usageOf([input_tokens, output_tokens]: Tokens): object {
  return { input_tokens, output_tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
}

function textOf(content: MessagesRequest["messages"][number]["content"]): string {
  if (typeof content === "string") return content;
  return content.map((block) => block.text ?? "").join("\n");
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
