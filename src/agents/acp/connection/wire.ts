/**
 * JSON-RPC over the stdin and stdout of a process, one message a line. The SDK's connection is not used: its requests
 * wait for ever when the process dies, its updates arrive after later answers, it writes to our stderr, and a bundle
 * of one file cannot load it late. test/agents/acp/acp-sdk.test.ts proves that both understand each other.
 *
 * 1. Messages are passed on at once, in order.
 * 2. Lines that are not messages are ignored: agents print banners and warnings to stdout. Unexpected answers are
 *    ignored too.
 * 3. When stdout ends, all open requests are rejected.
 */
import type { Readable, Writable } from "node:stream";
import { createLineSplitter } from "../../process/lines.ts";
import { parseJson } from "../../quietly.ts";

export interface WireOptions {
  /** A longer line is ignored. */
  readonly maxLineBytes: number;
  readonly onBytes: (count: number) => void;
  readonly onNotification: (method: string, params: unknown, line: string) => void;
  /**
   * The result is the answer. undefined: the method does not exist. A rejection: the request was invalid. The signal
   * withdraws the request.
   */
  readonly onRequest: (method: string, params: unknown, signal: AbortSignal) => Promise<object> | undefined;
}

export type Wire = ReturnType<typeof openWire>;

export class WireError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const CLOSED = new Error("the connection is closed");

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const REQUEST_CANCELLED = -32800;
const CANCEL_REQUEST = "$/cancel_request";

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export function openWire(stdin: Writable, stdout: Readable, options: WireOptions) {
  const waiting = new Map<unknown, Waiting>();
  const splitter = createLineSplitter(options.maxLineBytes);
  let nextId = 1;
  let isClosed = false;

  const send = (message: object): void => {
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const { answer, withdraw } = createAnswers(options, send);

  function read(line: string): void {
    const message = parseMessage(line);
    if (message === null) return;
    const { id, method, params } = message;
    if (typeof method !== "string") settle(message);
    else if (method === CANCEL_REQUEST) withdraw(params);
    else if (id === undefined) options.onNotification(method, params, line);
    else void answer(id, method, params);
  }

  function settle({ id, result, error }: Message): void {
    const one = waiting.get(id);
    waiting.delete(id);
    if (error == null) one?.resolve(result);
    else one?.reject(errorOf(error));
  }

  const closed = new Promise<void>((done) => {
    const close = (): void => {
      isClosed = true;
      for (const { reject } of waiting.values()) reject(CLOSED);
      waiting.clear();
      done();
    };
    stdout.once("end", close);
    stdout.once("close", close);
  });
  stdout.on("data", (bytes: Buffer) => {
    options.onBytes(bytes.length);
    for (const line of splitter.push(bytes)) read(line);
  });

  return {
    /** Resolves when stdout has ended. */
    closed,
    /** Rejects with a `WireError`, or with `CLOSED`. The signal tells the agent that nobody waits any more. */
    request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
      if (isClosed) return Promise.reject(CLOSED);
      const id = nextId++;
      signal?.addEventListener("abort", () => {
        if (waiting.delete(id)) send({ method: CANCEL_REQUEST, params: { requestId: id } });
      });
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ id, method, params });
      });
    },
    notify: (method: string, params: object): void => send({ method, params }),
  };
}

function createAnswers({ onRequest }: WireOptions, send: (message: object) => void) {
  /** The agent's requests that have no answer yet. */
  const asked = new Map<unknown, AbortController>();
  return {
    async answer(id: unknown, method: string, params: unknown): Promise<void> {
      const withdrawn = new AbortController();
      const handled = onRequest(method, params, withdrawn.signal);
      const fail = (code: number, message: string): void => send({ id, error: { code, message } });
      if (handled === undefined) return fail(METHOD_NOT_FOUND, `${method} is not supported`);
      asked.set(id, withdrawn);
      try {
        const result = await handled;
        if (withdrawn.signal.aborted) fail(REQUEST_CANCELLED, "the request was cancelled");
        else send({ id, result });
      } catch (error) {
        fail(INVALID_PARAMS, error instanceof Error ? error.message : String(error));
      } finally {
        asked.delete(id);
      }
    },
    /** By `$/cancel_request`. */
    withdraw(params: unknown): void {
      asked.get((params as { readonly requestId?: unknown } | null | undefined)?.requestId)?.abort();
    },
  };
}

function parseMessage(line: string): Message | null {
  if (!line.startsWith("{")) return null;
  const message = parseJson(line) as (Message & { readonly jsonrpc?: unknown }) | null;
  return message?.jsonrpc === "2.0" ? message : null;
}

function errorOf(error: unknown): WireError {
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  return new WireError(Number.isInteger(code) ? Number(code) : 0, String(message ?? ""), data);
}
