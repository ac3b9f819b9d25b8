/** H4 H5 connections: who may hold them, for how long, and that nobody keeps others out or breaks their next request. */
import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { listenMcp, type McpHttpOptions } from "../../../src/hosts/mcp/http.ts";
import { clientOf, ping } from "../../support/mcp-client.ts";
import { until } from "../../support/until.ts";

async function start(options: McpHttpOptions = {}) {
  const http = await listenMcp(options);
  onTestFinished(() => http.close());
  const guest = http.admit(() => ({ name: "x", version: "1", tools: [] }));
  return { http, guest, port: Number(new URL(http.url).port), ...clientOf(http.url, guest) };
}

/** Connects and says `text`, and nothing more. */
async function wait(port: number, text = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {}).resume();
  await new Promise((done) => socket.once("connect", done).once("close", done));
  if (text !== "") socket.write(text);
  return socket;
}

const openOf = (sockets: readonly Socket[]) => sockets.filter((socket) => !socket.closed).length;

const HEAD = "POST /mcp HTTP/1.1\r\nHost: x\r\n";

describe("strangers", () => {
  test.each([
    ["say nothing", ""],
    ["never finish their headers", HEAD],
    ["announce a body and do not send it", `${HEAD}Content-Length: 100\r\n\r\n`],
  ])("300 that %s do not keep a guest out", async (_, text) => {
    const { port, post } = await start();
    const sockets = await Promise.all(Array.from({ length: 300 }, () => wait(port, text)));
    const before = performance.now();
    for (let n = 0; n < 5; n++) expect((await post(ping)).status).toBe(200);
    expect(performance.now() - before).toBeLessThan(2_000);
    await until(() => openOf(sockets) <= 64, "only the youngest are kept");
  });

  test("one that shows no token in time is cut off, whatever it sends", async () => {
    const { port, post } = await start({ strangerMs: 200 });
    const drip = await wait(port, HEAD);
    const dripping = setInterval(() => drip.write("X-A: b\r\n"), 20);
    onTestFinished(() => clearInterval(dripping));
    const silent = await wait(port);
    await until(() => openOf([drip, silent]) === 0, "both are cut off");
    expect((await post(ping)).status).toBe(200);
  });

  test("one without a token gets its answer, and its connection ends", async () => {
    const { port, post } = await start();
    const refused = await post("x".repeat(3 * 1024 * 1024), { Authorization: "Bearer x" });
    expect([refused.status, refused.headers.get("connection")]).toEqual([401, "close"]);
    const socket = await wait(port, `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    await until(() => socket.closed, "it is closed");
  });
});

describe("guests", () => {
  test("a connection that has shown a token stays open for the next request", async () => {
    const { port, guest } = await start({ strangerMs: 150 });
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${guest.headers.Authorization}\r\n`;
    const body = JSON.stringify(ping);
    const full = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let said = "";
    socket.on("data", (bytes) => {
      said += bytes.toString();
    });
    socket.write(full);
    await until(() => said.includes('"result"'), "it is answered");
    const stranger = await wait(port);
    await until(() => stranger.closed, "the time of strangers is over");
    said = "";
    socket.write(full);
    await until(() => said.includes('"result"'), "it is answered again");
  });

  test("one guest with many connections does not keep another out", async () => {
    const { http, port, guest } = await start();
    const other = clientOf(
      http.url,
      http.admit(() => ({ name: "x", version: "1", tools: [] })),
    );
    const head = `${HEAD.replace("Host: x", `Host: 127.0.0.1:${port}`)}Authorization: ${guest.headers.Authorization}\r\n`;
    const sockets = await Promise.all(
      Array.from({ length: 300 }, () => wait(port, `${head}Content-Length: 9\r\n\r\n`)),
    );
    expect((await other.post(ping)).status).toBe(200);
    await until(() => openOf(sockets) <= 64, "only its youngest are kept");
    expect((await other.post(ping)).status).toBe(200);
  });
});

test("requests after a 413 on the same connection are answered, 60 of 60", async () => {
  const { port, guest } = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const headers = { ...guest.headers, "Content-Type": "application/json" };
  const sockets = new Set<Socket>();
  const post = (body: string) =>
    new Promise<number | string>((resolve) => {
      const to = { host: "127.0.0.1", port, path: "/mcp", method: "POST", agent, headers };
      const sent = httpRequest(to, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      });
      sent.on("socket", (socket) => sockets.add(socket)).on("error", (error) => resolve(error.message));
      sent.setTimeout(1_000, () => sent.destroy(new Error("timeout"))).end(body);
    });
  const answers = [];
  for (let n = 0; n < 60; n++) {
    const size = (n % 3) + 1;
    answers.push(`${await post("x".repeat(size * 1024 * 1024 + 1))} ${await post(JSON.stringify(ping))}`);
  }
  expect(answers).toEqual(Array(60).fill("413 200"));
  expect(sockets.size).toBe(1);
});
