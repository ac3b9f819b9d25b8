/**
 * An MCP server on a pair of streams. What it answers is in offer.ts.
 *
 * Owns the calls under way.
 * 1. Only whole lines of protocol go to `output`, and none after it broke.
 * 2. No tool and no input ends the server: that is for the client to do, by closing either stream.
 * 3. A call that the client took back is aborted and not answered; every other call is answered once.
 */
import type { Readable, Writable } from "node:stream";
import * as z from "zod";
import { createLineSplitter } from "../../agents/process/lines.ts";
import {
  INVALID_REQUEST,
  type Message,
  type MessageId,
  type Params,
  parseMessage,
  renderFault,
} from "./message.ts";
import { answerRequest, type McpOffer } from "./offer.ts";

export interface McpServerOptions extends McpOffer {
  readonly input: Readable;
  readonly output: Writable;
  /** The client is ready for calls. Must not throw. */
  readonly onInitialized?: () => void;
  /** The client is gone. Calls under way have been aborted, and may still be at work. Must not throw. */
  readonly onClose?: () => void;
}

/** A longer line is left out: whose it was stays unknown. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

const CancelParams = z.object({ requestId: z.union([z.string(), z.number()]) });

/** Resolves when the client is gone and no call is under way any more. Does not reject. */
export function serveMcp(options: McpServerOptions): Promise<void> {
  const { input, output } = options;
  const splitter = createLineSplitter(MAX_LINE_BYTES);
  const calls = new Map<MessageId, AbortController>();
  const underway = new Set<Promise<void>>();
  let isClosed = false;

  function take(line: string): void {
    if (line.trim() === "") return;
    const message: Message = parseMessage(line);
    if (message.kind === "wrong") send(renderFault(message.id, message.fault));
    else if (message.kind === "notification") note(message.method, message.params);
    else if (message.kind === "request") send(answer(message.id, message.method, message.params));
  }

  function note(method: string, params: Params): void {
    if (method === "notifications/initialized") options.onInitialized?.();
    if (method !== "notifications/cancelled") return;
    const cancel = CancelParams.safeParse(params);
    if (!cancel.success) return;
    const call = calls.get(cancel.data.requestId);
    calls.delete(cancel.data.requestId);
    call?.abort();
  }

  /** null: it comes later. */
  function answer(id: MessageId, method: string, params: Params): string | null {
    const answered = answerRequest(options, id, method, params);
    if (typeof answered === "string") return answered;
    if (calls.has(id))
      return renderFault(id, { code: INVALID_REQUEST, message: "id: a call of this id is under way" });
    const controller = new AbortController();
    calls.set(id, controller);
    const work = answered.run(controller.signal).then((line) => {
      underway.delete(work);
      // not this one: it was taken back, and its id may be in use again
      if (calls.get(id) !== controller) return;
      calls.delete(id);
      send(line);
    });
    underway.add(work);
    return null;
  }

  function send(line: string | null): void {
    // a stream that broke takes it and does nothing
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
