/** The MCP server on streams: whatever a client sends and however it is cut, each call is answered once. */
import { PassThrough, Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { usageError } from "../../../src/errors.ts";
import { type McpServerOptions, serveMcp } from "../../../src/hosts/mcp/server.ts";
import type { McpCall, McpTool } from "../../../src/hosts/mcp/tool.ts";
import { until } from "../../support/until.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Calls of `wait` stay under way until a test ends them. */
interface Waiting {
  readonly name: string;
  readonly call: McpCall;
  readonly end: () => void;
}

function tool(name: string, run: McpTool["run"], more: Partial<McpTool> = {}): McpTool {
  return { name, description: `does ${name}`, schema: z.strictObject({ text: z.string() }), run, ...more };
}

function start(more: Partial<McpServerOptions> = {}) {
  const input = new PassThrough();
  const written: string[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      written.push(chunk.toString("utf8"));
      done();
    },
  });
  const waiting: Waiting[] = [];
  const heard: string[] = [];
  const tools = [
    tool("echo", async (given) => ({ text: JSON.stringify(given) })),
    tool("origin", async (_, { isFromModel }) => ({ text: isFromModel ? "model" : "other" })),
    tool("wait", (given, call) => {
      const { name } = given as { name: string };
      return new Promise((done) => waiting.push({ name, call, end: () => done({ text: name }) }));
    }),
    tool("wrong", async () => ({ text: "no such thing", isError: true })),
    tool("reject", async () => {
      throw new Error("it\nbroke \u001b[31mbadly");
    }),
    tool("throw", () => {
      throw usageError("The cron is wrong.", "Mend it.");
    }),
    tool("hidden", async () => ({ text: "found" }), { isListed: false }),
  ];
  const closed = serveMcp({
    name: "loop",
    version: "1.2.3",
    tools,
    input,
    output,
    onClose: () => heard.push("closed"),
    ...more,
  });
  const answers = () => written.map((line) => JSON.parse(line) as Answer);
  const send = (...messages: readonly (object | string)[]) =>
    input.write(messages.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join(""));
  return {
    input,
    output,
    written,
    waiting,
    heard,
    closed,
    answers,
    send,
    /** All of it, then the end of input; the answers in their order. */
    async all(...messages: readonly (object | string)[]): Promise<Answer[]> {
      send(...messages);
      input.end();
      await closed;
      return answers();
    },
  };
}

const request = (id: unknown, method: string, params?: object) => ({ jsonrpc: "2.0", id, method, params });
const call = (id: unknown, name: string, args?: object, meta?: object) =>
  request(id, "tools/call", { name, arguments: args, _meta: meta });
const notify = (method: string, params?: object) => ({ jsonrpc: "2.0", method, params });
const text = (said: string) => ({ content: [{ type: "text", text: said }] });

describe("a conversation", () => {
  test("F6 as Claude Code begins one: a probe, initialize, initialized, the list, a call", async () => {
    const server = start({ instructions: "be kind" });
    const [probe, hello, list, echo, ping, ...more] = await server.all(
      request("server-discover-probe-1", "server/discover"),
      request(0, "initialize", { protocolVersion: "2025-11-25", capabilities: { roots: {} } }),
      notify("notifications/initialized"),
      request(1, "tools/list"),
      call(2, "echo", { text: "a\u2028b\n" }),
      request(3, "ping"),
    );
    expect(probe).toMatchObject({ id: "server-discover-probe-1", error: { code: -32601 } });
    expect(hello).toEqual({
      jsonrpc: "2.0",
      id: 0,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "loop", version: "1.2.3" },
        instructions: "be kind",
      },
    });
    expect(list?.result).toMatchObject({
      tools: ["echo", "origin", "wait", "wrong", "reject", "throw"].map((name) => ({ name })),
    });
    // the pong does not wait for the call
    expect([echo, ping].map((answer) => [answer?.id, answer?.result])).toEqual([
      [3, {}],
      [2, text('{"text":"a\u2028b\\n"}')],
    ]);
    expect(more).toEqual([]);
    expect(server.heard).toEqual(["closed"]);
  });

  test.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2024-11-05", "2024-11-05"],
    ["2026-07-28", "2025-11-25"],
    [17, "2025-11-25"],
    [undefined, "2025-11-25"],
  ])("F6 a client of version %s is answered with %s", async (asked, answered) => {
    const [hello] = await start().all(request(1, "initialize", { protocolVersion: asked }));
    expect(hello?.result).toMatchObject({ protocolVersion: answered });
    expect(hello?.result).not.toHaveProperty("instructions");
  });

  test("F6 a tool is listed with its schema, its hints and whether it is always loaded", async () => {
    const annotations = { readOnlyHint: true };
    const tools = [
      tool("bare", async () => ({ text: "" })),
      tool("full", async () => ({ text: "" }), { alwaysLoad: true, annotations }),
    ];
    const [list] = await start({ tools }).all(request(1, "tools/list", { cursor: "x" }));
    const inputSchema = {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    };
    expect(list?.result).toEqual({
      tools: [
        { name: "bare", description: "does bare", inputSchema },
        {
          name: "full",
          description: "does full",
          inputSchema,
          annotations,
          _meta: { "anthropic/alwaysLoad": true },
        },
      ],
    });
  });
});

describe("calls", () => {
  test.each([
    ["echo", text("{}")],
    ["hidden", text("found")],
    ["wrong", { ...text("no such thing"), isError: true }],
    ["reject", { ...text("reject failed: it broke badly"), isError: true }],
    ["throw", { ...text("The cron is wrong. Mend it."), isError: true }],
  ])("F6 H5 %s is answered, and the server goes on", async (name, result) => {
    const answers = await start().all(call(1, name), request(2, "ping"));
    expect(answers).toHaveLength(2);
    expect(answers).toContainEqual({ jsonrpc: "2.0", id: 1, result });
  });

  test("E1 the calls of the model are told from those of hooks", async () => {
    const answers = await start().all(
      call(1, "origin", {}, { "claudecode/toolUseId": "toolu_1", progressToken: 1 }),
      call(2, "origin", {}, { progressToken: 1 }),
      call(3, "origin"),
    );
    expect(answers.map(({ result }) => result)).toEqual([text("model"), text("other"), text("other")]);
  });

  test("F6 several are under way at once, and each is answered when it is done", async () => {
    const server = start();
    server.send(
      ...["a", "b", "c"].map((name) => call(name, "wait", { name })),
      call(1, "wait", { name: "1" }),
    );
    server.send(call("1", "echo", {}));
    await until(() => server.waiting.length === 4 && server.written.length === 1, "all are under way");
    expect(server.answers()).toMatchObject([{ id: "1" }]);
    for (const [before, name] of ["c", "1", "a", "b"].entries()) {
      server.waiting.find((one) => one.name === name)?.end();
      await until(() => server.written.length === before + 2, `${name} is answered`);
    }
    server.input.end();
    await server.closed;
    expect(server.answers().map(({ id }) => id)).toEqual(["1", "c", 1, "a", "b"]);
  });

  test("F6 one that the client takes back is aborted and not answered; its neighbour is", async () => {
    const server = start();
    server.send(call(1, "wait", { name: "one" }), call(2, "wait", { name: "two" }));
    await until(() => server.waiting.length === 2, "both are under way");
    server.send(
      notify("notifications/cancelled", { requestId: 1, reason: "AbortError" }),
      notify("notifications/cancelled", { requestId: "2" }),
      notify("notifications/cancelled", { requestId: 99 }),
      notify("notifications/cancelled"),
      // its id is free again
      call(1, "wait", { name: "again" }),
    );
    await until(() => server.waiting.length === 3, "the third is under way");
    expect(server.waiting.map(({ call }) => call.signal.aborted)).toEqual([true, false, false]);
    for (const one of server.waiting) one.end();
    server.input.end();
    await server.closed;
    expect(server.answers()).toMatchObject([
      { id: 2, result: text("two") },
      { id: 1, result: text("again") },
    ]);
  });

  test("F6 a second one of the same id is refused while the first is under way", async () => {
    const server = start();
    server.send(call(1, "wait", { name: "one" }), call(1, "echo"));
    await until(() => server.written.length === 1, "the second is answered");
    server.waiting[0]?.end();
    server.input.end();
    await server.closed;
    expect(server.answers()).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 1, result: text("one") },
    ]);
  });
});

describe("wrong input", () => {
  test("F6 a batch is refused with what to do instead", async () => {
    const [answer] = await start().all([request(1, "ping")]);
    expect(answer?.error?.message).toBe("Batches are not supported: send one message at a time.");
  });

  const deep = `${"[".repeat(50_000)}`;
  test.each<[string, unknown, number]>([
    ["{", null, -32700],
    ["hello", null, -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"', null, -32700],
    ["\u0000", null, -32700],
    [deep, null, -32700],
    ["[]", null, -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', null, -32600],
    ["null", null, -32600],
    ["17", null, -32600],
    ['"ping"', null, -32600],
    ["{}", null, -32600],
    ['{"id":1,"method":"ping"}', 1, -32600],
    ['{"jsonrpc":"1.0","id":"a","method":"ping"}', "a", -32600],
    ['{"jsonrpc":"2.0","id":1}', 1, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":5}', 1, -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', null, -32600],
    ['{"jsonrpc":"2.0","id":1e999,"method":"ping"}', null, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 1, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"resources/list"}', 1, -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"toString"}', 1, -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 1, -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', 1, -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}', 1, -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__"}}', 1, -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}}', 1, -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":7}}', 1, -32602],
  ])("F6 H5 %.80s is answered to %j with %d, and the server goes on", async (line, id, code) => {
    const [wrong, ping, ...more] = await start().all(line, request("after", "ping"));
    expect(wrong).toEqual({
      jsonrpc: "2.0",
      id,
      error: { code, message: expect.stringMatching(/^[^\n]{5,}$/) },
    });
    expect(ping).toEqual({ jsonrpc: "2.0", id: "after", result: {} });
    expect(more).toEqual([]);
  });

  test.each([
    "",
    "  ",
    "\r",
    '{"jsonrpc":"2.0","method":"notifications/unknown"}',
    '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}',
  ])("F6 %j asks for nothing and gets nothing", async (line) => {
    expect(await start().all(line, request("after", "ping"))).toMatchObject([{ id: "after" }]);
  });
});

describe("bytes", () => {
  test("F6 wherever the bytes are cut, the answers are the same", async () => {
    const sent = [
      request(1, "initialize", { protocolVersion: "2025-06-18" }),
      call(2, "echo", { text: "Grüße 👩‍👩‍👧 \u2028 漢字" }),
      "{ no JSON",
      "",
      call(3, "wrong"),
      request(4, "ping"),
    ];
    const lines = sent.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    // the last one has no end
    const bytes = Buffer.from(lines.join("\r\n"));
    const whole = await start().all(...sent);
    expect(whole).toHaveLength(5);
    const property = fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
      const server = start();
      let from = 0;
      for (const end of [...cuts.sort((a, b) => a - b), bytes.length]) {
        server.input.write(bytes.subarray(from, end));
        from = end;
      }
      server.input.end();
      await server.closed;
      const byId = (answers: readonly Answer[]) => new Map(answers.map((answer) => [answer.id, answer]));
      expect(server.answers()).toHaveLength(5);
      expect(byId(server.answers())).toEqual(byId(whole));
      // whole lines, one each
      for (const line of server.written) expect(line).toMatch(/^\{[^\n]*\}\n$/);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("F6 a line of 20 MB comes in many pieces and goes back whole", async () => {
    const server = start();
    const long = "ü".repeat(10_000_000);
    const bytes = Buffer.from(`${JSON.stringify(call(1, "echo", { text: long }))}\n`);
    for (let at = 0; at < bytes.length; at += 65_536) server.input.write(bytes.subarray(at, at + 65_536));
    server.input.end();
    await server.closed;
    const [{ result } = { result: undefined }] = server.answers();
    expect(JSON.stringify(result).length).toBeGreaterThan(long.length);
    expect(JSON.stringify(result).includes(long)).toBe(true);
  });

  test("F6 a line that is longer than any message is left out, and its neighbours are not", async () => {
    const server = start();
    server.send(request(1, "ping"));
    const piece = Buffer.alloc(1024 * 1024, "x");
    for (let count = 0; count < 65; count++) server.input.write(piece);
    const answers = await server.all("", request(2, "ping"));
    expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  });
});

describe("the end", () => {
  test("F6 the end of input aborts what is under way and is told at once; the answer still goes out", async () => {
    const server = start();
    server.send(call(1, "wait", { name: "one" }));
    await until(() => server.waiting.length === 1, "it is under way");
    server.input.end();
    await until(() => server.heard.includes("closed"), "the end is told");
    const [one] = server.waiting;
    expect(one?.call.signal.aborted).toBe(true);
    expect(server.written).toEqual([]);
    one?.end();
    await server.closed;
    expect(server.answers()).toMatchObject([{ id: 1 }]);
    expect(server.heard).toEqual(["closed"]);
  });

  test("F6 an output that breaks ends it quietly: nothing more is written, and nothing more is read", async () => {
    const tries: string[] = [];
    const output = new Writable({
      // as stdout does, it stays open
      autoDestroy: false,
      write: (chunk: Buffer, _, done) => {
        tries.push(chunk.toString("utf8"));
        done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      },
    });
    const server = start({ output });
    server.send(call(1, "wait", { name: "early" }), request(2, "ping"));
    await until(() => server.heard.includes("closed"), "the end is told");
    server.send(request(3, "ping"), call(4, "wait", { name: "late" }));
    server.input.end();
    expect(server.waiting.map(({ name, call }) => [name, call.signal.aborted])).toEqual([["early", true]]);
    server.waiting[0]?.end();
    await server.closed;
    expect(tries).toHaveLength(1);
    expect(server.heard).toEqual(["closed"]);
  });

  test("F6 an input that breaks is an end like any other", async () => {
    const server = start();
    server.input.destroy(new Error("read EIO"));
    await server.closed;
    expect(server.heard).toEqual(["closed"]);
  });
});
