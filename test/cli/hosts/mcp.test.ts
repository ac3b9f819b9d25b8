/** `loop mcp` as a client starts it: a real process, the protocol on its pipes. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  cleanEnv,
  create,
  LOOP,
  listOf,
  loopJson,
  makeProject,
  runLoop,
  startLoop,
} from "../../support/cli.ts";
import { CHECK, makeAgent, makeRepository, SPEC, stateOf } from "../../support/goals/goal-cli.ts";
import { until } from "../../support/until.ts";

interface Answer {
  readonly id: number | null;
  readonly result?: { readonly content?: readonly { readonly text: string }[]; readonly isError?: boolean };
  readonly error?: object;
}

const request = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const call = (id: number, name: string, args: object = {}) =>
  request(id, "tools/call", { name, arguments: args });
const EVERY_FIVE = { cron: "*/5 * * * *", prompt: "look" };

/** A client that keeps its server and asks it one thing after the other. */
function connect(cwd: string, ...args: string[]) {
  const child = spawn(process.execPath, [LOOP, "mcp", ...args], { cwd, env: cleanEnv(cwd) });
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const answers: Answer[] = [];
  let said = "";
  createInterface({ input: child.stdout }).on("line", (line) => answers.push(JSON.parse(line) as Answer));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  let count = 0;
  return {
    child,
    closed,
    said: () => said,
    async ask(name: string, input: object = {}): Promise<{ text: string; isError?: boolean }> {
      const id = ++count;
      child.stdin.write(call(id, name, input));
      const answer = await until(
        () => answers.find((one) => one.id === id),
        `${name} is answered, not ${said}`,
      );
      const { content = [], isError } = answer.result ?? {};
      return { text: content[0]?.text ?? JSON.stringify(answer), ...(isError ? { isError } : {}) };
    },
  };
}

/** What was written on stdout, every line of it. */
const answersOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer);

describe("loop mcp", () => {
  test("F6 A15 answers all that was piped in, ends with its input, and makes no folder by being looked at", async () => {
    const cwd = makeProject();
    const input = [
      request(1, "initialize", { protocolVersion: "2025-06-18" }),
      request(2, "tools/list"),
      call(3, "CronList"),
      call(4, "CronCreate", { cron: "99 * * * *", prompt: "x" }),
      call(5, "CronDelete", { id: "ab" }),
    ];
    const { code, stdout, stderr } = await runLoop(["mcp"], { cwd, input: input.join("") });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const answers = new Map(answersOf(stdout).map((answer) => [answer.id, answer]));
    expect(answers.get(1)?.result).toMatchObject({
      protocolVersion: "2025-06-18",
      serverInfo: { name: "loop", version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      instructions: expect.stringContaining("loop up"),
    });
    expect(answers.get(2)?.result).toMatchObject({
      tools: ["CronCreate", "CronDelete", "CronList", "Wakeup", "loop_report", "loop_status"].map((name) => ({
        name,
      })),
    });
    expect(answers.get(3)?.result).toEqual({
      content: [{ type: "text", text: '{"tasks":[]}' }],
      structuredContent: { tasks: [] },
    });
    for (const id of [4, 5]) expect(answers.get(id)?.result).toMatchObject({ isError: true });
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("A15 A12 what a client creates is a task like any other, and what others do is seen at once", async () => {
    const cwd = makeProject();
    const client = connect(cwd);
    const made = JSON.parse((await client.ask("CronCreate", EVERY_FIVE)).text) as { id: string };
    expect(made).toMatchObject({
      humanSchedule: "Every 5 minutes",
      recurring: true,
      durable: true,
      runner: "Nothing runs it yet. To run it, start in this folder: loop up",
    });
    expect((await listOf(cwd)).tasks).toMatchObject([{ id: made.id, prompt: "look" }]);
    const other = await create(cwd, "20m", "another", "--detach");
    const { tasks } = JSON.parse((await client.ask("CronList")).text) as { tasks: { id: string }[] };
    expect(tasks.map(({ id }) => id).sort()).toEqual([made.id, other.id].sort());
    await loopJson(["delete", other.id], { cwd });
    expect(await client.ask("CronDelete", { id: other.id })).toMatchObject({ isError: true });
    expect(await client.ask("CronDelete", { id: made.id })).toEqual({ text: `{"id":"${made.id}"}` });
    expect((await listOf(cwd)).tasks).toEqual([]);
    client.child.stdin.end();
    expect(await client.closed).toBe(0);
    expect(client.said()).toBe("");
  });

  test("A12 what a person wrote into tasks.json is carried out before a call, and said on stderr", async () => {
    const cwd = makeProject();
    const client = connect(cwd);
    await client.ask("CronCreate", EVERY_FIVE);
    const path = join(cwd, ".loop/tasks.json");
    writeFileSync(path, readFileSync(path, "utf8").replace('"look"', '"look twice"'));
    const { text } = await client.ask("CronList");
    expect(JSON.parse(text)).toMatchObject({ tasks: [{ prompt: "look twice" }] });
    expect(client.said()).not.toBe("");
  });

  test("F6 a client that stops reading ends it quietly", async () => {
    const client = connect(makeProject());
    await client.ask("CronList");
    client.child.stdout.destroy();
    client.child.stdin.write(request(9, "ping").repeat(100));
    expect(await client.closed).toBe(0);
    expect(client.said()).toBe("");
  });

  test("H2 tasks that came from somewhere else are shown and not touched", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "look", "--detach");
    writeFileSync(join(cwd, ".loop/origin"), `${"0".repeat(64)}\n`);
    const client = connect(cwd);
    expect(await client.ask("CronCreate", EVERY_FIVE)).toEqual({
      text: expect.stringContaining("loop trust"),
      isError: true,
    });
    const { tasks } = JSON.parse((await client.ask("CronList")).text) as { tasks: unknown[] };
    expect(tasks).toHaveLength(1);
    expect(client.said()).toContain("loop trust");
  });

  test("H5 a config that is wrong, and a folder that is not there, are one sentence and nothing on stdout", async () => {
    const cwd = makeProject();
    mkdirSync(join(cwd, ".loop"));
    writeFileSync(join(cwd, ".loop/config.json"), "{");
    expect(await runLoop(["mcp"], { cwd })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^loop: .*config\.json is not JSON/),
    });
    expect(await runLoop(["mcp", "-C", "nowhere"], { cwd })).toMatchObject({ code: 64, stdout: "" });
  });
});

describe("inside a turn", () => {
  test("A17 Wakeup is for the fire that the turn belongs to", async () => {
    const cwd = makeProject();
    await create(cwd, "auto", "watch the release");
    writeFileSync(join(cwd, "ask"), call(1, "Wakeup", { delaySeconds: 1_800, reason: "slow" }));
    const up = startLoop(["up", "--agent-cmd", "mkdir -p sub; cd sub; loop mcp < ../ask > ../said"], { cwd });
    await up.line(/(✓ ok|✗ failed)/);
    up.signal("SIGTERM");
    await up.ended;
    expect(answersOf(readFileSync(join(cwd, "said"), "utf8"))).toMatchObject([
      { id: 1, result: { content: [{ text: '{"wakeup":"sleep"}' }] } },
    ]);
    const [task] = (await listOf(cwd)).tasks;
    expect((Date.parse(task?.nextFireAt ?? "") - Date.now()) / 1_000).toBeGreaterThan(1_700);
  });

  test("B10 loop_report under the nonce of the turn is the agent's claim, and the checks decide", async () => {
    const cwd = makeRepository();
    const report = call(1, "loop_report", { nonce: "NONCE", exit_signal: true, criteria: { done: true } });
    writeFileSync(join(cwd, "..", "ask"), report + call(2, "loop_status"));
    const agent = makeAgent(
      cwd,
      "touch done.txt",
      'sed "s/NONCE/$LOOP_NONCE/" "$LOOP_PROJECT/../ask" | loop mcp > "$LOOP_PROJECT/../said"',
    );
    const run = await runLoop(["until", ...CHECK, "--yes", "--agent-cmd", agent, SPEC], { cwd });
    expect({ code: run.code, said: readFileSync(join(cwd, "..", "said"), "utf8") }).toEqual({
      code: 0,
      said: expect.stringContaining("as a claim"),
    });
    expect(stateOf(cwd)).toMatchObject({ status: "completed", exit_signal: true });
  });
});
