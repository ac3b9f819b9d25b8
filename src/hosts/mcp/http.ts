/**
 * MCP over HTTP on loopback (Streamable HTTP), for agents that other programs start. Owns the port and the access tokens;
 * guest.ts has what belongs to a token, offer.ts the answers.
 *
 * 1. Listens only on 127.0.0.1 and checks the Host and Origin headers, so a page in a browser has no access, also not by
 *    DNS rebinding.
 * 2. Every request needs a token that was issued and not revoked. A token that is bound to a process counts only from
 *    that process and those it started, where the system can tell.
 * 3. The size and the time of a request are limited, and so are connections (connections.ts). An error is one sentence.
 * 4. A call whose client cancels it, disconnects or ends its session is aborted and not answered.
 * 5. Nothing here keeps the process alive, and no request ends the process.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProcessRef } from "../../core/loop.ts";
import { type Connections, createConnections } from "./connections.ts";
import { STATELESS_VERSION } from "./era.ts";
import { endSession, type Guest, isAtItsProcess, newGuest } from "./guest.ts";
import { answerGuest, sendJson } from "./http-answer.ts";
import type { McpOffer } from "./offer.ts";

export interface McpHttp {
  readonly url: string;
  /** Issues a token until `close`. `offer` is called for every request. */
  admit(offer: () => McpOffer): McpAdmission;
  /** Revokes all tokens. */
  close(): Promise<void>;
}

export interface McpAdmission {
  readonly headers: Readonly<Record<string, string>>;
  /** From now on only this process and those it started may use the token. */
  bind(process: ProcessRef): void;
  close(): void;
}

export interface McpHttpOptions {
  readonly maxBytes?: number;
  /** The limit for receiving a whole request. */
  readonly timeoutMs?: number;
  /** The limit for showing a token on a new connection. */
  readonly strangerMs?: number;
}

const PATH = "/mcp";
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;
const STRANGER_MS = 5_000;
/** For strangers together, and for each guest. An agent has a few connections. */
const MAX_CONNECTIONS = 64;

interface Place {
  readonly guests: ReadonlyMap<string, Guest>;
  readonly connections: Connections<Guest>;
  readonly maxBytes: number;
}

/** Rejects if no port is available. */
export async function listenMcp({
  maxBytes = MAX_BYTES,
  timeoutMs = TIMEOUT_MS,
  strangerMs = STRANGER_MS,
}: McpHttpOptions = {}): Promise<McpHttp> {
  const guests = new Map<string, Guest>();
  const connections = createConnections<Guest>({ most: MAX_CONNECTIONS, strangerMs });
  const limits = {
    requestTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    connectionsCheckingInterval: Math.ceil(timeoutMs / 4),
  };
  const server = createServer(limits, (request, response) => {
    void serve({ guests, connections, maxBytes }, request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => connections.add(socket.unref()));
  server.unref();
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    admit: (offer) => {
      const token = randomBytes(32).toString("base64url");
      const guest = newGuest(offer);
      guests.set(hashOf(token), guest);
      return {
        headers: { Authorization: `Bearer ${token}` },
        bind: (process) => Object.assign(guest, { process, checked: new WeakSet() }),
        close: () => {
          guests.delete(hashOf(token));
          guest.gone.abort();
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

async function serve(place: Place, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { guests, connections, maxBytes } = place;
  const refusal = refusalOf(request);
  const guest = guestOf(guests, request);
  if (refusal !== null || guest === null || !(await isAtItsProcess(guest, request.socket))) {
    // a stranger gets one answer
    response.setHeader("Connection", "close");
    await readBody(request, 0);
    return refuse(response, refusal ?? (guest === null ? NO_TOKEN : NOT_ITS_PROCESS));
  }
  connections.claim(request.socket, guest);
  const body = await readBody(request, maxBytes);
  const wrong = wrongIn(request, guest);
  if (wrong !== null) return refuse(response, wrong);
  if (request.method === "DELETE") {
    endSession(guest, String(request.headers["mcp-session-id"]));
    return void response.writeHead(204).end();
  }
  if (body === null)
    return refuse(response, { status: 413, message: `The body has more than ${maxBytes} bytes.` });
  await answerGuest(guest, body, request, response);
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

const NOT_ITS_PROCESS: Refusal = {
  status: 403,
  message: "This token belongs to the process of another turn.",
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

/** Tools need no stream of the server's own (GET). */
function wrongIn({ method, headers }: IncomingMessage, { sessions }: Guest): Refusal | null {
  const allowed = { Allow: "POST, DELETE" };
  if (method !== "POST" && method !== "DELETE")
    return { status: 405, message: "Only POST and DELETE are allowed.", headers: allowed };
  const session = headers["mcp-session-id"];
  if (method === "DELETE" && session === undefined)
    return { status: 400, message: "The header Mcp-Session-Id must say which session ends." };
  // since 2026-07-28 there are no sessions, and the header is ignored
  const isSessionless = method === "POST" && headers["mcp-protocol-version"] === STATELESS_VERSION;
  if (typeof session === "string" && !isSessionless && !sessions.has(session))
    return { status: 404, message: "There is no such session." };
  if (method === "POST" && !/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? ""))
    return { status: 415, message: "The body must be application/json." };
  return null;
}

/** null: too long. Reads to the end in any case: a client that still sends would miss the answer and break. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) reject(new Error("The client is gone."));
    let parts: Buffer[] = [];
    let length = 0;
    request.on("data", (part: Buffer) => {
      length += part.length;
      if (length <= maxBytes) parts.push(part);
      else parts = [];
    });
    request.once("end", () => resolve(length > maxBytes ? null : Buffer.concat(parts).toString("utf8")));
    request.once("error", reject).once("close", () => reject(new Error("The request was not complete.")));
  });
}

function refuse(response: ServerResponse, { status, message, headers = {} }: Refusal): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, status, `${JSON.stringify({ error: message })}\n`);
}
