/** What `codex exec --json` says of a turn: recordings of 0.166.0 against a scripted model. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCodexAgent, readCodex, readCodexLine } from "../../../src/agents/codex/cli.ts";
import { parseThread } from "../../../src/agents/codex/conversation.ts";
import type { FailureClass } from "../../../src/core/goal/goal.ts";
import type { Turn } from "../../../src/ports/agent.ts";
import { failedAs, makeControl, makeProject, makeTurn, type Project } from "../../fixtures/agents/project.ts";
import { recorded, replayer } from "../recorded/replay.ts";

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

const recording = (name: string) => recorded("codex", name);
const nowhere = { CODEX_HOME: "/nowhere" };
const read = (name: string, turn: Partial<Turn> = {}, env: NodeJS.ProcessEnv = nowhere, stderr = "") =>
  readCodex(
    { exitCode: 0, answer: recording(name), stderr },
    { conversation: null, ...turn },
    "/project",
    env,
  );
const idOf = (name: string) => /"thread_id":"([^"]+)"/.exec(recording(name))?.[1] ?? "";

/** A home of codex's in which the thread of this recording is written down. */
function homeWith(name: string, text = recording(`${name}.rollout`)): NodeJS.ProcessEnv {
  const day = join(project.dir, "home", "sessions", "2026", "11", "15");
  mkdirSync(day, { recursive: true });
  mkdirSync(join(project.dir, "home", "sessions", "2025", "01", "02"), { recursive: true });
  const path = join(day, `rollout-2026-11-15T17-59-25-${idOf(name)}.jsonl`);
  writeFileSync(path, text);
  return { CODEX_HOME: join(project.dir, "home") };
}

describe("E3 the end of a turn of codex", () => {
  test("the last message is the answer; the count goes into the conversation", () => {
    expect(read("command")).toEqual({
      answer: expect.stringContaining("DONE<"),
      usage: { costUsd: null, inputTokens: 2000, outputTokens: 100, cacheReadTokens: 400 },
      conversation: { id: `${idOf("command")}:2000:400:100`, costUsd: null },
      activity: { toolCalls: 1, edits: {}, denials: [] },
      failure: null,
      isOver: true,
    });
  });

  test("codex counts over the whole thread: a turn that went on is charged for its own part", () => {
    const conversation = { id: `${idOf("command")}:2000:400:100`, costUsd: null };
    const usage = { costUsd: null, inputTokens: 1000, outputTokens: 50, cacheReadTokens: 200 };
    expect(read("resumed", { conversation })).toMatchObject({
      usage,
      conversation: { id: `${idOf("command")}:3000:600:150` },
    });
  });

  test("a count that started again is used unchanged", () => {
    const conversation = { id: `${idOf("command")}:9000:400:100`, costUsd: null };
    expect(read("resumed", { conversation }).usage).toMatchObject({ inputTokens: 3000, outputTokens: 150 });
  });

  test("the model comes from codex's record, for the price table", () => {
    expect(read("ok", {}, homeWith("ok")).usage).toMatchObject({ model: "gpt-5-codex" });
    expect(read("ok", { model: "gpt-6" }).usage).toMatchObject({ model: "gpt-6" });
  });

  test("edits are reported by file, and refused commands are reported", () => {
    expect(read("edits").activity).toEqual({
      toolCalls: 1,
      edits: { "src/new.txt": 1 },
      denials: [],
    });
    const stderr = readFileSync(new URL("../recorded/codex/refused.stderr.txt", import.meta.url), "utf8");
    expect(read("refused", {}, nowhere, stderr).activity.denials).toEqual(["shell"]);
    expect(read("read-only").activity).toMatchObject({ toolCalls: 1, edits: {}, denials: [] });
  });

  test("a killed turn keeps its conversation with the previous count", () => {
    const id = idOf("killed");
    expect(read("killed")).toMatchObject({
      conversation: { id: `${id}:0:0:0` },
      usage: null,
      failure: null,
      isOver: false,
    });
    const conversation = { id: `${id}:7:1:2`, costUsd: null };
    expect(read("killed", { conversation }).conversation).toEqual(conversation);
  });

  test("no line at any place makes the reader throw", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.json(), fc.constant('{"type":"turn.completed"}'))),
        (l) => {
          const answer = [...recording("command").split("\n"), ...l].join("\n");
          expect(
            readCodex({ exitCode: 0, answer, stderr: "" }, { conversation: null }, "/project", nowhere)
              .answer,
          ).toContain("DONE<");
        },
      ),
    );
  });
});

describe("B13 the class of a failure of codex", () => {
  test.each<[string, FailureClass, RegExp]>([
    ["unauthorized", "auth", /^codex: unexpected status 401 Unauthorized: scripted/],
    ["rate-limited", "quota", /^codex: exceeded retry limit, last status: 429 Too Many/],
    ["server-error", "outage", /^codex: We’re currently experiencing high demand/],
    ["usage-limit", "quota", /^codex: You’ve hit your usage limit/],
    ["too-long", "overflow", /context_length_exceeded/],
  ])("%s: %s, by what codex wrote down", (name, type, reason) => {
    expect(read(name, {}, homeWith(name)).failure).toEqual({
      class: type,
      reason: expect.stringMatching(reason),
      resetsAt: null,
    });
  });

  test.each<[string, FailureClass]>([
    ["unauthorized", "auth"],
    ["forbidden", "auth"],
    ["rate-limited", "quota"],
    ["too-long", "overflow"],
    ["bad-request", "fault"],
    ["cut-off", "fault"],
    // without what it wrote down there are only words
    ["server-error", "fault"],
  ])("%s: %s, by the codes in what it printed alone", (name, type) => {
    expect(read(name).failure?.class).toBe(type);
  });

  test.each<[string | object, FailureClass]>([
    [{ http_connection_failed: { http_status_code: 403 } }, "auth"],
    [{ response_stream_connection_failed: { http_status_code: 503 } }, "outage"],
    [{ response_stream_disconnected: { http_status_code: null } }, "outage"],
    [{ http_connection_failed: {} }, "outage"],
    ["context_window_exceeded", "overflow"],
    ["unauthorized", "auth"],
    ["cyber_policy", "fault"],
    [{}, "fault"],
  ])("%j: %s, whatever the words are", (info, type) => {
    const failed = { type: "task_complete", error: { message: "429", codex_error_info: info } };
    const env = homeWith("bad-request", JSON.stringify({ type: "event_msg", payload: failed }));
    expect(read("bad-request", {}, env).failure?.class).toBe(type);
  });

  test("quota: the reset time of the used-up limit is known", () => {
    const windows = {
      primary: { used_percent: 100, resets_at: 1_794_830_400 },
      secondary: { used_percent: 40, resets_at: 1_794_999_999 },
    };
    const payload = { type: "token_count", info: null, rate_limits: windows };
    const lines = [
      recording("usage-limit.rollout").trimEnd(),
      JSON.stringify({ type: "event_msg", payload }),
    ];
    const env = homeWith("usage-limit", lines.join("\n"));
    expect(read("usage-limit", {}, env).failure?.resetsAt).toBe(1_794_830_400_000);
  });

  test("the usage of a failed turn comes from codex's record", () => {
    const env = homeWith("unauthorized", recording("ok.rollout") + recording("unauthorized.rollout"));
    expect(read("unauthorized", {}, env)).toMatchObject({
      usage: { inputTokens: 1000, outputTokens: 50 },
      conversation: { id: `${idOf("unauthorized")}:1000:200:50` },
    });
    expect(read("unauthorized")).toMatchObject({ usage: null });
  });
});

describe("E3 codex as a process", () => {
  /** A codex that tells how it was called, and then says what was recorded. */
  const agent = (name: string, exit = 0) => {
    const { executable, called } = replayer(project.dir, recording(name), exit);
    return { called, agent: createCodexAgent({ executable, projectDir: project.dir, env: nowhere }) };
  };
  const work = { LOOP_KIND: "work", LOOP_ROLE: "generator" };
  const run = (one: { agent: ReturnType<typeof createCodexAgent> }, turn: Partial<Turn> = {}) =>
    one.agent.run(makeTurn(turn), makeControl());

  test("the prompt is on stdin; a worker may write to the project, a judge to nothing", async () => {
    const one = agent("ok");
    expect(await run(one, { text: "do it", env: work })).toMatchObject({ kind: "ok", answer: "hello there" });
    expect(one.called()).toMatchObject({
      stdin: "do it",
      argv: ["exec", "--json", "--skip-git-repo-check", "-c", 'sandbox_mode="workspace-write"', "-"],
    });
    await run(one, { env: { LOOP_ROLE: "judge" }, token: 8 });
    expect(one.called().argv).toContain('sandbox_mode="read-only"');
    await run(one, { token: 9 });
    expect(one.called().argv).toEqual(["exec", "--json", "--skip-git-repo-check", "-"]);
  });

  test("a conversation resumes by its thread; a conversation of another agent is ignored", async () => {
    const one = agent("resumed");
    const id = idOf("resumed");
    await run(one, { conversation: { id: `${id}:2000:400:100`, costUsd: null }, model: "gpt-6" });
    const rest = ["--json", "--skip-git-repo-check", "--model=gpt-6", id, "-"];
    expect(one.called().argv).toEqual(["exec", "resume", ...rest]);
    const other = { conversation: { id: "ses_123", costUsd: 1 }, text: "go on", textIfFresh: "everything" };
    await run(one, { ...other, token: 8 });
    expect(one.called()).toMatchObject({ stdin: "everything", argv: expect.not.arrayContaining(["resume"]) });
  });

  test("the schema of the answer is passed as a file", async () => {
    const one = agent("schema");
    const end = await run(one, { answerSchema: { type: "object" } });
    expect(end).toMatchObject({ kind: "ok", answer: '{"nonce":"abc","verdict":"PASS","reason":"x"}' });
    const { argv } = one.called();
    const path = argv[argv.indexOf("--output-schema") + 1] ?? "";
    expect(readFileSync(path, "utf8")).toBe('{"type":"object"}');
  });

  test("a missing conversation fails as overflow, so that a fresh one starts", async () => {
    const { executable } = replayer(project.dir, "", 1, "Error: thread/resume failed: no rollout found");
    const codex = createCodexAgent({ executable, projectDir: project.dir, env: nowhere });
    const conversation = { id: idOf("ok"), costUsd: null };
    expect(await codex.run(makeTurn({ conversation }), makeControl())).toMatchObject({
      ...failedAs("overflow", expect.stringContaining("no rollout found")),
      conversation: null,
    });
    expect(await codex.run(makeTurn({ token: 8 }), makeControl())).toMatchObject(
      failedAs("fault", expect.any(String)),
    );
  });

  test("exit code 0 without an event for the end is a failure", async () => {
    expect(await run(agent("killed"))).toMatchObject(failedAs("fault", "codex ended without a result"));
  });
});

test("E3 the events that are shown while codex works", () => {
  const shown = (name: string) =>
    recording(name)
      .split("\n")
      .flatMap((line) => readCodexLine(line, "/project"));
  expect(shown("edits")).toEqual([
    { type: "text", text: "calling" },
    { type: "tool", name: "apply_patch", detail: "src/new.txt" },
    { type: "file", path: "src/new.txt" },
    { type: "text", text: expect.stringContaining("DONE<") },
  ]);
  expect(shown("rate-limited")).toEqual(
    expect.arrayContaining([{ type: "failure", failure: expect.objectContaining({ class: "quota" }) }]),
  );
});

test("E3 an id of a conversation is the thread's and nothing that could be an option", () => {
  expect(parseThread("01a1e05c-e9ea-7740-aff4-696c952513ff")?.used).toEqual({
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
  });
  for (const id of ["", "--last", "01a1e05c", "ses_1", "01a1e05c-e9ea-7740-aff4-696c952513ff:1"])
    expect(parseThread(id)).toBeNull();
});
