/** What `pi --mode rpc` says of a turn: recordings of 0.73.1 and 0.87.1, and pis that follow a script. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPiAgent, readPi, readPiLine } from "../../../src/agents/pi/rpc.ts";
import { runFolder } from "../../../src/agents/process/run-folder.ts";
import type { FailureClass } from "../../../src/core/goal/goal.ts";
import type { Turn } from "../../../src/ports/agent.ts";
import {
  failedAs,
  makeControl,
  makeProject,
  makeTurn,
  makeWatcher,
  type Project,
} from "../../fixtures/agents/project.ts";
import { until } from "../../support/until.ts";
import { recorded } from "../recorded/replay.ts";

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

const recording = (name: string) => recorded("pi", name);
const read = (name: string, turn: Partial<Turn> = {}) =>
  readPi({ exitCode: 0, answer: recording(name), stderr: "" }, { conversation: null, ...turn }, "/project");
const idOf = (name: string) => /"sessionId":"([^"]+)"/.exec(recording(name))?.[1] ?? "";

describe("E3 the end of a turn of pi", () => {
  test("the last message is the answer; the cost of the messages is summed, and the session's total is kept", () => {
    expect(read("edits")).toEqual({
      answer: "DONE<Successfully wrote 17 bytes to /project/w.txt>",
      usage: {
        costUsd: 0.00642,
        inputTokens: 2000,
        outputTokens: 100,
        model: "scripted",
        cacheReadTokens: 400,
      },
      conversation: { id: idOf("edits"), costUsd: 0.00642 },
      activity: { toolCalls: 1, edits: { "w.txt": 1 }, reads: [], denials: [] },
      failure: null,
      isOver: true,
    });
    expect(read("ok-0.87")).toMatchObject({ answer: "hello there", failure: null, isOver: true });
  });

  test("a resumed conversation is charged for its own part", () => {
    const conversation = { id: idOf("resumed"), costUsd: 0.00321 };
    expect(read("resumed", { conversation })).toMatchObject({
      usage: { costUsd: 0.00321 },
      conversation: { id: conversation.id, costUsd: 0.00642 },
    });
    const unknown = { ...conversation, costUsd: null };
    expect(read("resumed", { conversation: unknown }).conversation?.costUsd).toBe(0.00642);
  });

  test("a killed turn keeps its conversation and the cost of its messages", () => {
    const answer = recording("edits").split("\n").slice(0, 5).join("\n");
    const killed = (conversation: Turn["conversation"]) =>
      readPi({ exitCode: 0, answer, stderr: "" }, { conversation }, "/project");
    expect(killed(null)).toMatchObject({
      conversation: { costUsd: 0.00321 },
      activity: { toolCalls: 1, edits: {} },
      isOver: false,
    });
    expect(killed({ id: "x", costUsd: 1 }).conversation?.costUsd).toBe(1.00321);
  });
});

describe("B13 the class of a failure of pi, which ends with 0", () => {
  test.each<[string, FailureClass, string]>([
    ["unauthorized", "auth", "pi: 401 scripted error 401"],
    ["rate-limited", "quota", "pi: 429 You have hit your usage limit (scripted)"],
    ["server-error-0.87", "outage", 'pi: 500: {"type":"api_error","message":"scripted error 500"}'],
    ["bad-request", "fault", "pi: 400 scripted error 400"],
    ["too-long", "overflow", "pi: 400 This model's maximum context length is 128000 tokens."],
    ["cut-off", "timeout", "pi: the answer reached its length limit"],
  ])("%s: %s", (name, type, reason) => {
    expect(read(name)).toMatchObject({ failure: { class: type, reason, resetsAt: null }, isOver: true });
  });

  test("a retry that failed without a status is an outage", () => {
    const answer = recording("rate-limited").replaceAll("429 You have hit", "fetch failed");
    const reading = readPi({ exitCode: 0, answer, stderr: "" }, { conversation: null }, "/project");
    expect(reading.failure?.class).toBe("outage");
  });
});

/** A pi that follows a script: `on(command, say, args)` is called for each command that it is sent. */
function scripted(script: string): string {
  const executable = join(project.dir, "pi.mjs");
  const program = `#!${process.execPath}
import { appendFileSync } from "node:fs";
const said = ${JSON.stringify(join(project.dir, "said.jsonl"))};
const say = (line) => process.stdout.write(JSON.stringify(line) + "\\n");
const ok = ({ id, type }, data) => say({ id, type: "response", command: type, success: true, data });
const message = (text, rest) => say({ type: "message_end", message: { role: "assistant",
  content: [{ type: "text", text }], stopReason: "stop", usage: { input: 1, output: 2, cost: { total: 0.5 } }, ...rest } });
const state = { sessionId: "01a1e06c-4a1a-7330-a607-d7424a20a378", isStreaming: false, isCompacting: false };
const answer = (command) => {
  if (command.type === "get_state") ok(command, state);
  if (command.type === "get_session_stats") ok(command, { cost: 0.5 });
};
appendFileSync(said, JSON.stringify(process.argv.slice(2)) + "\\n");
let left = "";
process.stdin.on("data", (bytes) => {
  const lines = (left + bytes).split("\\n");
  left = lines.pop();
  for (const line of lines) { appendFileSync(said, line + "\\n"); on(JSON.parse(line)); }
});
process.stdin.on("end", () => ends());
let ends = () => process.exit(0);
function on(command) { answer(command); ${script} }
`;
  writeFileSync(executable, program);
  chmodSync(executable, 0o755);
  return executable;
}
const said = () =>
  readFileSync(join(project.dir, "said.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type?: string; id?: string; cancelled?: boolean; message?: string });
const run = (script: string, turn: Partial<Turn> = {}, control = makeControl()) =>
  createPiAgent({ executable: scripted(script), projectDir: project.dir, killGraceMs: 500 }).run(
    makeTurn(turn),
    control,
  );
const isPrompt = 'if (command.type !== "prompt") return; ok(command);';

describe("E3 pi as a process", () => {
  test("the prompt is sent whole, and pi is told to end when it has settled", async () => {
    const text = 'two\nlines, "quotes" and \u2028 separators';
    const end = await run(
      `${isPrompt} say({ type: "agent_start" }); message("done"); say({ type: "agent_end", willRetry: false });
       say({ type: "agent_settled" });`,
      { text },
    );
    expect(end).toMatchObject({
      kind: "ok",
      answer: "done",
      usage: { costUsd: 0.5, inputTokens: 1, outputTokens: 2 },
      conversation: { id: "01a1e06c-4a1a-7330-a607-d7424a20a378", costUsd: 0.5 },
    });
    expect(said().filter(({ type }) => type === "prompt")).toEqual([
      { id: "prompt", type: "prompt", message: text },
    ]);
    expect(said().at(-1)?.type).toBe("get_session_stats");
  });

  test("a pi that does not report that it settled is asked; its own retries continue", async () => {
    const end = await run(`
      if (command.id === "state") state.asked = true;
      ${isPrompt}
      say({ type: "agent_start" });
      message("", { stopReason: "error", errorMessage: "500 no" });
      say({ type: "agent_end" });
      say({ type: "auto_retry_start", errorMessage: "500 no" });
      setTimeout(() => { say({ type: "agent_start" }); say({ type: "auto_retry_end", success: true });
        message("second try"); say({ type: "agent_end" }); }, 400);`);
    expect(end).toMatchObject({ kind: "ok", answer: "second try" });
    expect(said().filter(({ id }) => id === "state")).toHaveLength(1);
  });

  test("a refused prompt fails as auth: no model or no key", async () => {
    const end = await run(
      `if (command.type === "prompt") say({ id: "prompt", type: "response", success: false, error: "No API key found" });`,
    );
    expect(end).toMatchObject(failedAs("auth", "pi: No API key found"));
  });

  test("a command of an extension ends the turn", async () => {
    expect(await run(isPrompt, { text: "/mine" })).toMatchObject(
      failedAs("fault", "pi ended without a result"),
    );
  });

  test("a question of an extension is refused and reported", async () => {
    const control = makeWatcher();
    const end = await run(
      `if (command.type === "extension_ui_response") {
         message("refused: " + command.cancelled); say({ type: "agent_end", willRetry: false }); say({ type: "agent_settled" });
       }
       ${isPrompt}
       say({ type: "extension_ui_request", id: "q1", method: "notify", message: "hi" });
       say({ type: "extension_ui_request", id: "q2", method: "confirm", title: "Run rm?" });`,
      {},
      control,
    );
    expect(end).toMatchObject({
      kind: "ok",
      answer: "refused: true",
      activity: { denials: ["Run rm?"] },
    });
    expect(said().filter(({ type }) => type === "extension_ui_response")).toEqual([
      { type: "extension_ui_response", id: "q2", cancelled: true },
    ]);
    expect(control.events).toContainEqual({ type: "permission", tool: "Run rm?", answer: "denied" });
  });

  test("the message that is repeated with every piece of it is kept once", async () => {
    const end = await run(`${isPrompt}
      const text = "x".repeat(20_000);
      for (let i = 0; i < 500; i++) say({ type: "message_update", message: { role: "assistant", content: text } });
      message(text);
      say({ type: "agent_end", messages: [text], willRetry: false });
      say({ type: "agent_settled" });`);
    expect(end.kind === "ok" && end.answer.length).toBe(20_000);
    const kept = readFileSync(join(runFolder(project.dir, makeTurn()), "answer.txt"), "utf8");
    expect(kept.length).toBeLessThan(30_000);
  });

  test("a pi that dies in the middle of a turn is a failed turn, with its conversation", async () => {
    expect(await run(`${isPrompt} message("begun"); process.kill(process.pid, "SIGKILL");`)).toMatchObject({
      ...failedAs("fault", "killed by SIGKILL"),
      conversation: { id: "01a1e06c-4a1a-7330-a607-d7424a20a378", costUsd: 0.5 },
    });
    expect(await run(`${isPrompt} process.exit(0);`, { token: 8 })).toMatchObject({
      kind: "failed",
      conversation: null,
    });
  });

  test("a pi that ignores the request to end is killed", async () => {
    const end = await run(
      `ends = () => {}; ${isPrompt} message("done"); say({ type: "agent_end", willRetry: false }); say({ type: "agent_settled" });
       setInterval(() => {}, 1000);`,
    );
    expect(end).toMatchObject({ kind: "ok", answer: "done" });
  });

  test("a turn that is cancelled leaves nothing, and its conversation can go on", async () => {
    const control = makeControl();
    const end = run(`${isPrompt} message("begun"); say({ type: "agent_start" });`, {}, control);
    await until(() => control.started.length > 0, "it started");
    const answer = join(runFolder(project.dir, makeTurn()), "answer.txt");
    await until(
      () => existsSync(answer) && readFileSync(answer, "utf8").includes("agent_start"),
      "the turn is under way",
    );
    control.abort();
    expect(await end).toMatchObject({ kind: "cancelled", conversation: { costUsd: 0.5 } });
    expect(project.processes()).toEqual([]);
  });

  test("a worker has all tools, a judge only tools that read; a rule removes bash", async () => {
    const script = `${isPrompt} message("done"); say({ type: "agent_end", willRetry: false }); say({ type: "agent_settled" });`;
    const conversation = { id: "01a1e06c-4a1a-7330-a607-d7424a20a378", costUsd: 1 };
    await run(script, { env: { LOOP_ROLE: "generator" }, model: "a/b", conversation });
    expect(said()[0]).toEqual(["--mode", "rpc", "--session", conversation.id, "--model", "a/b"]);
    writeFileSync(join(project.dir, "said.jsonl"), "");
    await run(script, { env: { LOOP_ROLE: "judge" }, token: 8 });
    expect(said()[0]).toEqual(["--mode", "rpc", "--tools", "read,grep,find,ls"]);
    writeFileSync(join(project.dir, "said.jsonl"), "");
    const permissions = { execute: "deny" } as const;
    const executable = scripted(script);
    await createPiAgent({ executable, projectDir: project.dir, permissions }).run(
      makeTurn({ env: { LOOP_ROLE: "generator" }, token: 9 }),
      makeControl(),
    );
    expect(said()[0]).toEqual(["--mode", "rpc", "--tools", "read,grep,find,ls,edit,write"]);
  });
});

test("E3 the events that are shown while pi works", () => {
  const shown = (name: string) =>
    recording(name)
      .split("\n")
      .flatMap((line) => readPiLine(line, "/project"));
  expect(shown("edits").filter(({ type }) => type !== "usage")).toEqual([
    { type: "text", text: "writing" },
    { type: "tool", name: "write", detail: "w.txt" },
    { type: "file", path: "w.txt" },
    { type: "text", text: expect.stringContaining("DONE<") },
  ]);
  expect(shown("rate-limited").filter(({ type }) => type === "failure")).toHaveLength(3);
});
