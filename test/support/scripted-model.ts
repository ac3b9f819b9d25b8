/**
 * A Messages API on loopback that says what a test tells it to. Enough of the protocol for Claude Code:
 * streamed and plain answers, errors with a status, and a request that is never answered.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Reply =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "error"; readonly status: number; readonly type: string; readonly message: string }
  | { readonly kind: "silence" };

export interface ScriptedModel {
  readonly url: string;
  /** The text of the last user message of every request so far. */
  readonly prompts: readonly string[];
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

const USAGE = {
  input_tokens: 1_000,
  output_tokens: 50,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

export async function startScriptedModel(reply: Reply): Promise<ScriptedModel> {
  const prompts: string[] = [];
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
      prompts.push(lastUserText(body));
      answer(response, body, reply);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    prompts,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, request: MessagesRequest, reply: Reply): void {
  if (reply.kind === "silence") return;
  if (reply.kind === "error") {
    sendJson(response, reply.status, { type: "error", error: { type: reply.type, message: reply.message } });
    return;
  }
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: request.model,
    stop_sequence: null,
  };
  if (request.stream !== true) {
    const content = [{ type: "text", text: reply.text }];
    sendJson(response, 200, { ...message, content, stop_reason: "end_turn", usage: USAGE });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  send("message_start", {
    message: { ...message, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
  });
  send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  send("content_block_delta", { index: 0, delta: { type: "text_delta", text: reply.text } });
  send("content_block_stop", { index: 0 });
  send("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: USAGE });
  send("message_stop", {});
  response.end();
}

function lastUserText(request: MessagesRequest): string {
  const content = request.messages.findLast((message) => message.role === "user")?.content ?? "";
  if (typeof content === "string") return content;
  return content.map((block) => block.text ?? "").join("\n");
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
