/** What `opencode run --format json` says of a turn: recordings of 1.18.33 against a scripted model. */
import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createOpencodeAgent, readOpencode, readOpencodeLine } from "../../../src/agents/opencode/cli.ts";
import type { StreamAgentOptions } from "../../../src/agents/stream/stream-agent.ts";
import type { FailureClass } from "../../../src/core/goal/goal.ts";
import type { Turn } from "../../../src/ports/agent.ts";
import { failedAs, makeControl, makeProject, makeTurn, type Project } from "../../fixtures/agents/project.ts";
import { recorded, replayer } from "../recorded/replay.ts";

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

const recording = (name: string) => recorded("opencode", name);
const read = (name: string, turn: Partial<Turn> = {}) =>
  readOpencode(
    { exitCode: 0, answer: recording(name), stderr: "" },
    { conversation: null, ...turn },
    "/project",
  );
const idOf = (name: string) => /"sessionID":"([^"]+)"/.exec(recording(name))?.[1] ?? "";

describe("E3 the end of a turn of opencode", () => {
  test("the text of the last step is the answer; steps are added up", () => {
    expect(read("edits")).toEqual({
      answer: "DONE<Wrote file successfully.>",
      usage: { costUsd: 0.00642, inputTokens: 2000, outputTokens: 100, cacheReadTokens: 400 },
      conversation: { id: idOf("edits"), costUsd: 0.00642 },
      activity: { toolCalls: 1, edits: { "w.txt": 1 }, reads: [], denials: [] },
      failure: null,
      isOver: true,
    });
  });

  test("a conversation that goes on adds to what it cost", () => {
    const id = idOf("resumed");
    expect(read("resumed", { conversation: { id, costUsd: 1 } })).toMatchObject({
      usage: { costUsd: 0.00321 },
      conversation: { id, costUsd: 1.00321 },
    });
    expect(read("resumed", { conversation: { id, costUsd: null } }).conversation).toEqual({
      id,
      costUsd: null,
    });
  });

  test("what it asked for and nobody allowed ends the turn: denied, although it ends with 0", () => {
    expect(read("auto-rejected")).toMatchObject({
      failure: { class: "denied", reason: "opencode: nobody could answer its request for permission: bash" },
      activity: { toolCalls: 1, denials: ["bash"] },
    });
  });

  test("what a rule denies the model is told, and the turn goes on", () => {
    expect(read("denied")).toMatchObject({ failure: null, activity: { denials: ["bash"] } });
  });

  test("a turn that ends in the middle for no reason that is told is a fault", () => {
    const answer = recording("command").split("\n").slice(0, 4).join("\n");
    const reading = readOpencode({ exitCode: 0, answer, stderr: "" }, { conversation: null }, "/project");
    expect(reading.failure).toMatchObject({
      class: "fault",
      reason: "opencode: it stopped before the turn was complete",
    });
  });
});

describe("B13 the class of a failure of opencode", () => {
  test.each<[string, FailureClass, string]>([
    ["unauthorized", "auth", "opencode: APIError 401 scripted error 401"],
    ["forbidden", "auth", "opencode: APIError 403 scripted error 403"],
    ["rate-limited", "quota", "opencode: APIError 429 You have hit your usage limit (scripted)"],
    ["server-error", "outage", "opencode: APIError 500 scripted error 500"],
    ["bad-request", "fault", "opencode: APIError 400 scripted error 400"],
  ])("%s: %s", (name, type, reason) => {
    expect(read(name)).toMatchObject({ failure: { class: type, reason }, isOver: true, answer: "" });
  });

  test("quota: until the moment that the answer of the model names", () => {
    const at = Number(/"timestamp":(\d+)/.exec(recording("rate-limited"))?.[1]);
    expect(read("rate-limited").failure?.resetsAt).toBe(at + 2_000);
  });

  test.each<[string, FailureClass]>([
    ["ContextOverflowError", "overflow"],
    ["ProviderAuthError", "auth"],
    ["MessageOutputLengthError", "timeout"],
    ["UnknownError", "fault"],
  ])("%s: %s", (name, type) => {
    const answer = JSON.stringify({
      type: "error",
      sessionID: "ses_1",
      error: { name, data: { message: "x" } },
    });
    const reading = readOpencode({ exitCode: 1, answer, stderr: "" }, { conversation: null }, "/project");
    expect(reading.failure).toMatchObject({ class: type, reason: `opencode: ${name} x` });
  });
});

describe("E3 opencode as a process", () => {
  const work = { LOOP_KIND: "work", LOOP_ROLE: "generator" };
  const start = (name: string, options: Partial<StreamAgentOptions> = {}, exit = 0) => {
    const one = replayer(project.dir, recording(name), exit);
    const agent = createOpencodeAgent({ ...options, executable: one.executable, projectDir: project.dir });
    const rules = () => JSON.parse(one.called().env.OPENCODE_PERMISSION ?? "null") as unknown;
    const run = (turn: Partial<Turn> = {}) => agent.run(makeTurn(turn), makeControl());
    return { ...one, run, rules };
  };

  test("the prompt is its stdin, and its temporary folder is gone after it", async () => {
    const one = start("ok");
    expect(await one.run({ text: "do it", model: "a/b" })).toMatchObject({ kind: "ok", answer: "hello" });
    const { argv, stdin, env } = one.called();
    expect([argv, stdin]).toEqual([["run", "--format", "json", "--model=a/b"], "do it"]);
    expect(env.TMPDIR).not.toBe(process.env.TMPDIR);
    expect(existsSync(env.TMPDIR ?? "/")).toBe(false);
  });

  test("its exit code is the agent's", async () => {
    const one = start("unauthorized", {}, 1);
    expect(await one.run()).toMatchObject(failedAs("auth", expect.any(String)));
  });

  test("one that is killed between two steps was killed, not stopped half way", async () => {
    const one = replayer(project.dir, recording("command").split("\n").slice(0, 5).join("\n"), 137);
    const agent = createOpencodeAgent({ executable: one.executable, projectDir: project.dir });
    expect(await agent.run(makeTurn(), makeControl())).toMatchObject({
      ...failedAs("fault", "killed by SIGKILL"),
      usage: { costUsd: 0.00321 },
      conversation: { id: idOf("command") },
    });
  });

  test("who works may edit and run the checks; who judges nothing; a task has the person's own rules", async () => {
    const one = start("ok");
    await one.run({ env: work, commands: ["npm test", "two\nlines"] });
    expect(one.rules()).toEqual({
      edit: { "*": "allow", ".loop/*": "deny", ".git/*": "deny" },
      bash: { "*": "deny", "npm test": "allow" },
    });
    await one.run({ env: { LOOP_ROLE: "judge" }, commands: ["npm test"], token: 8 });
    expect(one.rules()).toEqual({ edit: "deny", bash: "deny" });
    await one.run({ token: 9 });
    expect(one.rules()).toBeNull();
  });

  test("rules of the project's configuration come after them", async () => {
    const one = start("ok", { permissions: { execute: { "npm *": "allow", "npm publish": "deny" } } });
    await one.run({ env: work, commands: ["make"] });
    expect(one.rules()).toMatchObject({
      bash: { "*": "deny", make: "allow", "npm *": "allow", "npm publish": "deny" },
    });
    const open = start("ok", { permissions: { execute: "allow", edit: "deny" } });
    await open.run({ env: work, token: 8 });
    expect(open.rules()).toEqual({ edit: "deny", bash: "allow" });
  });

  test("a conversation goes on by its id", async () => {
    const one = start("resumed");
    await one.run({ conversation: { id: "ses_abc1", costUsd: 1 } });
    expect(one.called().argv).toContain("--session=ses_abc1");
    await one.run({ conversation: { id: "--share", costUsd: 1 }, token: 8 });
    expect(one.called().argv).toEqual(["run", "--format", "json"]);
  });
});

test("E3 what is shown while opencode works", () => {
  const shown = (name: string) =>
    recording(name)
      .split("\n")
      .flatMap((line) => readOpencodeLine(line, "/project"));
  expect(shown("edits")).toEqual([
    { type: "text", text: "writing" },
    { type: "tool", name: "write", detail: "w.txt" },
    { type: "file", path: "w.txt" },
    { type: "usage", usage: expect.objectContaining({ costUsd: 0.00321 }) },
    { type: "text", text: "DONE<Wrote file successfully.>" },
    { type: "usage", usage: expect.objectContaining({ inputTokens: 1000 }) },
  ]);
  expect(shown("auto-rejected")).toContainEqual({ type: "permission", tool: "bash", answer: "denied" });
  expect(shown("rate-limited")).toEqual([
    { type: "failure", failure: expect.objectContaining({ class: "quota" }) },
  ]);
});
