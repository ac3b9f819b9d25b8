/** A client of our HTTP server that can also say what a good client would not. */
import { request as httpRequest } from "node:http";
import type { ToolAccess } from "../../src/ports/agent.ts";

export function clientOf(url: string, { headers }: Pick<ToolAccess, "headers">) {
  /** As it is given; the right headers where they are left out. */
  const post = (body: unknown, more: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headers,
        ...more,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const rpc = async (method: string, params: object = {}) =>
    (await (await post({ jsonrpc: "2.0", id: 1, method, params })).json()) as {
      readonly result?: Record<string, unknown>;
      readonly error?: { readonly code: number; readonly message: string };
    };
  const call = async (name: string, args: object = {}) => {
    const { result, error } = await rpc("tools/call", { name, arguments: args });
    const [{ text }] = (result?.content ?? [{ text: error?.message }]) as [{ text: string }];
    return text;
  };
  return { post, rpc, call };
}

/** Sends what `fetch` does not let one send. */
export function raw(
  port: number,
  options: { method?: string; path?: string; headers: Record<string, string>; body?: string },
) {
  const { method = "POST", path = "/mcp", headers, body = "" } = options;
  return new Promise<number>((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject).end(body);
  });
}

export const ping = { jsonrpc: "2.0", id: 7, method: "ping" };
