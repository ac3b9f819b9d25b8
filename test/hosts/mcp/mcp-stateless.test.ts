/** F6 MCP 2026-07-28: no handshake, every request says what it speaks. With the official client, over both transports. */
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { listenMcp } from "../../../src/hosts/mcp/http.ts";
import type { McpOffer } from "../../../src/hosts/mcp/offer.ts";
import { createToolServer } from "../../../src/hosts/mcp/tool-server.ts";
import { cleanEnv, LOOP, listOf, makeProject } from "../../support/cli.ts";
import { clientOf } from "../../support/mcp-client.ts";
import { makeTurnWorld, NOW } from "../../support/turn-world.ts";

const VERSION = "2026-07-28";
const KEY = "io.modelcontextprotocol";
const META = { [`${KEY}/protocolVersion`]: VERSION, [`${KEY}/clientCapabilities`]: {} };
const HEADERS = { "MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list" };

const OFFER: McpOffer = {
  ...{ name: "loopwright", version: "1.2.3", instructions: "be kind" },
  tools: [
    {
      ...{ name: "grüße", description: "greets", schema: z.strictObject({}) },
      output: z.object({ said: z.string() }),
      run: async () => ({ text: '{"said":"hi"}', value: { said: "hi" } }),
    },
  ],
};

async function start() {
  const http = await listenMcp();
  onTestFinished(() => http.close());
  const { post } = clientOf(
    http.url,
    http.admit(() => OFFER),
  );
  const ask = async (method: string, params: object = {}, headers: Record<string, string> = {}) => {
    const body = { jsonrpc: "2.0", id: 7, method, params: { _meta: META, ...params } };
    const response = await post(body, { ...HEADERS, "Mcp-Method": method, ...headers });
    return {
      status: response.status,
      session: response.headers.get("mcp-session-id"),
      ...(await json(response)),
    };
  };
  return { post, ask };
}

async function json(response: Response) {
  return (await response.json()) as {
    readonly result?: Record<string, unknown>;
    readonly error?: { readonly code: number; readonly data?: object };
  };
}

const COMPLETE = {
  resultType: "complete",
  _meta: { [`${KEY}/serverInfo`]: { name: "loopwright", version: "1.2.3" } },
};

describe("over HTTP", () => {
  test("discovers, lists and calls, each request for itself and without a session", async () => {
    const { ask } = await start();
    expect(await ask("server/discover", {}, { "Mcp-Session-Id": "of another server" })).toEqual({
      ...{ jsonrpc: "2.0", id: 7, status: 200, session: null },
      result: {
        ...COMPLETE,
        supportedVersions: [VERSION],
        capabilities: { tools: {} },
        instructions: "be kind",
        ...{ ttlMs: 0, cacheScope: "private" },
      },
    });
    expect((await ask("tools/list")).result).toMatchObject({
      ...COMPLETE,
      ...{ ttlMs: 0, cacheScope: "private" },
      tools: [{ outputSchema: { type: "object", properties: { said: { type: "string" } } } }],
    });
    const encoded = { "Mcp-Name": `=?base64?${Buffer.from("grüße").toString("base64")}?=` };
    expect((await ask("tools/call", { name: "grüße" }, encoded)).result).toEqual({
      ...COMPLETE,
      content: [{ type: "text", text: '{"said":"hi"}' }],
      structuredContent: { said: "hi" },
    });
  });

  test.each<[string, string, object, Record<string, string>, number, number]>([
    [
      "another version in the header",
      "tools/list",
      {},
      { "MCP-Protocol-Version": "2025-11-25" },
      400,
      -32020,
    ],
    ["another method in the header", "tools/list", {}, { "Mcp-Method": "tools/call" }, 400, -32020],
    ["no name in the header", "tools/call", { name: "x" }, {}, 400, -32020],
    ["another name in the header", "tools/call", { name: "x" }, { "Mcp-Name": "y" }, 400, -32020],
    ["a name in bad Base64", "tools/call", { name: "x" }, { "Mcp-Name": "=?base64?e?=" }, 400, -32020],
    ["no metadata", "tools/list", { _meta: {} }, {}, 400, -32602],
    ["no capabilities", "tools/list", { _meta: { [`${KEY}/protocolVersion`]: VERSION } }, {}, 400, -32602],
    ["an unknown method", "resources/list", {}, {}, 404, -32601],
    ["the handshake, which is gone", "initialize", {}, {}, 404, -32601],
    ["a ping, which is gone", "ping", {}, {}, 404, -32601],
    ["an unknown tool", "tools/call", { name: "x" }, { "Mcp-Name": "x" }, 200, -32602],
  ])("%s", async (_, method, params, headers, status, code) => {
    const { ask } = await start();
    expect(await ask(method, params, headers)).toMatchObject({ status, id: 7, error: { code } });
  });

  test("a version of the future is refused with the versions that we speak", async () => {
    const { ask, post } = await start();
    const future = { _meta: { ...META, [`${KEY}/protocolVersion`]: "2099-01-01" } };
    expect(await ask("tools/list", future, { "MCP-Protocol-Version": "2099-01-01" })).toMatchObject({
      status: 400,
      error: { code: -32022, data: { supported: [VERSION], requested: "2099-01-01" } },
    });
    const old = await post(
      { jsonrpc: "2.0", id: 7, method: "ping" },
      { "MCP-Protocol-Version": "1999-01-01" },
    );
    expect({ status: old.status, ...(await json(old)) }).toMatchObject({
      status: 400,
      error: { code: -32022, data: { supported: expect.arrayContaining([VERSION, "2025-06-18"]) } },
    });
  });

  test("a missing header is a mismatch", async () => {
    const { post } = await start();
    const body = { jsonrpc: "2.0", id: 7, method: "tools/list", params: { _meta: META } };
    for (const missing of Object.keys(HEADERS)) {
      const rest = Object.fromEntries(Object.entries(HEADERS).filter(([name]) => name !== missing));
      const response = await post(body, rest);
      expect({ status: response.status, ...(await json(response)) }, missing).toMatchObject({
        status: 400,
        error: { code: -32020 },
      });
    }
  });
});

async function connect(transport: Transport, mode: "auto" | { pin: string }): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

describe.each([["auto" as const], [{ pin: VERSION }]])("the official client, %j", (mode) => {
  test("E3 B10 over HTTP it reports on the goal of its turn", async () => {
    const world = await makeTurnWorld();
    const server = createToolServer({ store: world.store, project: world.project, now: () => NOW });
    onTestFinished(() => server.close());
    const access = await server.open();
    const turn = await world.turns.work();
    access.serve(turn);
    const requestInit = { headers: { ...access.headers } };
    const client = await connect(
      new StreamableHTTPClientTransport(new URL(access.url), { requestInit }) as Transport,
      mode,
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(VERSION);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("loop_report");
    const answer = await client.callTool({
      name: "loop_report",
      arguments: { exit_signal: false, next: "more" },
    });
    expect(answer.structuredContent).toEqual({ taken: "as a claim" });
    const loop = world.store.load(turn.loopId);
    expect(loop?.kind === "goal" && loop.job?.reported).toMatchObject({ next: "more" });
  });

  test("F6 A15 over stdio it creates, lists and deletes a task, and each answer has the form of its schema", async () => {
    const cwd = makeProject();
    const env = Object.fromEntries(
      Object.entries(cleanEnv(cwd)).filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    const transport = new StdioClientTransport({ command: process.execPath, args: [LOOP, "mcp"], cwd, env });
    const client = await connect(transport, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(VERSION);
    await client.listTools();
    const made = await client.callTool({
      name: "CronCreate",
      arguments: { cron: "*/5 * * * *", prompt: "look" },
    });
    const { id } = made.structuredContent as { id: string };
    expect((await listOf(cwd)).tasks.map((task) => task.id)).toEqual([id]);
    const listed = await client.callTool({ name: "CronList" });
    expect(listed.structuredContent).toMatchObject({ tasks: [{ id, prompt: "look" }] });
    await client.callTool({ name: "CronDelete", arguments: { id } });
    expect((await listOf(cwd)).tasks).toEqual([]);
  });
});
