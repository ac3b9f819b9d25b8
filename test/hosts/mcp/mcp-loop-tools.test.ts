/** The six tools as a client sees them: what they cost, what they take, what they answer. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { FireId, LoopId } from "../../../src/core/loop.ts";
import { describeTool } from "../../../src/hosts/mcp/tool.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { type LoopToolContext, loopTools } from "../../../src/tools/loop-tools.ts";

const NOW = Date.parse("2026-03-02T08:00:00Z");
const NAMES = ["CronCreate", "CronDelete", "CronList", "Wakeup", "loop_report", "loop_status"];

function open(changes: Partial<LoopToolContext> = {}) {
  const project = mkdtempSync(join(tmpdir(), "loop tools "));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const store = new FolderStore(ensureLoopDir(project), { now: () => NOW, say: () => {} });
  const tools = loopTools({
    store,
    now: () => NOW,
    newId: () => "ab000000",
    tz: "UTC",
    maxTasks: 3,
    expiresMs: 7 * 86_400_000,
    turnTimeoutMs: 3_600_000,
    jitter: false,
    session: null,
    currentFire: () => null,
    ...changes,
  });
  return {
    store,
    tools,
    async run(name: string, input: unknown = {}) {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      return tool.run(input, { signal: new AbortController().signal, isFromModel: true });
    },
  };
}

test("A15 A17 B10 six tools, each with a short description and an object to fill in", () => {
  const { tools } = open();
  expect(tools.map(({ name }) => name)).toEqual(NAMES);
  for (const tool of tools) {
    expect(tool.description.split(/\s+/).length, tool.name).toBeLessThanOrEqual(40);
    expect(describeTool(tool)).toMatchObject({
      inputSchema: { type: "object", additionalProperties: false },
      outputSchema: { type: "object" },
    });
  }
  expect(tools.filter(({ alwaysLoad }) => alwaysLoad).map(({ name }) => name)).toEqual([
    "Wakeup",
    "loop_report",
  ]);
  // the model pays for it in every request: characters, four or so to a token
  expect(JSON.stringify(tools.map(describeTool)).length).toBeLessThan(5_000);
});

test("A15 what may be left out is not asked for", () => {
  const required = open().tools.map((tool) => {
    const { inputSchema } = describeTool(tool) as { inputSchema: { required?: string[] } };
    return [tool.name, inputSchema.required ?? []];
  });
  expect(Object.fromEntries(required)).toEqual({
    CronCreate: ["cron", "prompt"],
    CronDelete: ["id"],
    CronList: [],
    Wakeup: [],
    loop_report: ["nonce", "exit_signal"],
    loop_status: [],
  });
});

test("A15 answers are compact JSON, with who fires it where that is somebody else", async () => {
  const { run } = open({ runner: () => "Nothing runs it yet." });
  const both = (value: object) => ({ text: JSON.stringify(value), value });
  const made = {
    id: "ab000000",
    humanSchedule: "Every 5 minutes",
    recurring: true,
    durable: true,
    nextFireAt: "2026-03-02T08:05:00.000Z",
  };
  const input = { cron: "*/5 * * * *", prompt: "look" };
  expect(await run("CronCreate", input)).toEqual(both({ ...made, runner: "Nothing runs it yet." }));
  expect(JSON.parse((await run("CronList")).text)).toMatchObject({ tasks: [{ id: "ab000000" }] });
  expect(await run("CronDelete", { id: "ab" })).toEqual(both({ id: "ab000000" }));
  expect(await run("CronList")).toEqual(both({ tasks: [] }));
  expect(await open().run("CronCreate", input)).toEqual(both(made));
});

test.each([
  ["CronCreate", { cron: "61 * * * *", prompt: "x" }, /minute field has "61"/],
  ["CronCreate", null, /^input: /],
  ["CronDelete", { id: "ab" }, /There is no task ab/],
  ["CronList", { all: true }, /all/],
  ["Wakeup", { delaySeconds: 5, reason: "x" }, /^delaySeconds: /],
  ["Wakeup", { delaySeconds: 300, reason: "x" }, /^No turn of a self-paced loop is running/],
  ["loop_report", { nonce: "x", exit_signal: true }, /does not count/],
  ["loop_report", { exit_signal: true }, /^nonce: /],
  ["loop_status", {}, /There is no goal loop here/],
])(
  "A15 A17 B10 H5 %s with %j is an error in a sentence, and changes nothing",
  async (name, input, sentence) => {
    const { run, store } = open();
    expect(await run(name, input)).toEqual({ text: expect.stringMatching(sentence), isError: true });
    expect([...store.loops()]).toEqual([]);
  },
);

test("A17 Wakeup is for the fire that the host names, at the moment of the call", async () => {
  const asked: string[] = [];
  let fire: FireId | null = null;
  const { run } = open({
    currentFire: () => {
      asked.push(String(fire));
      return fire;
    },
  });
  await run("Wakeup", { stop: true });
  fire = `${"ab000000" as LoopId}-1` as FireId;
  expect(await run("Wakeup", { stop: true })).toMatchObject({ isError: true });
  expect(asked).toEqual(["null", "ab000000-1"]);
});
