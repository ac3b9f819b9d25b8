/** What `gemini --output-format stream-json` says of a turn: recordings of 0.61.0 against a scripted model. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGeminiAgent, readGemini, readGeminiLine } from "../../../src/agents/gemini/cli.ts";
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

const recording = (name: string) => recorded("gemini", name);
const readText = (answer: string, exitCode = 0, turn: Partial<Turn> = {}) =>
  readGemini({ exitCode, answer, stderr: "" }, { conversation: null, ...turn }, "/project");
const read = (name: string, exitCode = 0, turn: Partial<Turn> = {}) =>
  readText(recording(name), exitCode, turn);
const idOf = (name: string) => /"session_id":"([^"]+)"/.exec(recording(name))?.[1] ?? "";
const conversation = { id: "8fb2a078-b909-482f-a79b-3d3062b145a4", costUsd: null };

describe("E3 the end of a turn of Gemini CLI", () => {
  test("the pieces after the last call are the answer; what was used is of this run", () => {
    expect(read("edits")).toEqual({
      answer: expect.stringMatching(/^DONE<\{"output":"Successfully created and wrote to new file/),
      usage: {
        costUsd: null,
        inputTokens: 3000,
        outputTokens: 150,
        model: "scripted",
        cacheReadTokens: 600,
      },
      conversation: { id: idOf("edits"), costUsd: null },
      activity: { toolCalls: 1, edits: { "w.txt": 1 }, reads: [], denials: [] },
      failure: null,
      isOver: true,
    });
    expect(read("resumed", 0, { conversation }).usage).toMatchObject({ inputTokens: 2000 });
  });

  test("a conversation in which nothing was said cannot go on, one that went on can", () => {
    expect(read("server-error", 244).conversation).toBeNull();
    expect(read("server-error", 244, { conversation }).conversation?.id).toBe(idOf("server-error"));
  });

  test("denied calls are reported; a failed write is no edit", () => {
    expect(read("denied")).toMatchObject({ failure: null, activity: { denials: ["run_shell_command"] } });
    expect(read("outside").activity).toEqual({ toolCalls: 1, edits: {}, reads: [], denials: [] });
  });

  test("a turn without a model request means that the context is too small", () => {
    const quiet = recording("ok")
      .split("\n")
      .filter((line) => !line.includes('"role":"assistant"'))
      .join("\n");
    expect(readText(quiet).failure).toBeNull();
    expect(readText(quiet.replace('"total_tokens":2100', '"total_tokens":0')).failure).toMatchObject({
      class: "overflow",
    });
    const error = JSON.stringify({ type: "error", severity: "error", message: "Invalid stream" });
    expect(readText(`${error}\n${quiet}`).failure).toMatchObject({
      class: "fault",
      reason: "gemini: Invalid stream",
    });
  });
});

describe("B13 the class of a failure of Gemini CLI is in its exit code", () => {
  test.each<[string, number, FailureClass, RegExp]>([
    ["unauthorized", 145, "auth", /^gemini: 401 \[API Error: .*scripted error 401/],
    ["forbidden", 147, "auth", /^gemini: 403 /],
    ["rate-limited", 173, "quota", /^gemini: 429 \[API Error: You have hit your usage limit/],
    ["quota", 173, "quota", /daily quota/],
    ["server-error", 244, "outage", /^gemini: 500 /],
    ["server-error", 247, "outage", /^gemini: 503 /],
    ["bad-request", 144, "fault", /^gemini: 400 /],
    ["too-long", 144, "fault", /^gemini: 400 .*exceeds the maximum number/],
    ["unauthorized", 41, "auth", /^gemini: \[API/],
    ["ok", 53, "timeout", /^gemini: exit 53/],
    ["server-error", 1, "fault", /^gemini: \[API/],
  ])("%s, %i: %s", (name, code, type, reason) => {
    expect(read(name, code).failure).toMatchObject({
      class: type,
      reason: expect.stringMatching(reason),
      resetsAt: null,
    });
  });

  test("an invalid request in a resumed conversation is an overflow", () => {
    expect(read("too-long", 144, { conversation }).failure?.class).toBe("overflow");
  });

  test("an untrusted folder fails as denied", () => {
    const stderr = "\u001b[31mGemini CLI is not running in a trusted directory.\u001b[0m";
    const reading = readGemini({ exitCode: 55, answer: "", stderr }, { conversation: null }, "/project");
    expect(reading.failure).toEqual({
      class: "denied",
      reason: "gemini: exit 55: Gemini CLI is not running in a trusted directory.",
      resetsAt: null,
    });
  });

  test("the code of a signal says nothing of a status: there is no result then", () => {
    const begun = recording("ok").split("\n").slice(0, 2).join("\n");
    expect(readText(begun, 143)).toMatchObject({ failure: null, isOver: false });
  });
});

describe("E3 Gemini CLI as a process", () => {
  const work = { LOOP_KIND: "work", LOOP_ROLE: "generator" };
  const start = (name: string, options: Partial<StreamAgentOptions> = {}, exit = 0, stderr = "") => {
    const one = replayer(project.dir, name === "" ? "" : recording(name), exit, stderr);
    const agent = createGeminiAgent({ ...options, executable: one.executable, projectDir: project.dir });
    return { ...one, run: (turn: Partial<Turn> = {}) => agent.run(makeTurn(turn), makeControl()) };
  };
  const policyOf = (argv: readonly string[]) => {
    const flag = argv.find((arg) => arg.startsWith("--policy="));
    return flag === undefined ? null : readFileSync(flag.slice("--policy=".length), "utf8");
  };

  test("the prompt is its stdin; who works may edit, and run the checks by a policy", async () => {
    const one = start("ok");
    const turn = { text: "do it", env: work, commands: ['node -e "1"', "npm test"], model: "gemini-9" };
    expect(await one.run(turn)).toMatchObject({ kind: "ok", answer: "hello there" });
    const { argv, stdin } = one.called();
    expect(stdin).toBe("do it");
    expect(argv).toEqual([
      "--output-format=stream-json",
      "--approval-mode=auto_edit",
      expect.stringMatching(/^--policy=.*policy\.toml$/),
      "--model=gemini-9",
    ]);
    expect(policyOf(argv)).toBe(
      [
        '[[rule]]\ntoolName = "run_shell_command"\ncommandRegex = "node -e \\\\\\\\\\"1\\\\\\\\\\"\\""',
        'decision = "allow"\npriority = 100\n\n[[rule]]\ntoolName = "run_shell_command"',
        'commandRegex = "npm test\\""\ndecision = "allow"\npriority = 101\n',
      ].join("\n"),
    );
  });

  test("the pattern of a command matches this command and no longer one", async () => {
    const rules = { "git log *": "allow", "* --version": "allow", "say (it)": "deny" } as const;
    const one = start("ok", { permissions: { execute: rules } });
    await one.run({ env: work, commands: ["npm test"] });
    const policy = policyOf(one.called().argv) ?? "";
    const patterns = [...policy.matchAll(/^commandRegex = (".*")$/gm)].map(
      ([, text = '""']) => new RegExp(`"command":"${JSON.parse(text) as string}`),
    );
    const fitting = (command: string) =>
      patterns.flatMap((pattern, n) =>
        pattern.test(JSON.stringify({ command, description: "x" })) ? [n] : [],
      );
    expect(fitting("npm test")).toEqual([0]);
    expect(fitting("git log -1 src")).toEqual([1]);
    expect(fitting("node --version")).toEqual([2]);
    expect(fitting("say (it)")).toEqual([3]);
    for (const command of [
      "npm test; rm -rf x",
      "npm testing",
      'npm test" x',
      "git log $(rm x)",
      'git log "x" | sh',
      "rm x && node --version",
      "say it",
    ])
      expect(fitting(command), command).toEqual([]);
    expect([...policy.matchAll(/decision = "(\w+)"/g)].map(([, word]) => word)).toEqual([
      "allow",
      "allow",
      "allow",
      "deny",
    ]);
  });

  test("a judge only reads; a task has the person's own mode; a rule can allow all", async () => {
    const one = start("ok");
    await one.run({ env: { LOOP_ROLE: "judge" }, commands: ["npm test"] });
    expect(one.called().argv).toEqual(["--output-format=stream-json", "--approval-mode=default"]);
    await one.run({ token: 8, conversation });
    expect(one.called().argv).toEqual(["--output-format=stream-json", `--resume=${conversation.id}`]);
    const open = start("ok", { permissions: { execute: "allow" } });
    await open.run({ token: 9, env: work });
    expect(open.called().argv).toContain("--approval-mode=yolo");
  });

  test("a missing conversation fails as overflow, so that a fresh one starts", async () => {
    const one = start("", {}, 42, "Error resuming session: Invalid session identifier");
    expect(await one.run({ conversation })).toMatchObject({
      ...failedAs("overflow", expect.stringContaining("Invalid session identifier")),
      conversation: null,
    });
    // where it has no access, that is what is in the way
    const locked = start("", {}, 41, "Please set an Auth method");
    expect(await locked.run({ conversation, token: 8 })).toMatchObject(
      failedAs("auth", expect.stringContaining("Auth method")),
    );
  });
});

test("E3 the events that are shown while Gemini CLI works", () => {
  const shown = (name: string) =>
    recording(name)
      .split("\n")
      .flatMap((line) => readGeminiLine(line, "/project"));
  expect(shown("edits").slice(0, 3)).toEqual([
    { type: "text", text: "writing" },
    { type: "tool", name: "write_file", detail: "w.txt" },
    { type: "file", path: "w.txt" },
  ]);
  expect(shown("denied")).toContainEqual({ type: "permission", tool: "run_shell_command", answer: "denied" });
  expect(shown("ok").at(-1)).toMatchObject({ type: "usage", usage: { inputTokens: 2000 } });
});
