/** MCP over HTTP on loopback: who is answered, what is, and that no request does more than that. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { listenMcp, type McpHttpOptions } from "../../../src/hosts/mcp/http.ts";
import type { McpOffer } from "../../../src/hosts/mcp/offer.ts";
import { createToolServer } from "../../../src/hosts/mcp/tool-server.ts";
import { clientOf, ping, raw } from "../../support/mcp-client.ts";
import { makeTurnWorld, NOW } from "../../support/turn-world.ts";
import { until } from "../../support/until.ts";

const OFFER: McpOffer = {
  name: "loopwright",
  version: "1.2.3",
  tools: [
    {
      ...{ name: "echo", description: "echoes", schema: z.looseObject({}) },
      run: async (input) => ({ text: JSON.stringify(input) }),
    },
    {
      ...{ name: "broken", description: "breaks", schema: z.looseObject({}) },
      run: () => {
        throw new Error("it broke");
      },
    },
  ],
};

async function start(options: McpHttpOptions = {}) {
  const http = await listenMcp(options);
  onTestFinished(() => http.close());
  const guest = http.admit(() => OFFER);
  return { http, guest, url: http.url, port: Number(new URL(http.url).port), ...clientOf(http.url, guest) };
}

describe("a conversation", () => {
  test("F6 initialize, initialized, the list, a call, goodbye", async () => {
    const { post, rpc, call, url, guest } = await start();
    const asked = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "0" },
    };
    const hello = await post({ jsonrpc: "2.0", id: 0, method: "initialize", params: asked });
    expect(hello.status).toBe(200);
    expect(hello.headers.get("content-type")).toBe("application/json");
    expect(await hello.json()).toMatchObject({
      id: 0,
      result: { protocolVersion: "2025-06-18", serverInfo: { name: "loopwright", version: "1.2.3" } },
    });
    const session = hello.headers.get("mcp-session-id") ?? "";
    expect(session).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.stringify(guest.headers)).not.toContain(session);
    const inSession = { "Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18" };
    const ready = await post({ jsonrpc: "2.0", method: "notifications/initialized" }, inSession);
    expect([ready.status, await ready.text()]).toEqual([202, ""]);
    expect((await post(ping, inSession)).status).toBe(200);
    expect((await rpc("tools/list")).result?.tools).toMatchObject([{ name: "echo" }, { name: "broken" }]);
    expect(await call("echo", { a: "ü\u2028" })).toBe('{"a":"ü\u2028"}');
    const bye = await fetch(url, { method: "DELETE", headers: { ...guest.headers, ...inSession } });
    expect(bye.status).toBe(204);
    // a client that says goodbye may come again: the token is what counts
    expect((await post(ping)).status).toBe(200);
  });

  test.each<[string, unknown, number, object]>([
    [
      "an unknown tool",
      call("none"),
      200,
      { id: 7, error: { code: -32602, message: "There is no tool none." } },
    ],
    ["an unknown method", { ...ping, method: "resources/list" }, 200, { id: 7, error: { code: -32601 } }],
    ["a tool that breaks", call("broken"), 200, { id: 7, result: { isError: true } }],
    ["no JSON", "{", 400, { id: null, error: { code: -32700 } }],
    ["an empty body", "", 400, { id: null, error: { code: -32700 } }],
    [
      "a batch",
      [ping, ping],
      400,
      { id: null, error: { code: -32600, message: expect.stringContaining("at a time") } },
    ],
    ["another protocol", { id: 7, method: "ping" }, 400, { id: 7, error: { code: -32600 } }],
    ["a call without a name", { ...ping, method: "tools/call" }, 200, { id: 7, error: { code: -32602 } }],
  ])("F6 H5 %s is answered in a sentence, and the server goes on", async (_, body, status, answer) => {
    const { post } = await start();
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(answer);
    expect((await post(ping)).status).toBe(200);
  });

  test.each([
    ["a notification", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }],
    ["an answer to what was never asked", { jsonrpc: "2.0", id: 3, result: {} }],
  ])("F6 %s is taken with nothing to say", async (_, body) => {
    const response = await (await start()).post(body);
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });

  test("F6 H5 whatever comes in, it is answered, and the server goes on", async () => {
    const { post } = await start();
    const property = fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (body) => {
      expect([200, 202, 400]).toContain((await post(body)).status);
    });
    await fc.assert(property, { numRuns: 100 });
    expect((await post(ping)).status).toBe(200);
  });
});

function call(name: string) {
  return { ...ping, method: "tools/call", params: { name } };
}

describe("H3 H4 who is answered", () => {
  test("nobody without the token, with another one, or with one that was taken back", async () => {
    const { http, post, guest, url } = await start();
    const other = http.admit(() => OFFER);
    const tokens = [
      "",
      "Bearer",
      "Bearer ",
      "Bearer x",
      guest.headers.Authorization?.slice(0, -1),
      "Basic abc",
    ];
    for (const Authorization of [...tokens, `${guest.headers.Authorization}x`]) {
      const response = await post(ping, { Authorization: Authorization ?? "" });
      expect([response.status, response.headers.get("www-authenticate")], Authorization).toEqual([
        401,
        "Bearer",
      ]);
      expect(Object.keys((await response.json()) as object)).toEqual(["error"]);
    }
    const bare = await fetch(url, { method: "POST", body: JSON.stringify(ping) });
    expect(bare.status).toBe(401);
    expect((await post(ping, { ...other.headers })).status).toBe(200);
    other.close();
    expect((await post(ping, { ...other.headers })).status).toBe(401);
    expect((await post(ping)).status).toBe(200);
  });

  test.each<[string, Record<string, string>, number]>([
    ["the name of the server", { host: "127.0.0.1:PORT" }, 200],
    ["its other name", { host: "LOCALHOST:PORT" }, 200],
    ["a page that made its own name lead here", { host: "evil.example:PORT" }, 403],
    ["another port", { host: "127.0.0.1:1" }, 403],
    ["no port", { host: "127.0.0.1" }, 403],
    ["a page of another origin", { host: "127.0.0.1:PORT", origin: "https://evil.example" }, 403],
    ["a page from a file", { host: "127.0.0.1:PORT", origin: "null" }, 403],
    ["its own origin", { host: "127.0.0.1:PORT", origin: "http://127.0.0.1:PORT" }, 200],
  ])("by %s, with the right token: %j is %i", async (_, headers, status) => {
    const { port, guest } = await start();
    const named = Object.entries(headers).map(([name, value]) => [name, value.replace("PORT", String(port))]);
    const all = { ...guest.headers, "content-type": "application/json", ...Object.fromEntries(named) };
    expect(await raw(port, { headers: all, body: JSON.stringify(ping) })).toBe(status);
  });

  test.each<[string, string, Record<string, string>, number]>([
    ["GET", "/mcp", {}, 405],
    ["PUT", "/mcp", {}, 405],
    ["POST", "/mcp", { "content-type": "text/plain" }, 415],
    ["POST", "/mcp", { "mcp-protocol-version": "1999-01-01" }, 400],
    ["POST", "/mcp", { "mcp-session-id": "another" }, 404],
    ["POST", "/mcp?x=1", {}, 404],
    ["POST", "/", {}, 404],
    ["GET", "/.well-known/oauth-protected-resource", { authorization: "" }, 404],
    ["DELETE", "/mcp", { authorization: "" }, 401],
    ["DELETE", "/mcp", { "mcp-session-id": "another" }, 404],
  ])("%s %s with the right token and %j: %i", async (method, path, headers, status) => {
    const { port, guest } = await start();
    const host = `127.0.0.1:${port}`;
    const { Authorization: authorization = "" } = guest.headers;
    const all = { host, authorization, "content-type": "application/json", ...headers };
    expect(
      await raw(port, { method, path, headers: all, body: method === "POST" ? JSON.stringify(ping) : "" }),
    ).toBe(status);
  });

  test("only 127.0.0.1 is listened on", async () => {
    const { port } = await start();
    const reached = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.2", () => resolve("reached")).on("error", () =>
        resolve("refused"),
      );
      onTestFinished(() => void socket.destroy());
    });
    expect(reached).toBe("refused");
  });
});

describe("H5 limits", () => {
  test("a body that is too long is refused, announced or not, and the server goes on", async () => {
    const { post, url, guest } = await start({ maxBytes: 10_000 });
    const long = JSON.stringify({ ...ping, params: { text: "x".repeat(20_000) } });
    expect((await post(long)).status).toBe(413);
    expect((await post(JSON.stringify({ ...ping, params: { text: "x".repeat(9_000) } }))).status).toBe(200);
    const body = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 300; n++) controller.enqueue(new Uint8Array(1_000).fill(0x20));
        controller.close();
      },
    });
    const headers = { ...guest.headers, "Content-Type": "application/json" };
    const chunked = await fetch(url, { method: "POST", headers, body, duplex: "half" } as RequestInit);
    expect(chunked.status).toBe(413);
    expect((await post(ping)).status).toBe(200);
  });

  test("whoever does not finish a request is cut off", async () => {
    const { port, guest, post } = await start({ timeoutMs: 300 });
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let isOver = false;
    socket
      .resume()
      .on("error", () => {})
      .on("close", () => {
        isOver = true;
      });
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${guest.headers.Authorization}\r\n`;
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    await until(() => isOver, "it is cut off", 10_000);
    expect((await post(ping)).status).toBe(200);
  });

  test("after its end nobody is connected any more", async () => {
    const { http, post } = await start();
    await post(ping);
    await http.close();
    await expect(post(ping)).rejects.toThrow();
  });

  test("a process that is done ends, with a server that is open and a client that is connected", async () => {
    const folder = mkdtempSync(join(tmpdir(), "loop http "));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const contents = `
      import { connect } from "node:net";
      import { listenMcp } from "./http.ts";
      const http = await listenMcp();
      const { headers } = http.admit(() => ({ name: "x", version: "1", tools: [] }));
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
      const response = await fetch(http.url, { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body });
      await response.text();
      connect(Number(new URL(http.url).port), "127.0.0.1").unref();
      console.log(response.status);`;
    const outfile = join(folder, "server.mjs");
    const resolveDir = join(import.meta.dirname, "../../../src/hosts/mcp");
    await build({
      ...{ stdin: { contents, resolveDir, loader: "ts" }, outfile, bundle: true, platform: "node" },
      format: "esm",
      target: "node20",
      logLevel: "error",
    });
    const child = spawn(process.execPath, [outfile], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    child.stdout.on("data", (bytes: Buffer) => {
      said += bytes.toString();
    });
    // fetch keeps its connection for 4 s; the server's own end would be 5 s and more
    await until(() => child.exitCode !== null, "it ends by itself", 20_000);
    expect([child.exitCode, said]).toEqual([0, "200\n"]);
  });
});

describe("E3 conversations that are bound to turns", () => {
  async function open() {
    const world = await makeTurnWorld();
    const server = createToolServer({ store: world.store, project: world.project, now: () => NOW });
    onTestFinished(() => server.close());
    const join = async () => {
      const access = await server.open();
      return { access, ...clientOf(access.url, access) };
    };
    const reported = (loopId: string) => {
      const loop = [...world.store.loops()].find(({ id }) => id === loopId);
      return loop?.kind === "goal" ? loop.job?.reported : "no goal";
    };
    return { ...world, server, join, reported };
  }

  test("B10 two at once: each reports on its own goal, whatever nonce the other has", async () => {
    const { join, turns, reported } = await open();
    const [one, two] = [await join(), await join()];
    const [work, plan] = [await turns.work(), await turns.plan()];
    expect(one.access.url).toBe(two.access.url);
    one.access.serve(work);
    two.access.serve(plan);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => [
        one.call("loop_report", { exit_signal: false, next: `one ${n}` }),
        two.call("loop_report", { exit_signal: false, next: `two ${n}` }),
      ]).flat(),
    );
    expect(new Set(answers)).toEqual(new Set(['{"taken":"as a claim"}']));
    expect(reported(work.loopId)).toMatchObject({ next: expect.stringMatching(/^one /) });
    expect(reported(plan.loopId)).toMatchObject({ next: expect.stringMatching(/^two /) });
    const stolen = { exit_signal: true, nonce: plan.env.LOOP_NONCE };
    expect(await one.call("loop_report", stolen)).toMatch(/belongs to another turn/);
    expect(reported(plan.loopId)).toMatchObject({ exitSignal: false });
  });

  test("B10 before and after its turn a call is refused, and from then on the token is nobody's", async () => {
    const { join, turns, reported } = await open();
    const { access, call, post, rpc } = await join();
    const turn = await turns.work();
    const listed = async () => {
      const { tools = [] } = (await rpc("tools/list")).result ?? {};
      return (tools as { name: string }[]).map(({ name }) => name);
    };
    expect(await call("loop_report", { exit_signal: true })).toMatch(/^No turn is running/);
    expect(await listed()).toContain("loop_verdict");
    access.serve(turn);
    expect(await listed()).not.toContain("loop_verdict");
    access.serve(null);
    expect(await call("loop_report", { exit_signal: true })).toMatch(/^No turn is running/);
    expect(reported(turn.loopId)).toBeNull();
    access.serve(turn);
    expect(await call("loop_report", { exit_signal: true })).toBe('{"taken":"as a claim"}');
    access.close();
    expect((await post(ping)).status).toBe(401);
  });

  test("C5 C6 an evaluator gives its verdict; a generator with the evaluator's nonce does not", async () => {
    const { join, turns, store } = await open();
    const [judge, maker] = [await join(), await join()];
    const [evaluator, generator] = [await turns.evaluator(), await turns.generator()];
    judge.access.serve(evaluator);
    maker.access.serve(generator);
    const pass = { verdict: "PASS", nonce: evaluator.env.LOOP_NONCE };
    expect(await maker.call("loop_verdict", pass)).toMatch(/is only for the evaluator/);
    expect(await judge.call("loop_report", { exit_signal: true })).toMatch(/This turn is a different one/);
    expect(await judge.call("loop_verdict", { verdict: "PASS" })).toBe('{"taken":"PASS"}');
    const said = (id: string) => {
      const loop = [...store.loops()].find((one) => one.id === id);
      return loop?.kind === "backlog" ? loop.attempts[0]?.job?.verdicts?.map(({ verdict }) => verdict) : [];
    };
    expect([said(evaluator.loopId), said(generator.loopId)]).toEqual([["PASS"], undefined]);
  });

  test("E3 closed with its runner, and opened again where a runner goes on", async () => {
    const { server, join } = await open();
    const { post } = await join();
    await server.close();
    await expect(post(ping)).rejects.toThrow();
    expect((await (await join()).post(ping)).status).toBe(200);
    await server.close();
    await server.close();
  });
});
