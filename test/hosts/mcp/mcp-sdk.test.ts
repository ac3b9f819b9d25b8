/** Our MCP servers with the protocol's own client: over stdio as `loop mcp`, and over HTTP as agents get them. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type CallToolResult, CallToolResultSchema, McpError } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { createToolServer } from "../../../src/hosts/mcp/tool-server.ts";
import { cleanEnv, LOOP, listOf, makeProject } from "../../support/cli.ts";
import { makeTurnWorld, NOW } from "../../support/turn-world.ts";

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  onTestFinished(async () => {
    await client.close();
    expect(errors).toEqual([]);
  });
  return client;
}

/** The first text of an answer. The client has compared the answer with the schema of the protocol. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = (await client.callTool({ name, arguments: args }, CallToolResultSchema)) as CallToolResult;
  const [first] = result.content;
  return { text: first?.type === "text" ? first.text : "", isError: result.isError ?? false };
}

describe("F6 the official client over stdio", () => {
  async function open() {
    const cwd = makeProject();
    const env = Object.fromEntries(
      Object.entries(cleanEnv(cwd)).filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    const transport = new StdioClientTransport({ command: process.execPath, args: [LOOP, "mcp"], cwd, env });
    return { cwd, client: await connect(transport) };
  }

  test("F6 A15 greets, lists the tools, creates a task and deletes it", async () => {
    const { cwd, client } = await open();
    expect(client.getServerVersion()?.name).toBe("loop");
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    await client.ping();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["CronCreate", "CronDelete", "CronList"]),
    );
    const created = await call(client, "CronCreate", { cron: "*/5 * * * *", prompt: "look" });
    const { id } = JSON.parse(created.text) as { id: string };
    expect((await listOf(cwd)).tasks.map((task) => task.id)).toEqual([id]);
    expect(await call(client, "CronDelete", { id })).toMatchObject({ isError: false });
    expect((await listOf(cwd)).tasks).toEqual([]);
  });

  test("F6 H5 wrong arguments are an answer that the model reads; an unknown tool is an error of the protocol", async () => {
    const { client } = await open();
    expect(await call(client, "CronCreate", { cron: "61 * * * *", prompt: "x" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("minute"),
    });
    await expect(client.callTool({ name: "Nothing" })).rejects.toBeInstanceOf(McpError);
    await expect(client.listResources()).rejects.toThrow(/resources/);
    await client.ping();
  });
});

describe("E3 F6 the official client over streamable HTTP", () => {
  async function open() {
    const world = await makeTurnWorld();
    const server = createToolServer({ store: world.store, project: world.project, now: () => NOW });
    onTestFinished(() => server.close());
    const access = await server.open();
    const transport = new StreamableHTTPClientTransport(new URL(access.url), {
      requestInit: { headers: access.headers },
    });
    // its `sessionId` may be undefined, which our settings of the compiler keep apart from missing
    return { ...world, access, transport, client: await connect(transport as Transport) };
  }

  test("E3 B10 greets, lists the tools of the turn, and reports on the goal", async () => {
    const { access, client, turns, store } = await open();
    const work = await turns.work();
    access.serve(work);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("loop_report");
    const answer = await call(client, "loop_report", { exit_signal: false, next: "more" });
    expect(answer).toEqual({ text: '{"taken":"as a claim"}', isError: false });
    const loop = [...store.loops()].find(({ id }) => id === work.loopId);
    expect(loop?.kind === "goal" && loop.job?.reported).toMatchObject({ next: "more" });
  });

  test("E3 says goodbye, and is a stranger once its token is taken back", async () => {
    const { access, client, transport } = await open();
    await transport.terminateSession();
    access.close();
    client.onerror = () => {};
    await expect(client.listTools()).rejects.toThrow();
  });
});
