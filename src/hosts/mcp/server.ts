/**
 * An MCP server on a pair of streams: tools, and nothing else of the protocol. Written by hand, because it starts with
 * every conversation: the official package would add 400 KB and 35 ms to that, for what is not needed here.
 *
 * Owns the calls under way.
 * 1. Only whole lines of protocol go to `output`, and none after it broke.
 * 2. No tool and no input ends the server: that is for the client to do, by closing either stream.
 * 3. A call that the client took back is aborted and not answered; every other call is answered once.
 */
import type { Readable, Writable } from "node:stream";
import * as z from "zod";
import { createLineSplitter } from "../../agents/lines.ts";
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type Message,
  type MessageId,
  type Params,
  parseMessage,
  renderFault,
  renderResult,
} from "./message.ts";
import { describeTool, type McpTool, runTool } from "./tool.ts";

export interface McpServerOptions {
  readonly name: string;
  readonly version: string;
  /** Shown to the model beside the tools. */
  readonly instructions?: string;
  readonly tools: readonly McpTool[];
  readonly input: Readable;
  readonly output: Writable;
  /** The client is ready for calls. Must not throw. */
  readonly onInitialized?: () => void;
  /** The client is gone. Calls under way have been aborted, and may still be at work. Must not throw. */
  readonly onClose?: () => void;
}

/** Newest first. They differ in nothing that tools need. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** A longer line is left out: whose it was stays unknown. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

const CallParams = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  _meta: z.record(z.string(), z.unknown()).default({}),
});

const CancelParams = z.object({ requestId: z.union([z.string(), z.number()]) });

/** Resolves when the client is gone and no call is under way any more. Does not reject. */
export function serveMcp(options: McpServerOptions): Promise<void> {
  const { input, output } = options;
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
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
    switch (method) {
      case "initialize":
        return renderResult(id, introduce(options, params));
      case "ping":
        return renderResult(id, {});
      case "tools/list": {
        const listed = options.tools.filter(({ isListed = true }) => isListed);
        return renderResult(id, { tools: listed.map(describeTool) });
      }
      case "tools/call":
        return startCall(id, params);
      default:
        return renderFault(id, { code: METHOD_NOT_FOUND, message: `There is no method ${method} here.` });
    }
  }

  function startCall(id: MessageId, params: Params): string | null {
    const asked = CallParams.safeParse(params);
    if (!asked.success) {
      const [issue] = asked.error.issues;
      return renderFault(id, {
        code: INVALID_PARAMS,
        message: `${issue?.path.join(".")}: ${issue?.message}`,
      });
    }
    const { name, arguments: args, _meta: meta } = asked.data;
    const tool = tools.get(name);
    if (tool === undefined)
      return renderFault(id, { code: INVALID_PARAMS, message: `There is no tool ${name}.` });
    if (calls.has(id))
      return renderFault(id, { code: INVALID_REQUEST, message: "id: a call of this id is under way" });
    const controller = new AbortController();
    calls.set(id, controller);
    const call = { signal: controller.signal, isFromModel: "claudecode/toolUseId" in meta };
    const work = runTool(tool, args, call).then((result) => {
      underway.delete(work);
      // not this one: it was taken back, and its id may be in use again
      if (calls.get(id) !== controller) return;
      calls.delete(id);
      send(renderResult(id, result));
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

/** A version that we do not know is answered with our newest; the client may then leave. */
function introduce({ name, version, instructions }: McpServerOptions, { protocolVersion }: Params): object {
  return {
    protocolVersion: VERSIONS.find((known) => known === protocolVersion) ?? VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name, version },
    ...(instructions === undefined ? {} : { instructions }),
  };
}
