/**
 * An MCP server on a pair of streams; offer.ts has the answers. Owns the running calls.
 *
 * 1. Only complete protocol lines go to `output`, and none after it failed.
 * 2. No tool and no input ends the server. The client ends it by closing a stream.
 * 3. A cancelled call is aborted and not answered. Every other call is answered once.
 */
import type { Readable, Writable } from "node:stream";
import { createLineSplitter } from "../../agents/process/lines.ts";
import {
  cancelledId,
  INVALID_REQUEST,
  type McpRequest,
  type Params,
  parseMessage,
  renderRpcError,
} from "./message.ts";
import { answerRequest, type McpOffer } from "./offer.ts";

export interface McpServerOptions extends McpOffer {
  readonly input: Readable;
  readonly output: Writable;
  /** The client disconnected. Running calls are aborted but may not have ended yet. Must not throw. */
  readonly onClose?: () => void;
}

/** A longer line is dropped. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Resolves when the client has disconnected and no call runs. Does not reject. */
export function serveMcp(options: McpServerOptions): Promise<void> {
  const { input, output } = options;
  const splitter = createLineSplitter(MAX_LINE_BYTES);
  const calls = new Map<McpRequest["id"], AbortController>();
  const underway = new Set<Promise<void>>();
  let isClosed = false;

  function take(line: string): void {
    if (line.trim() === "") return;
    const message = parseMessage(line);
    if (message.kind === "wrong") send(message.answer);
    else if (message.kind === "notification") note(message.method, message.params);
    else if (message.kind === "request") send(answer(message));
  }

  function note(method: string, params: Params): void {
    if (method !== "notifications/cancelled") return;
    const requestId = cancelledId(params);
    if (requestId === null) return;
    const call = calls.get(requestId);
    calls.delete(requestId);
    call?.abort();
  }

  /** null: the answer comes later. */
  function answer(request: McpRequest): string | null {
    const { id } = request;
    const answered = answerRequest(options, request);
    if (answered.kind === "line") return answered.line;
    if (calls.has(id)) return renderRpcError(id, INVALID_REQUEST, "id: a call with this id is running");
    const controller = new AbortController();
    calls.set(id, controller);
    const work = answered.run(controller.signal, send).then((line) => {
      underway.delete(work);
      // this call was cancelled, and its id may be in use again
      if (calls.get(id) !== controller) return;
      calls.delete(id);
      send(line);
    });
    underway.add(work);
    return null;
  }

  function send(line: string | null): void {
    // a failed stream ignores writes
    if (line !== null) output.write(line);
  }

  return new Promise((resolve) => {
    const onData = (bytes: Uint8Array): void => splitter.push(bytes).forEach(take);
    const close = (): void => {
      if (isClosed) return;
      isClosed = true;
      input.off("data", onData).pause();
      for (const call of calls.values()) call.abort();
      options.onClose?.();
      void Promise.all(underway).then(() => resolve());
    };
    input.on("data", onData);
    input.once("end", () => {
      const rest = splitter.rest();
      if (rest !== null) take(rest);
      close();
    });
    input.once("close", close).on("error", close);
    output.on("error", close);
  });
}
