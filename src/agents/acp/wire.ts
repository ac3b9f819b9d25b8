/**
 * The lines between a process and the SDK's connection. Notifications are handed on here, at once and in the order in
 * which they came, so that all of them are in before the answer that follows them; the rest is the SDK's.
 *
 * 1. What is no message is left out: agents print banners and warnings to stdout.
 * 2. An answer that nobody waits for, or a second one, is left out too.
 */
import type { Readable, Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { createLineSplitter } from "../lines.ts";

export interface WireOptions {
  /** A longer line is left out. */
  readonly maxLineBytes: number;
  readonly onBytes: (count: number) => void;
  readonly onNotification: (method: string, params: unknown, line: string) => void;
}

export function createWire(stdin: Writable, stdout: Readable, options: WireOptions): Stream {
  const pending = new Set<unknown>();
  const splitter = createLineSplitter(options.maxLineBytes);
  /** Does anybody read what is passed on? */
  let isOpen = true;

  function read(line: string, pass: (message: AnyMessage) => void): void {
    const message = parseMessage(line);
    if (message === null) return;
    if (!("id" in message)) options.onNotification(message.method, message.params, line);
    else if ("method" in message || pending.delete(message.id)) pass(message);
  }

  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      const close = (): void => {
        if (isOpen) controller.close();
        isOpen = false;
      };
      stdout.on("data", (bytes: Buffer) => {
        options.onBytes(bytes.length);
        for (const line of splitter.push(bytes))
          read(line, (message) => {
            if (isOpen) controller.enqueue(message);
          });
      });
      stdout.once("close", close);
      stdout.once("end", close);
    },
    cancel() {
      isOpen = false;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if ("id" in message && "method" in message) pending.add(message.id);
      stdin.write(`${JSON.stringify(message)}\n`);
    },
  });
  return { readable, writable };
}

function parseMessage(line: string): AnyMessage | null {
  if (!line.startsWith("{")) return null;
  try {
    const message = JSON.parse(line) as Record<string, unknown>;
    if (message.jsonrpc !== "2.0") return null;
    const isCall = typeof message.method === "string";
    const isAnswer = "id" in message && ("result" in message || "error" in message);
    return isCall || isAnswer ? (message as unknown as AnyMessage) : null;
  } catch {
    return null;
  }
}
