/** J7: secrets in what an agent says, in its files, and in its events, for text in any pieces. */
import { lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openEventLog } from "../../src/agents/acp/event-log.ts";
import { createRunFolderActivity } from "../../src/agents/activity/run-folder-activity.ts";
import { openGeminiLines } from "../../src/agents/gemini/cli.ts";
import { withMask } from "../../src/agents/masked.ts";
import { createCommandAgent } from "../../src/agents/process/command.ts";
import { takeOutput } from "../../src/agents/process/mask-output.ts";
import type { AgentEvent } from "../../src/ports/agent.ts";
import { makeControl, makeProject, makeTurn, type Project } from "../fixtures/agents/project.ts";
import { makeAcpWorld, workTurn } from "../support/acp/acp-world.ts";
import { runs } from "../support/runs.ts";
import { KNOWN } from "../support/secrets.ts";

const SECRET = 'q8Zr41xW"ü-a-longer-secret';
const KEY = KNOWN.find(({ name }) => name === "private key")?.secret ?? "";
const KEY_LINES = KEY.split("\n").slice(1, -1);

beforeEach(() => vi.stubEnv("DEPLOY_TOKEN", SECRET));
afterEach(() => vi.unstubAllEnvs());

function folderOf(finish: (end: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), "loop masked "));
  finish(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Cuts the text at these places. */
function pieces(text: string, cuts: readonly number[]): readonly string[] {
  const places = cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b);
  return [...places, text.length].map((place, index) => text.slice(places[index - 1] ?? 0, place));
}

describe("J7 a command as an agent", () => {
  let project: Project;
  beforeEach(async () => {
    project = await makeProject();
  });
  afterEach(() => project.remove());

  test("its answer, its reason, its files and its events have no secret", async () => {
    writeFileSync(join(project.dir, "key"), `${KEY}\n`);
    const command = `printf 'it is %s' "\${DEPLOY_TOKEN%-secret}"; sleep 0.3; echo -secret; cat key; printf 'failed: %s\\n' "$DEPLOY_TOKEN" >&2; exit 3`;
    const agent = withMask(createCommandAgent({ command, projectDir: project.dir }));
    const events: AgentEvent[] = [];
    const end = await agent.run(makeTurn(), { ...makeControl(), onEvent: (event) => events.push(event) });
    expect(end).toMatchObject({
      answer: "it is [masked: DEPLOY_TOKEN]\n[masked: private key]\n",
      failure: { reason: "exit 3: failed: [masked: DEPLOY_TOKEN]" },
    });
    const page = await createRunFolderActivity(project.dir).read({
      loopId: makeTurn().loopId,
      turnId: "aabbccdd-1",
    });
    const run = join(project.dir, ".loop/runs/aabbccdd/aabbccdd-1");
    const kept = [
      JSON.stringify([events, page]),
      ...["answer.txt", "stderr.txt"].map((name) => read(join(run, name))),
    ];
    for (const text of kept) {
      expect(text).toContain("[masked: DEPLOY_TOKEN");
      for (const secret of ["q8Zr41xW", ...KEY_LINES]) expect(text).not.toContain(secret);
    }
  });

  test("a turn that was stopped leaves no secret in its files", async () => {
    const command = 'echo "$DEPLOY_TOKEN"; echo "$DEPLOY_TOKEN" >&2; touch ready; exec sleep 600';
    const agent = withMask(createCommandAgent({ command, projectDir: project.dir, killGraceMs: 200 }));
    const end = await agent.run(makeTurn({ deadlineAt: Date.now() + 700 }), makeControl());
    expect(end).toMatchObject({ kind: "failed", answer: "[masked: DEPLOY_TOKEN]\n" });
    const run = join(project.dir, ".loop/runs/aabbccdd/aabbccdd-1");
    for (const name of ["answer.txt", "stderr.txt"])
      expect(read(join(run, name))).toMatch(/^\[masked: DEPLOY/);
  });
});

function read(path: string): string {
  return readFileSync(path, "utf8");
}

describe("J7 the output of an agent's process", () => {
  test("is masked in its place: the file keeps its length, and all that is no secret", () => {
    const folder = folderOf(onTestFinished);
    const path = join(folder, "answer.txt");
    const block = 1024 * 1024;
    const secret = Buffer.from(SECRET);
    const bytes = Buffer.alloc(3 * block, "x\n");
    for (const at of [0, block - 5, 2 * block - secret.length, 3 * block - secret.length])
      secret.copy(bytes, at);
    writeFileSync(path, bytes);
    const before = lstatSync(path);
    const tail = takeOutput(folder, "answer.txt", 1000);
    const after = readFileSync(path);
    expect(after.length).toBe(bytes.length);
    expect(lstatSync(path).ino).toBe(before.ino);
    expect(after.includes(secret)).toBe(false);
    expect(after.toString().match(/\[masked\*+\]|\[masked: DEPLOY_TOKEN\**\]/g)).toHaveLength(4);
    expect(after.filter((byte, index) => byte !== bytes[index]).length).toBeLessThanOrEqual(
      4 * secret.length,
    );
    expect(tail).toMatch(/\[masked: DEPLOY_TOKEN\*+\]$/);
  });

  test("in any file, no secret survives", () => {
    const folder = folderOf(onTestFinished);
    const path = join(folder, "answer.txt");
    const part = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(SECRET, JSON.stringify(SECRET), "\n", "q8Zr41x"),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.integer({ min: 1, max: 200 }), (parts, cap) => {
        writeFileSync(path, parts.join(""));
        const length = lstatSync(path).size;
        const taken = takeOutput(folder, "answer.txt", cap) ?? "";
        for (const text of [taken, read(path)]) {
          expect(text).not.toContain(SECRET);
          expect(text).not.toContain(JSON.stringify(SECRET).slice(1, -1));
        }
        expect(lstatSync(path).size).toBe(length);
      }),
      { numRuns: runs(400) },
    );
  });

  test("a link is not followed", () => {
    const folder = folderOf(onTestFinished);
    writeFileSync(join(folder, "mine.txt"), SECRET);
    symlinkSync("mine.txt", join(folder, "answer.txt"));
    expect(takeOutput(folder, "answer.txt", 4)).toBeNull();
    expect(read(join(folder, "mine.txt"))).toBe(SECRET);
  });
});

describe("J7 an agent of the Agent Client Protocol", () => {
  test("a secret in two messages is in no file and in no event", async () => {
    const world = await makeAcpWorld();
    onTestFinished(() => world.close());
    const events: AgentEvent[] = [];
    const turn = workTurn([
      { say: "The token is q8Zr41x" },
      { update: { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "I saw q8Zr41" } } },
      {
        update: {
          sessionUpdate: "agent_thought_chunk",
          content: { type: "text", text: 'xW"ü-a-longer-secret' },
        },
      },
      {
        update: {
          sessionUpdate: "tool_call",
          toolCallId: "1",
          title: "curl",
          rawInput: { command: `curl ${SECRET}` },
        },
      },
      ...KEY.split(/(?=\n)/).map((say) => ({ say })),
      { say: "\nIt was q8Zr41" },
      { say: 'xW"ü-a-longer-secret.\n' },
      { stderr: `warning: ${SECRET}\n` },
    ]);
    const agent = withMask(world.agent());
    const end = await agent.run(turn, { ...makeControl(), onEvent: (event) => events.push(event) });
    expect(end).toMatchObject({ kind: "ok", conversation: { id: expect.stringMatching(/./) } });
    expect(end).toMatchObject({ answer: "[masked: private key]\nIt was [masked: DEPLOY_TOKEN].\n" });
    const run = `.loop/runs/${turn.loopId}/${turn.id}`;
    const log = world.read(`${run}/events.jsonl`);
    const texts = log
      .split("\n")
      .flatMap((line) => [...line.matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text));
    expect(texts.join("")).toContain("It was [masked: DEPLOY_TOKEN]");
    expect(world.read(`${run}/stderr.txt`)).not.toContain(SECRET);
    const kept = ["answer.txt", "events.jsonl", `end.${turn.token}.json`].map((name) =>
      world.read(`${run}/${name}`),
    );
    for (const text of [JSON.stringify(events), texts.join(""), ...kept]) {
      expect(text).toContain("[masked: DEPLOY_TOKEN]");
      for (const secret of ['xW\\"ü', 'xW"ü', ...KEY_LINES]) expect(text).not.toContain(secret);
    }
  });

  test("the log has every text, in any pieces, and no secret", () => {
    const folder = folderOf(onTestFinished);
    const part = fc.constantFrom("word ", "\n", SECRET, "q8Zr41x", KEY, "\n", "end");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 10 }), (parts, cuts) => {
        const log = openEventLog(folder);
        for (const text of pieces(parts.join(""), cuts)) {
          const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
          log.write(JSON.stringify({ method: "session/update", params: { sessionId: "s", update } }));
          log.write('{"params":{"update":{"sessionUpdate":"usage_update"}}}');
        }
        log.close();
        const lines = read(join(folder, "events.jsonl")).split("\n").filter(Boolean);
        const said = lines.map((line) => JSON.parse(line).params.update.content?.text ?? "").join("");
        expect(said).not.toContain(SECRET);
        for (const line of KEY_LINES) expect(said).not.toContain(line);
        if (!parts.includes(SECRET) && !parts.includes(KEY)) expect(said).toBe(parts.join(""));
      }),
      { numRuns: runs(200) },
    );
  });
});

test("J7 text that Gemini CLI sends in pieces is shown line by line", () => {
  const readLine = openGeminiLines("/project");
  const message = (content: string) => JSON.stringify({ type: "message", role: "assistant", content });
  expect(readLine(message("It is q8Zr41x"))).toEqual([]);
  expect(readLine(message('W"ü-a-longer-secret\nand'))).toEqual([{ type: "text", text: `It is ${SECRET}` }]);
  expect(readLine(JSON.stringify({ type: "tool_use", tool_name: "ls", tool_id: "ls__1" }))).toMatchObject([
    { type: "text", text: "and" },
    { type: "tool", name: "ls" },
  ]);
  expect([readLine(message("last")), readLine('{"type":"result","status":"success"}')]).toEqual([
    [],
    [{ type: "text", text: "last" }],
  ]);
});
