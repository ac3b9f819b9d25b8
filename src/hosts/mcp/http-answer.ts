/** The answer to one HTTP request of a guest: JSON, or a stream of events as soon as a call has something to say. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { eraOverHttp, isKnownVersion } from "./era.ts";
import { cancelCalls, type Guest, openSession } from "./guest.ts";
import { cancelledId, type McpRequest, parseMessage } from "./message.ts";
import { answerRequest } from "./offer.ts";

export async function answerGuest(
  guest: Guest,
  body: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const message = parseMessage(body);
  const session = request.headers["mcp-session-id"]?.toString() ?? null;
  switch (message.kind) {
    case "wrong":
      return sendJson(response, 400, message.answer);
    case "notification":
      if (!isKnownVersion(request.headers["mcp-protocol-version"])) return void response.writeHead(400).end();
      if (message.method === "notifications/cancelled")
        cancelCalls(guest, (call) => call.id === cancelledId(message.params) && call.session === session);
      return void response.writeHead(202).end();
    case "answer":
      return void response.writeHead(202).end();
    case "request":
      return answerOne(guest, message, session, request, response);
  }
}

async function answerOne(
  guest: Guest,
  message: McpRequest,
  session: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const era = eraOverHttp(message, request.headers);
  const asked = answerRequest(guest.offer(), message, era);
  if (asked.kind === "line") {
    if (era.kind === "handshake" && message.method === "initialize")
      response.setHeader("Mcp-Session-Id", openSession(guest));
    return sendJson(response, asked.status, asked.line);
  }
  const cancelled = new AbortController();
  const call = { id: message.id, session, cancel: () => cancelled.abort() };
  guest.calls.add(call);
  // the client disconnected, unless the answer was sent
  response.once("close", call.cancel);
  cancelled.signal.addEventListener("abort", () => endUnanswered(response));
  const canStream = request.headers.accept?.includes("text/event-stream") ?? false;
  const line = await asked.run(AbortSignal.any([guest.gone.signal, cancelled.signal]), (note) => {
    if (canStream && !response.writableEnded) sendEvent(response, note);
  });
  guest.calls.delete(call);
  if (cancelled.signal.aborted) return;
  if (response.headersSent) sendEvent(response, line).end();
  else sendJson(response, 200, line);
}

/** The protocol wants no answer to a cancelled call. */
function endUnanswered(response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(202);
  response.end();
}

export function sendJson(response: ServerResponse, status: number, text: string): void {
  response.setHeader("Content-Type", "application/json");
  response.writeHead(status).end(text);
}

/** The first event turns the answer into a stream. */
function sendEvent(response: ServerResponse, line: string): ServerResponse {
  if (!response.headersSent)
    response.writeHead(200, {
      ...{ "Content-Type": "text/event-stream", "Cache-Control": "no-cache" },
      "X-Accel-Buffering": "no",
    });
  response.write(`event: message\ndata: ${line}\n`);
  return response;
}
