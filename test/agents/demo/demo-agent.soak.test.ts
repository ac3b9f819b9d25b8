import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as acp from "@agentclientprotocol/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAcpAgent } from "../../../src/agents/acp/acp-agent.ts";
import { profileOf } from "../../../src/agents/acp/profiles.ts";
import { DEMO_FILES } from "../../../src/agents/demo/scenes.ts";
import { parseClaims, statusTemplate } from "../../../src/core/claims/claims.ts";
import { makeProject, makeTurn, makeWatcher, type Project } from "../../fixtures/agents/project.ts";
import { LOOP } from "../../support/cli.ts";
import {
  ALLOW,
  connectDemo,
  type DemoClient,
  type Outcome,
  REJECT,
  readDemo,
  startDemoAgent,
  writeDemo,
} from "../../support/demo-client.ts";
import { until } from "../../support/until.ts";

const CRITERIA = ["npm test passes"];
const promptWith = (nonce: string) => `Go on.\n\n${statusTemplate(nonce, CRITERIA, false)}`;

let project: Project;
let client: DemoClient | null = null;
beforeEach(async () => {
  project = await makeProject(`it's the "demo"`);
  writeDemo(project.dir);
});
afterEach(async () => {
  await client?.close();
  client = null;
  await project.remove();
});

async function connect(answer?: Parameters<typeof connectDemo>[1]): Promise<DemoClient> {
  client = await connectDemo(project.dir, answer);
  return client;
}

function isGreen(): boolean {
  try {
    execFileSync(process.execPath, ["--test"], { cwd: project.dir, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("with the client side of the protocol's own SDK", () => {
  test("E4 it plays its scenes: real edits, a lie, a bent test, the truth, each with a report of its turn", async () => {
    const demo = await connect();
    const session = await demo.open();
    const turns: unknown[] = [];
    for (const nonce of ["n1", "n2", "n3", "n4", "n5"]) {
      const asked = demo.asked.length;
      const { stopReason } = await demo.prompt(session, promptWith(nonce));
      const report = parseClaims(demo.said(), { nonce, criteria: CRITERIA });
      const claimsDone = report.kind === "valid" ? report.claims.exitSignal : report;
      const edited = demo.asked.slice(asked).map(({ toolCall }) => toolCall.locations?.[0]?.path);
      turns.push([stopReason, claimsDone, edited, isGreen()]);
    }
    const [source, bent] = ["src/prices.js", "test/prices.test.js"].map((path) => join(project.dir, path));
    expect(turns).toEqual([
      ["end_turn", false, [source], false],
      ["end_turn", true, [], false],
      ["end_turn", true, [bent], true],
      ["end_turn", true, [bent, source], true],
      ["end_turn", true, [], true],
    ]);
    expect(readDemo(project.dir)["test/prices.test.js"]).toBe(DEMO_FILES["test/prices.test.js"]);
    const costs = demo.updates.flatMap((update) =>
      update.sessionUpdate === "usage_update" ? [update.cost?.amount] : [],
    );
    expect(costs).toEqual([0.03, 0.05, 0.08, 0.12, 0.16]);
  });

  test("E4 an edit is told, asked for and told again; text comes in pieces", async () => {
    const demo = await connect();
    await demo.prompt(await demo.open(), "no form, no report");
    const path = join(project.dir, "src/prices.js");
    const before = DEMO_FILES["src/prices.js"];
    const diff = { type: "diff", path, oldText: before, newText: before?.replace(".slice(1)", "") };
    expect(demo.asked).toMatchObject([
      { toolCall: { toolCallId: "edit-1", kind: "edit", content: [diff] }, options: [{}, {}] },
    ]);
    const chunks = demo.updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    expect(demo.updates).toMatchObject([
      { sessionUpdate: "tool_call", toolCallId: "edit-1", status: "pending" },
      { sessionUpdate: "tool_call_update", toolCallId: "edit-1", status: "completed" },
      ...chunks,
      { sessionUpdate: "usage_update" },
    ]);
    expect(chunks.length).toBeGreaterThan(1);
    expect(demo.said()).toBe("One bug is fixed: the first price was left out. The discount is next.");
  });

  test.each<[string, Outcome, string]>([
    ["without permission it writes nothing, but claims that it did", REJECT, "end_turn"],
    ["a question that is taken back ends the turn", { outcome: "cancelled" }, "cancelled"],
  ])("E4 %s", async (_, outcome, stopReason) => {
    const demo = await connect(() => outcome);
    expect(await demo.prompt(await demo.open(), "go")).toMatchObject({ stopReason });
    expect(readDemo(project.dir)).toEqual(DEMO_FILES);
    expect(demo.said() === "").toBe(stopReason === "cancelled");
  });

  test("E4 cancelled while it works and while it asks: it answers so, writes nothing, and takes the next prompt", async () => {
    let answer: (outcome: Outcome) => void = () => {};
    const demo = await connect(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const cancel = (sessionId: string) => demo.agent.notify(acp.methods.agent.session.cancel, { sessionId });
    const [first, second] = [await demo.open(), await demo.open()];
    const atOnce = demo.prompt(first, "go");
    await cancel(first);
    expect(await atOnce).toEqual({ stopReason: "cancelled" });
    const whileAsking = demo.prompt(second, "go");
    await until(() => demo.asked.length > 0, "it asks for permission");
    await cancel(second);
    expect(await whileAsking).toEqual({ stopReason: "cancelled" });
    answer(ALLOW);
    const next = demo.prompt(second, "go on");
    await until(() => demo.asked.length > 1, "it asks again");
    expect(readDemo(project.dir)).toEqual(DEMO_FILES);
    answer(ALLOW);
    expect(await next).toMatchObject({ stopReason: "end_turn" });
    expect(readDemo(project.dir)).not.toEqual(DEMO_FILES);
  });

  test("E4 a conversation can be loaded again, and goes on where it was", async () => {
    const demo = await connect();
    const sessionId = await demo.open();
    await demo.prompt(sessionId, "first");
    const said = demo.said();
    const load = { sessionId, cwd: project.dir, mcpServers: [] };
    await demo.agent.request(acp.methods.agent.session.load, load);
    expect(demo.updates.at(-2)).toMatchObject({
      sessionUpdate: "user_message_chunk",
      content: { text: "first" },
    });
    expect(demo.said()).toBe(said);
    await demo.prompt(sessionId, "second");
    expect(demo.said()).toContain("all tests pass");
    const unknown = demo.agent.request(acp.methods.agent.session.load, { ...load, sessionId: "demo-0" });
    await expect(unknown).rejects.toThrow("unknown session: demo-0");
  });

  test("E4 H4 files that are not those of the demo stay as they are", async () => {
    const own = "export const prices = [];\n";
    writeFileSync(join(project.dir, "src/prices.js"), own);
    const demo = await connect();
    expect(await demo.prompt(await demo.open(), "go")).toMatchObject({ stopReason: "end_turn" });
    expect(demo.updates[0]).toMatchObject({ sessionUpdate: "tool_call", status: "failed" });
    expect(demo.asked).toEqual([]);
    expect(readDemo(project.dir)["src/prices.js"]).toBe(own);
  });

  test("E4 it ends when its client has gone, also in the middle of a prompt", async () => {
    const demo = await connect();
    const prompt = demo.prompt(await demo.open(), "go").catch(() => "no answer");
    expect(await demo.close()).toBe(0);
    await prompt;
    expect(readDemo(project.dir)).toEqual(DEMO_FILES);
  });
});

test("E4 wrong input is refused in the protocol's way, one sentence each, and changes nothing", async () => {
  const agent = startDemoAgent(project.dir);
  const exited = new Promise((done) => agent.once("close", done));
  let output = "";
  agent.stdout.on("data", (bytes) => {
    output += bytes;
  });
  const wrong: [string, unknown, number, RegExp][] = [
    ["session/fork", {}, -32601, /^session\/fork is not supported$/],
    ["constructor", {}, -32601, /^constructor is not supported$/],
    ["session/new", {}, -32602, /^cwd: /],
    ["session/new", { cwd: "relative" }, -32602, /^cwd: must be absolute$/],
    ["session/new", null, -32602, /^params: /],
    ["session/load", { sessionId: "x", cwd: project.dir }, -32602, /^unknown session: x$/],
    ["session/prompt", { sessionId: "x", prompt: [{ type: "text" }] }, -32602, /^unknown session: x$/],
    ["session/prompt", { sessionId: "x", prompt: [] }, -32602, /^prompt: /],
    ["session/prompt", { sessionId: "x" }, -32602, /^prompt: /],
  ];
  agent.stdin.write('rubbish\n\n{"jsonrpc":"2.0",\n[]\n{"id":1,"method":"initialize"}\n');
  agent.stdin.write('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}\n');
  agent.stdin.write('{"jsonrpc":"2.0","method":"session/cancel"}\n{"jsonrpc":"2.0","id":99,"result":{}}\n');
  for (const [id, [method, params]] of wrong.entries())
    agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  await until(() => output.split("\n").length > wrong.length, "all is answered");
  agent.stdin.end();
  expect(await exited).toBe(0);
  const answers = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers.sort((a, b) => a.id - b.id)).toEqual(
    wrong.map(([, , code, message], id) => ({
      jsonrpc: "2.0",
      id,
      error: { code, message: expect.stringMatching(message) },
    })),
  );
  expect(readDemo(project.dir)).toEqual(DEMO_FILES);
});

test("E4 a second prompt of the same conversation has to wait for the first", async () => {
  const demo = await connect();
  const session = await demo.open();
  const first = demo.prompt(session, "go");
  await expect(demo.prompt(session, "go")).rejects.toThrow("the session is still answering another prompt");
  expect(await first).toMatchObject({ stopReason: "end_turn" });
});

test("E4 driven as any other agent: one process for all turns, their cost by difference", async () => {
  const profile = { ...profileOf("demo"), args: [LOOP, "demo-agent"] };
  const program = { executable: process.execPath };
  const agent = createAcpAgent({ profile, program, projectDir: project.dir });
  const pids = new Set<number | undefined>();
  const turns: unknown[] = [];
  let conversation = null;
  for (const n of [1, 2, 3]) {
    const control = makeWatcher();
    const env = { LOOP_KIND: "work", LOOP_ROLE: "generator", LOOP_NONCE: "n0nce" };
    const turn = makeTurn({ id: `aabbccdd-${n}`, env, conversation, text: promptWith("n0nce") });
    const end = await agent.run(turn, control);
    if (end.kind !== "ok") throw new Error(JSON.stringify(end));
    conversation = end.conversation;
    pids.add(control.started[0]?.pid);
    const tools = control.events.flatMap((event) => (event.type === "tool" ? [event] : []));
    turns.push([end.usage, end.activity?.edits, tools]);
  }
  const edit = (detail: string) => ({ type: "tool", name: "Edit", detail });
  const usage = (costUsd: number, inputTokens: number) => ({ costUsd, inputTokens, outputTokens: 350 });
  expect(turns).toEqual([
    [usage(0.03, 4_000), { "src/prices.js": 1 }, [edit("src/prices.js")]],
    [usage(0.02, 8_000), {}, []],
    [usage(0.03, 12_000), { "test/prices.test.js": 1 }, [edit("test/prices.test.js")]],
  ]);
  expect(pids.size).toBe(1);
  await agent.close();
  expect(readdirSync(join(project.dir, ".loop"))).toContain("runs");
});
