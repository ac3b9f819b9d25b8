/** F6 calls over HTTP while they run: cancelled, dropped, ended with their session, or telling how far they are. */
import { once } from "node:events";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { listenMcp } from "../../../src/hosts/mcp/http.ts";
import type { McpCall, McpTool } from "../../../src/hosts/mcp/tool.ts";
import { createToolServer } from "../../../src/hosts/mcp/tool-server.ts";
import { clientOf, ping } from "../../support/mcp-client.ts";
import { makeTurnWorld, NOW } from "../../support/turn-world.ts";
import { until } from "../../support/until.ts";

/** A server with a tool that runs until it is stopped, and one that counts to three. */
async function start() {
  const running: McpCall[] = [];
  const stopped: string[] = [];
  const schema = z.looseObject({ name: z.string().optional() });
  const tools: McpTool[] = [
    {
      ...{ name: "wait", description: "waits", schema },
      async run(input, call) {
        running.push(call);
        if (!call.signal.aborted) await once(call.signal, "abort");
        stopped.push(schema.parse(input).name ?? "");
        return { text: "too late" };
      },
    },
    {
      ...{ name: "count", description: "counts", schema },
      async run(_, { onProgress }) {
        for (const progress of [1, 2, 3]) onProgress?.({ progress, total: 3, message: `step ${progress}` });
        return { text: "counted" };
      },
    },
  ];
  const http = await listenMcp();
  onTestFinished(() => http.close());
  const guest = http.admit(() => ({ name: "x", version: "1", tools }));
  return { ...clientOf(http.url, guest), url: http.url, guest, running, stopped };
}

const wait = (id: number, name: string) => ({
  ...{ jsonrpc: "2.0", id, method: "tools/call" },
  params: { name: "wait", arguments: { name } },
});
const cancel = (requestId: number) => ({
  ...{ jsonrpc: "2.0", method: "notifications/cancelled" },
  params: { requestId },
});

async function openSession({ post }: Pick<Awaited<ReturnType<typeof start>>, "post">) {
  const hello = { ...ping, method: "initialize", params: { protocolVersion: "2025-11-25" } };
  const session = (await post(hello)).headers.get("mcp-session-id") ?? "";
  return { "Mcp-Session-Id": session };
}

describe("a call that nobody wants any more", () => {
  test("is stopped by its cancellation, and gets no answer; other calls run on", async () => {
    const { post, running, stopped } = await start();
    const [one, two] = [post(wait(1, "one")), post(wait(2, "two"))];
    await until(() => running.length === 2, "both run");
    expect((await post(cancel(1))).status).toBe(202);
    const answer = await one;
    expect([answer.status, await answer.text(), stopped]).toEqual([202, "", ["one"]]);
    await post(cancel(2));
    expect((await two).status).toBe(202);
  });

  test("is stopped when its client disconnects", async () => {
    const { url, guest, running, stopped, post } = await start();
    const dropped = new AbortController();
    const headers = { ...guest.headers, "Content-Type": "application/json" };
    const body = JSON.stringify(wait(1, "dropped"));
    const asked = fetch(url, { method: "POST", headers, body, signal: dropped.signal });
    await until(() => running.length === 1, "it runs");
    dropped.abort();
    await expect(asked).rejects.toThrow();
    await until(() => stopped.includes("dropped"), "it is stopped");
    expect((await post(ping)).status).toBe(200);
  });

  test("is stopped with its session; the session is over, and a new one can begin", async () => {
    const server = await start();
    const { post, url, guest, running, stopped } = server;
    const [ours, theirs] = [await openSession(server), await openSession(server)];
    expect(ours).not.toEqual(theirs);
    const [one, two] = [post(wait(1, "ours"), ours), post(wait(1, "theirs"), theirs)];
    await until(() => running.length === 2, "both run");
    const end = (headers: object) =>
      fetch(url, { method: "DELETE", headers: { ...guest.headers, ...headers } }).then(
        ({ status }) => status,
      );
    expect(await end({})).toBe(400);
    expect(await end(ours)).toBe(204);
    expect([(await one).status, stopped]).toEqual([202, ["ours"]]);
    expect((await post(ping, ours)).status).toBe(404);
    expect(await end(ours)).toBe(404);
    // an id is the session's own
    await post(cancel(1), theirs);
    expect([(await two).status, stopped]).toEqual([202, ["ours", "theirs"]]);
    expect((await post(ping, await openSession(server))).status).toBe(200);
  });

  /** A turn whose tools wait for the journal until `readOn`. */
  async function startSlow() {
    const { store, project, turns } = await makeTurnWorld();
    let reading = 0;
    let readOn = (): void => {};
    const gate = new Promise<void>((open) => {
      readOn = open;
    });
    const server = createToolServer({ store, project, now: () => NOW });
    onTestFinished(() => server.close());
    const access = await server.open();
    const turn = await turns.work();
    access.serve(turn);
    const read = store.catchUp.bind(store);
    store.catchUp = async () => {
      reading++;
      await gate;
      return read();
    };
    const reported = () => {
      const loop = store.load(turn.loopId);
      return loop?.kind === "goal" ? loop.job?.reported : "no goal";
    };
    return { ...clientOf(access.url, access), reading: () => reading, readOn, reported };
  }

  const report = (id: number, meta: object = {}) => ({
    ...{ jsonrpc: "2.0", id, method: "tools/call" },
    params: { name: "loop_report", arguments: { exit_signal: true }, _meta: meta },
  });

  test("B10 a report that waits for the journal says so, and then counts", async () => {
    const { post, readOn, reported } = await startSlow();
    const response = await post(report(1, { progressToken: 5 }));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    readOn();
    expect(await response.text()).toMatch(/"progressToken":5.*reading the journal.*\n\n.*\n.*"as a claim"/);
    expect(reported()).toMatchObject({ exitSignal: true });
  });

  test("B10 changes nothing: a report that was cancelled while the journal was read does not count", async () => {
    const { post, call, reading, readOn, reported } = await startSlow();
    const asked = post(report(9));
    await until(() => reading() > 0, "it reads the journal");
    await post(cancel(9));
    expect((await asked).status).toBe(202);
    readOn();
    expect(await call("CronList")).toBe('{"tasks":[]}');
    expect(reported()).toBeNull();
  });
});

describe("progress", () => {
  test("is a stream of events before the answer, for a client that asked for it", async () => {
    const { post } = await start();
    const params = { name: "count", _meta: { progressToken: "t" } };
    const response = await post({ ...ping, method: "tools/call", params });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).trim().split("\n\n");
    const said = events.map((event) => JSON.parse(event.replace("event: message\ndata: ", "")) as object);
    expect(said).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "t", progress: 1, total: 3 } },
      { method: "notifications/progress", params: { progress: 2, message: "step 2" } },
      { method: "notifications/progress", params: { progress: 3 } },
      { id: 7, result: { content: [{ text: "counted" }] } },
    ]);
  });

  test.each([
    ["did not ask", {}, {}],
    ["reads no streams", { progressToken: 1 }, { Accept: "application/json" }],
  ])("a client that %s gets the answer alone", async (_, meta, headers) => {
    const { post } = await start();
    const response = await post(
      { ...ping, method: "tools/call", params: { name: "count", _meta: meta } },
      headers,
    );
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toMatchObject({ id: 7, result: { content: [{ text: "counted" }] } });
  });

  test("F6 the official client hears it, cancels a call, and goes on", async () => {
    const { url, guest, running, stopped } = await start();
    const client = new Client({ name: "test", version: "1" });
    const errors: Error[] = [];
    client.onerror = (error) => errors.push(error);
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: guest.headers },
    });
    await client.connect(transport as Transport);
    onTestFinished(() => client.close());
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
    await client.callTool({ name: "count" }, undefined, { onprogress });
    expect(heard).toEqual([1, 2, 3]);
    const cancelled = new AbortController();
    const asked = client.callTool({ name: "wait", arguments: { name: "x" } }, undefined, {
      signal: cancelled.signal,
    });
    await until(() => running.length === 1, "it runs");
    cancelled.abort();
    await expect(asked).rejects.toThrow();
    await until(() => stopped.length === 1, "it is stopped");
    await client.ping();
    expect(errors).toEqual([]);
  });
});
