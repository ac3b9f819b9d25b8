/**
 * The several processes of one conversation: the server that stays, hooks on their own while it is not there, and
 * what becomes of a loop when one of them is killed. All of them answer the same.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { GoalDraft } from "../../../src/core/goal/create.ts";
import { ownerOf } from "../../../src/core/session.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";
import {
  type Answered,
  contextOf,
  OTHER,
  type Path,
  PlayedClient,
  SESSION,
} from "../../support/played-client.ts";
import { until } from "../../support/until.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  removeTempDirs();
});

const COMMAND = fileURLToPath(new URL("../../../dist/loop.cjs", import.meta.url));

function open(
  path: Path = "resident",
  options: ConstructorParameters<typeof PlayedClient>[1] = {},
): PlayedClient {
  const client = new PlayedClient(path, options);
  onTestFinished(() => client.close());
  return client;
}

/** A conversation with all that can come: each hook as the client asks it. */
async function play(client: PlayedClient, between: () => Promise<void>): Promise<readonly string[]> {
  const steps: (() => unknown)[] = [
    () => client.ask("SessionStart", { source: "startup" }),
    () => client.submit("hello"),
    () => client.stop("hi"),
    () => client.addGoal(),
    () => client.submit("begin"),
    () => client.stop("yes"),
    () => client.use("toolu_1"),
    () => client.report(true),
    () =>
      client.ask("PostToolUseFailure", {
        ...{ tool_name: "Bash", tool_use_id: "toolu_2", tool_input: { command: "npx vitest run" } },
        error:
          "Exit code 1\n × adds two numbers\nAssertionError: expected 3 to be 4\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)",
      }),
    () => client.report(false),
    () => client.queue("enqueue", "wait"),
    () => client.report(false),
    () => client.queue("dequeue"),
    () => {
      client.prompt = "p-queued";
      return client.stop("what?");
    },
    () => client.submit("something else"),
    () => client.stop("done that"),
    () => client.ask("SessionEnd", { reason: "clear" }),
    () => client.ask("SessionStart", { source: "resume" }),
    () => client.submit("hello again"),
    () => client.stop("hi"),
  ];
  for (const step of steps) {
    await step();
    await between();
  }
  return client.answers.map((answer) => answer.replaceAll(/\b[0-9a-f]{16}\b/g, "NONCE"));
}

describe("D6 the processes of a conversation give the same answers", () => {
  test("a server for all hooks, a process for each, and a server that dies after each", async () => {
    const server = open();
    const answers = await play(server, async () => {});
    expect(answers.filter((answer) => answer.includes("additionalContext")).length).toBeGreaterThanOrEqual(4);
    expect(answers.some((answer) => answer.includes("not proved: ready"))).toBe(true);
    expect(answers.some((answer) => answer.includes("[LOOP BACKPROP]"))).toBe(true);
    expect(answers.some((answer) => answer.includes("PAUSED"))).toBe(true);
    expect(await play(open("hooks"), async () => {})).toEqual(answers);
    vi.unstubAllEnvs();
    const dying = open();
    expect(await play(dying, () => dying.dropServer())).toEqual(answers);
    expect(dying.goal().receipts.map(({ kind, iteration }) => `${kind} ${iteration}`)).toEqual(
      server.goal().receipts.map(({ kind, iteration }) => `${kind} ${iteration}`),
    );
  }, 60_000);

  test("the wake-up of one process is answered by another", async () => {
    const client = open();
    await client.addGoal();
    client.startMonitor();
    const line = await until(() => client.wakes()[0], "the wake-up");
    await client.dropServer();
    expect(line).toContain("goes on");
    expect(contextOf(await client.wake())).toContain("Iteration 1/");
    await client.dropServer();
    expect(contextOf(await client.report(false))).toContain("Iteration 2/");
  });
});

/** A hook in a process of its own, as the client starts it. */
function startHook(client: PlayedClient, event: string, fields: object = {}) {
  const child = spawn(process.execPath, [COMMAND, "hook", "claude", event], {
    cwd: client.root,
    env: { ...process.env, CLAUDE_PID: String(process.pid), CLAUDE_PROJECT_DIR: client.root },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const base = { session_id: client.session, prompt_id: client.prompt, transcript_path: client.transcript };
  child.stdin.end(JSON.stringify({ ...base, cwd: client.root, hook_event_name: event, ...fields }));
  return { child, output: textOf(child.stdout), errors: textOf(child.stderr), exit: once(child, "exit") };
}

const SLOW: Partial<GoalDraft> = {
  criteria: [
    {
      name: "ready",
      check: { kind: "command", command: "while [ ! -f go.txt ]; do sleep 0.02; done; test -f done.txt" },
      source: "flag",
    },
  ],
};

describe("H1 a hook's process is killed", () => {
  test("while it runs the checks: the next one goes on from there", async () => {
    const client = open();
    await client.addGoal(SLOW);
    const killed = startHook(client, "Stop");
    await until(() => client.goal().job?.kind === "survey", "the checks run");
    killed.child.kill("SIGKILL");
    await killed.exit;
    client.write("go.txt");
    expect(contextOf(await client.stop())).toContain("Iteration 1/");
    expect(client.goal()).toMatchObject({ status: "active", job: { kind: "work" } });
  }, 60_000);

  test("D2 told to end by an Esc it pauses the goal and exits at once, with nothing on its output", async () => {
    const client = open();
    await client.addGoal(SLOW);
    const stopped = startHook(client, "Stop");
    await until(() => client.goal().job?.kind === "survey", "the checks run");
    stopped.child.kill("SIGTERM");
    const [code] = await stopped.exit;
    expect(code).toBe(0);
    expect(client.goal()).toMatchObject({ status: "paused", pause: { code: "interrupted" } });
    expect(await stopped.output).not.toContain("additionalContext");
  }, 60_000);

  test.each(["", "{", "[]", "5", '{"session_id":5}', '{"session_id":"../x"}'])(
    "D2 %j on its input allows the stop without a word",
    async (input) => {
      const client = open();
      await client.addGoal();
      const child = spawn(process.execPath, [COMMAND, "hook", "claude", "Stop"], { cwd: client.root });
      onTestFinished(() => void child.kill("SIGKILL"));
      child.stdin.end(input);
      const [output, errors, [code]] = await Promise.all([
        textOf(child.stdout),
        textOf(child.stderr),
        once(child, "exit"),
      ]);
      expect({ output, errors, code }).toEqual({ output: "", errors: "", code: 0 });
      expect(client.goal().jobs).toBe(0);
    },
  );
});

describe("E1 one client, one conversation at a time", () => {
  test("where there is no .loop nothing is made, and everything is let happen", async () => {
    const client = open("resident", { root: tempDir() });
    rmSync(client.dir, { recursive: true });
    for (const event of [
      "SessionStart",
      "UserPromptSubmit",
      "PostToolUse",
      "Stop",
      "StopFailure",
      "SessionEnd",
    ])
      expect(await client.askRaw(event, { prompt: "hi", tool_name: "Bash", tool_use_id: "t" }), event).toBe(
        "",
      );
    client.resident.lookAround();
    expect(client.resident.current).toBeNull();
    expect(existsSync(client.dir)).toBe(false);
  });

  test("a .loop that came later is noticed with the next hook", async () => {
    const client = open();
    const elsewhere = `${client.dir}.away`;
    renameSync(client.dir, elsewhere);
    expect(await client.askRaw("Stop")).toBe("");
    renameSync(elsewhere, client.dir);
    await client.addGoal();
    await client.submit("hello");
    expect(contextOf(await client.stop())).toContain("Iteration 1/");
  });

  test("/clear: what was open is closed, the lease goes with it, and the old conversation is over for others", async () => {
    const client = open();
    await client.addGoal();
    await client.submit("hello");
    await client.stop();
    expect(client.store().lease()?.owner).toBe(ownerOf(SESSION));
    // the client asks the end of a conversation of a process of its own
    const ended = startHook(client, "SessionEnd", { reason: "clear" });
    await ended.exit;
    client.session = OTHER;
    await client.askRaw("SessionStart", { source: "clear" });
    await client.submit("hello");
    expect(await client.askRaw("Stop")).toBe("");
    const store = client.store();
    expect(store.lease()?.owner ?? ownerOf(OTHER)).toBe(ownerOf(OTHER));
    expect(store.sessions.isOver(ownerOf(SESSION))).toBe(true);
    expect(store.sessions.isOver(ownerOf(OTHER))).toBe(false);
    expect(client.goal()).toMatchObject({ status: "paused", session: ownerOf(SESSION) });
  }, 60_000);

  test("a tool of ours needs no question, the one for hooks and all others do", async () => {
    const client = open();
    const permission = async (tool_name: string) =>
      (await client.ask("PreToolUse", { tool_name })).hookSpecificOutput?.permissionDecision;
    expect(await permission("mcp__plugin_loopwright_loop__loop_report")).toBe("allow");
    expect(await permission("mcp__plugin_loopwright_loop__CronCreate")).toBe("allow");
    for (const name of ["mcp__plugin_loopwright_loop__hook", "Bash", "mcp__other_loop__loop_report", ""])
      expect(await permission(name), name).toBeUndefined();
  });

  test("H5 whatever is not a hook of ours is let happen", async () => {
    const client = open();
    const signal = new AbortController().signal;
    for (const input of [
      null,
      undefined,
      5,
      "x",
      [],
      {},
      { hook_event_name: "Stop" },
      { hook_event_name: "Nope" },
    ])
      expect(await client.resident.answer(input, signal)).toBe("");
  });

  test("D2 a state that cannot be read allows the stop, with one sentence", async () => {
    const client = open();
    await client.addGoal();
    const journals = readdirSync(client.dir).filter((name) => /^journal.*\.jsonl$/.test(name));
    expect(journals).not.toEqual([]);
    for (const name of journals) {
      rmSync(join(client.dir, name));
      mkdirSync(join(client.dir, name));
    }
    await client.submit("hello");
    const answer = await client.stop();
    expect(Object.keys(answer)).toEqual(["systemMessage"]);
    expect(answer.systemMessage).toMatch(/^\[LOOP\] .*Cannot read .*journal/);
  });
});

describe("A3 what is typed is answered here, by the command itself", () => {
  /** A slash command of the plugin: the client tells of it as it is typed, and again when it is expanded. */
  async function type(client: PlayedClient, args: string): Promise<Answered> {
    const prompt = `/loopwright:loop ${args}`;
    expect(await client.submit(prompt)).toEqual({});
    return client.ask("UserPromptExpansion", {
      expansion_type: "slash_command",
      command_name: "loopwright:loop",
      command_args: args,
      command_source: "plugin",
      prompt,
    });
  }

  test("a list needs no model, and the conversation is idle again", async () => {
    const client = open();
    await client.addTask({ prompt: "check the deploy" });
    const answer = await type(client, "list");
    expect(answer).toMatchObject({ decision: "block", hookSpecificOutput: { suppressOriginalPrompt: true } });
    expect(answer.reason).toContain("check the deploy");
    expect(client.record()).toMatchObject({ state: "idle" });
  }, 60_000);

  test("B16 until: the goal is bound to this conversation, and its first turn goes with the prompt", async () => {
    const client = open();
    const answer = await type(
      client,
      "until --check 'ready=test -f done.txt' --force --yes write the file done.txt",
    );
    expect(answer.decision).toBeUndefined();
    expect(contextOf(answer)).toContain("write the file done.txt");
    expect(client.goal()).toMatchObject({ session: ownerOf(SESSION), status: "active" });
    client.write("done.txt");
    await client.use("toolu_1");
    expect((await client.report(true)).systemMessage).toContain("LOOP_DONE");
  }, 60_000);

  test("B16 after an Esc, continue goes on at once with the next turn", async () => {
    const client = open();
    await client.addGoal();
    await client.submit("hello");
    await client.stop();
    const answer = await type(client, "continue");
    expect(contextOf(answer)).toContain("[LOOP]");
    expect(client.goal()).toMatchObject({ status: "active", job: { kind: "work" } });
  }, 60_000);

  test("B16 pause typed in it stops it, and the stop is let go", async () => {
    const client = open();
    await client.addGoal();
    await client.submit("hello");
    await client.stop();
    client.queue("enqueue", "/loopwright:loop pause");
    expect(await client.report(false)).toEqual({});
    client.queue("dequeue");
    expect(await type(client, "pause")).toMatchObject({ decision: "block" });
    expect(client.goal()).toMatchObject({ status: "paused" });
    await client.submit("and now?");
    expect(contextOf(await client.stop())).toBe("");
  }, 60_000);
});
