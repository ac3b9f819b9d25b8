/**
 * MCP over HTTP on loopback (Streamable HTTP with JSON answers), for agents that other programs start. Owns the port and
 * the access tokens; offer.ts has the answers.
 *
 * 1. Listens only on 127.0.0.1 and checks the Host and Origin headers, so a page in a browser has no access, also not by
 *    DNS rebinding.
 * 2. Every request needs a token that was issued and not revoked.
 * 3. The size and the time of a request are limited. An error is one sentence.
 * 4. Nothing here keeps the process alive, and no request ends the process.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Message, parseMessage } from "./message.ts";
import { answerRequest, type McpOffer, VERSIONS } from "./offer.ts";

export interface McpHttp {
  readonly url: string;
  /** Issues a token until `close`. `offer` is called for every request. */
  admit(offer: () => McpOffer): { readonly headers: Readonly<Record<string, string>>; close(): void };
  /** Revokes all tokens. */
  close(): Promise<void>;
}

interface Guest {
  /** Sent at `initialize`, for clients that want a session. Nothing depends on it. */
  readonly session: string;
  readonly offer: () => McpOffer;
  readonly gone: AbortController;
}

export interface McpHttpOptions {
  readonly maxBytes?: number;
  /** The limit for receiving a whole request. */
  readonly timeoutMs?: number;
}

const PATH = "/mcp";
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** Parallel agents have a few connections each. */
const MAX_CONNECTIONS = 256;

/** Rejects if no port is available. */
export async function listenMcp({
  maxBytes = MAX_BYTES,
  timeoutMs = TIMEOUT_MS,
}: McpHttpOptions = {}): Promise<McpHttp> {
  const guests = new Map<string, Guest>();
  const limits = {
    requestTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    connectionsCheckingInterval: Math.ceil(timeoutMs / 4),
  };
  const server = createServer(limits, (request, response) => {
    void serve(guests, request, response, maxBytes).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", (socket) => socket.unref());
  server.unref();
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    admit: (offer) => {
      const token = randomBytes(32).toString("base64url");
      const gone = new AbortController();
      guests.set(hashOf(token), { session: randomBytes(16).toString("hex"), offer, gone });
      return {
        headers: { Authorization: `Bearer ${token}` },
        close: () => {
          guests.delete(hashOf(token));
          gone.abort();
        },
      };
    },
    close: () =>
      new Promise((closed) => {
        for (const { gone } of guests.values()) gone.abort();
        guests.clear();
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((listening, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      // later errors concern single connections and must not end the process
      server.off("error", reject).on("error", () => {});
      listening((server.address() as AddressInfo).port);
    });
  });
}

/** Lookup by hash: the time of a lookup reveals nothing about a token. */
function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}

async function serve(
  guests: ReadonlyMap<string, Guest>,
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<void> {
  const refusal = refusalOf(request);
  if (refusal !== null) return refuse(response, refusal);
  const guest = guestOf(guests, request);
  if (guest === null) return refuse(response, NO_TOKEN);
  const wrong = wrongIn(request, guest);
  if (wrong !== null) return refuse(response, wrong);
  if (request.method === "DELETE") return void response.writeHead(204).end();
  const body = await readBody(request, maxBytes);
  if (body === null)
    return refuse(response, { status: 413, message: `The body has more than ${maxBytes} bytes.` });
  await answer(guest, parseMessage(body), response);
}

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const NO_TOKEN: Refusal = {
  status: 401,
  message: "The token is missing or not valid.",
  headers: { "WWW-Authenticate": "Bearer" },
};

/** The checks before authentication. */
function refusalOf({ headers, socket, url }: IncomingMessage): Refusal | null {
  const names = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`];
  if (!names.includes(headers.host?.toLowerCase() ?? ""))
    return { status: 403, message: "The Host header is not the address of this server." };
  if (headers.origin !== undefined && !names.some((name) => headers.origin === `http://${name}`))
    return { status: 403, message: "Requests from other origins are not allowed." };
  if (url !== PATH) return { status: 404, message: `The only path is ${PATH}.` };
  return null;
}

function guestOf(guests: ReadonlyMap<string, Guest>, { headers }: IncomingMessage): Guest | null {
  const [, token] = /^Bearer ([\w-]{1,200})$/i.exec(headers.authorization ?? "") ?? [];
  return token === undefined ? null : (guests.get(hashOf(token)) ?? null);
}

/** Tools need no server streams (GET). */
function wrongIn({ method, headers }: IncomingMessage, { session }: Guest): Refusal | null {
  const allowed = { Allow: "POST, DELETE" };
  if (method !== "POST" && method !== "DELETE")
    return { status: 405, message: "Only POST and DELETE are allowed.", headers: allowed };
  const said = headers["mcp-session-id"];
  if (said !== undefined && said !== session) return { status: 404, message: "There is no such session." };
  const version = headers["mcp-protocol-version"];
  if (version !== undefined && !VERSIONS.some((known) => known === version))
    return {
      status: 400,
      message: `This protocol version is not supported. Supported: ${VERSIONS.join(", ")}.`,
    };
  if (method === "POST" && !/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? ""))
    return { status: 415, message: "The body must be application/json." };
  return null;
}

/** null: too long. The rest is read and dropped, because a client that is cut off would miss the answer. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxBytes) {
      request.resume();
      return null;
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

async function answer(
  { offer, session, gone }: Guest,
  message: Message,
  response: ServerResponse,
): Promise<void> {
  switch (message.kind) {
    case "wrong":
      return sendJson(response, 400, message.answer);
    case "notification":
    case "answer":
      return void response.writeHead(202).end();
    case "request": {
      const asked = answerRequest(offer(), message);
      if (message.method === "initialize") response.setHeader("Mcp-Session-Id", session);
      const text = typeof asked === "string" ? asked : await asked(gone.signal);
      return sendJson(response, 200, text);
    }
  }
}

function refuse(response: ServerResponse, { status, message, headers = {} }: Refusal): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, status, `${JSON.stringify({ error: message })}\n`);
}

function sendJson(response: ServerResponse, status: number, text: string): void {
  response.setHeader("Content-Type", "application/json");
  response.writeHead(status).end(text);
}
