/**
 * One conversation and what its stops are answered, with a client that is played: the folder, the store, the engine
 * and the checks are real (test/support/played-client.ts).
 */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { GoalDraft } from "../../../src/core/goal/create.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import { requestGoal } from "../../../src/engine/goals/goals.ts";
import { procStart } from "../../../src/system/process.ts";
import { removeTempDirs } from "../../store/fixtures/temp-dir.ts";
import { POLICY } from "../../support/goals/goal-play.ts";
import {
  type Answered,
  asNotification,
  contextOf,
  OTHER,
  PlayedClient,
} from "../../support/played-client.ts";
import { until } from "../../support/until.ts";

afterEach(removeTempDirs);

function open(options: ConstructorParameters<typeof PlayedClient>[1] = {}): PlayedClient {
  const client = new PlayedClient("resident", options);
  onTestFinished(() => client.close());
  return client;
}

/** A goal of this conversation whose first turn is under way. */
async function begin(draft: Partial<GoalDraft> = {}, client = open()): Promise<PlayedClient> {
  await client.addGoal(draft);
  await client.submit("hello");
  expect(contextOf(await client.stop("hi"))).toContain("Iteration 1/");
  return client;
}

/** One that goes on for long: its checks change places, so that no breaker opens. */
const LONG: Partial<GoalDraft> = {
  limits: { budgetUsd: 25, iterations: 50, timeMs: null, tokens: null },
  criteria: ["odd", "even"].map((name) => ({
    name,
    check: { kind: "command", command: `test -f ${name}.txt` },
    source: "flag",
  })),
};

/** The nth turn of it ends. */
async function endTurn(client: PlayedClient, nth: number): Promise<Answered> {
  const [there, gone] = nth % 2 === 0 ? ["even", "odd"] : ["odd", "even"];
  client.write(`${there}.txt`);
  rmSync(join(client.root, `${gone}.txt`), { force: true });
  return client.report(false);
}

/** A check that lasts until somebody lets it end. */
const SLOW: Partial<GoalDraft> = {
  criteria: [
    {
      name: "ready",
      check: { kind: "command", command: "while [ ! -f go.txt ]; do sleep 0.02; done; test -f done.txt" },
      source: "flag",
    },
  ],
};

describe("D3 a stop of the conversation that the goal is bound to", () => {
  test("B9 a lie is sent back with what is not proved, and the proof ends it", async () => {
    const client = await begin();
    expect(contextOf(await client.report(true))).toContain("not proved: ready");
    expect(client.goal()).toMatchObject({ status: "active", iteration: 1 });
    client.write("done.txt");
    await client.use("toolu_1");
    const ended = await client.report(true);
    expect(ended.systemMessage).toMatch(/^\[LOOP\] LOOP_DONE: a0000000[\s\S]*SHIP/);
    expect(ended.hookSpecificOutput).toBeUndefined();
    expect(client.goal()).toMatchObject({ status: "ended", end: { status: "done" } });
  });

  test("D2 how it ended is said once, and later stops are let go without a word", async () => {
    const client = await begin();
    client.write("done.txt");
    await client.use("toolu_1");
    expect((await client.report(true)).systemMessage).toContain("LOOP_DONE");
    await client.submit("thanks");
    expect(await client.stop()).toEqual({});
  });

  test("B10 a report under another nonce claims nothing", async () => {
    const client = await begin();
    client.write("done.txt");
    await client.use("toolu_1");
    const next = await client.stop("---LOOP_STATUS---\nNONCE: 0000\nEXIT_SIGNAL: true\n---END_STATUS---");
    expect(contextOf(next)).toContain("Iteration 2/");
    expect(client.goal().exitSignal).toBe(false);
  });

  test("B7 calls of tools are counted for the turn, those of a sub-agent are not", async () => {
    const client = await begin();
    await client.use("toolu_1");
    await client.use("toolu_2", { agent_id: "a1" });
    await client.ask("PostToolUseFailure", {
      tool_name: "Bash",
      tool_use_id: "toolu_3",
      error: "Exit code 1",
    });
    await client.report(false);
    expect(client.goal().receipts.at(-1)).toMatchObject({ toolCalls: 2 });
  });

  test("D3 the last iteration ends with the word for it", async () => {
    const client = await begin({ limits: { budgetUsd: 25, iterations: 1, timeMs: null, tokens: null } });
    const last = await client.report(false);
    expect(last.systemMessage).toMatch(/MAX_ITERATIONS a0000000.*\/loopwright continue/);
    expect(client.goal()).toMatchObject({ status: "paused", pause: { code: "iterations" } });
  });

  test("B14 a question lets the conversation go, and says how it is answered", async () => {
    const client = open();
    await client.addGoal({ shape: "colleague", policy: POLICY });
    await client.submit("hello");
    const answer = await client.stop("hi");
    expect(answer.systemMessage).toMatch(/a0000000 asks: .*approve/);
    expect(answer.hookSpecificOutput).toBeUndefined();
    expect(client.goal().gate).not.toBeNull();
  });

  test("A20 switched off it stands still, and says so once", async () => {
    const client = open({ env: { LOOP_DISABLE_SCHEDULER: "1" } });
    await client.addGoal();
    await client.submit("hello");
    expect((await client.stop()).systemMessage).toContain("LOOP_DISABLE_SCHEDULER");
    expect(await client.stop()).toEqual({});
    expect(client.goal().jobs).toBe(0);
  });

  test("D6 while somebody else that lives holds the lease nothing is begun", async () => {
    const client = open();
    const other = spawn("sleep", ["60"]);
    onTestFinished(() => void other.kill("SIGKILL"));
    const pid = other.pid ?? 0;
    const holder = { owner: "runner:other", pid, procStart: procStart(pid), host: hostname() };
    await client.store().acquire({ ...holder, acquiredAt: Date.now() }, 0);
    await client.addGoal();
    await client.submit("hello");
    const answer = await client.stop();
    expect(answer.systemMessage).toMatch(/LOCK_CONFLICT: runner:other/);
    expect(client.goal().jobs).toBe(0);
  });

  test("B16 a goal that was continued goes on although a younger one has ended", async () => {
    const client = await begin();
    const older = client.goal();
    await requestGoal(
      client.store(),
      older,
      { type: "goal.paused", code: "person", reason: "later" },
      Date.now(),
    );
    expect((await client.stop()).systemMessage).toContain("later");
    const younger = await client.addGoal();
    await requestGoal(client.store(), younger, { type: "goal.cancelled", reason: "not this" }, Date.now());
    expect((await client.stop()).systemMessage).toContain("not this");
    const paused = client.store().load(older.id);
    if (paused?.kind !== "goal") throw new Error("the older goal is gone");
    await requestGoal(
      client.store(),
      paused,
      { type: "goal.continued", raise: {}, retryNow: false },
      Date.now(),
    );
    await client.submit("now");
    expect(contextOf(await client.stop())).toContain(`Goal ${older.id}`);
  });
});

describe("D2 a conversation that did not start it", () => {
  test("is never touched, whatever its name", async () => {
    const client = await begin();
    const before = client.goal();
    const other = open({ root: client.root });
    for (const session of [OTHER, "", " ", "session:", "../../etc", client.session.slice(0, -1)]) {
      other.session = session;
      await other.submit("hello");
      expect(await other.askRaw("Stop", { last_assistant_message: "ok" }), session).toBe("");
      expect(await other.askRaw("SessionEnd", { reason: "other" }), session).toBe("");
    }
    expect(client.goal()).toEqual(before);
    expect(contextOf(await client.report(false))).toContain("Iteration 2/");
  });

  test("an empty name does not bind to a goal of an empty name", async () => {
    const client = open();
    await client.addGoal({ session: "session:" });
    client.session = "";
    await client.submit("hello");
    expect(await client.askRaw("Stop")).toBe("");
    expect(client.goal().jobs).toBe(0);
  });

  test("a goal that no conversation is bound to waits for a runner", async () => {
    const client = open();
    await client.addGoal({ session: null });
    await client.submit("hello");
    expect(await client.askRaw("Stop")).toBe("");
    expect(client.goal()).toMatchObject({ status: "active", session: null });
  });
});

describe("D2 the person interrupts", () => {
  test("Esc fires no hook: the next prompt finds the turn unended, pauses the goal and says so", async () => {
    const client = await begin();
    const typed = await client.submit("do something else");
    expect(typed.systemMessage).toMatch(/PAUSED a0000000: you stopped its turn.*\/loopwright continue/);
    expect(client.goal()).toMatchObject({ status: "paused", pause: { code: "interrupted" }, iteration: 0 });
    // it was said
    expect(await client.stop()).toEqual({});
    await until(() => client.goal().job === null, "the turn is let go");
  });

  test("text that was queued before the Esc has no prompt of its own: its stop pauses the goal", async () => {
    const client = await begin();
    client.prompt = "p-unseen";
    const answer = await client.stop();
    expect(answer.hookSpecificOutput).toBeUndefined();
    expect(answer.systemMessage).toMatch(/PAUSED a0000000/);
    expect(client.goal()).toMatchObject({ status: "paused", pause: { code: "interrupted" } });
  });

  test("an API error of that text pauses it too", async () => {
    const client = await begin();
    client.prompt = "p-unseen";
    await client.ask("StopFailure", { error: "server_error" });
    expect(client.goal()).toMatchObject({ status: "paused", pause: { code: "interrupted" } });
  });

  test("Esc while the hook waits for the checks pauses the goal, and the hook is let go", async () => {
    const client = open();
    await client.addGoal(SLOW);
    await client.submit("hello");
    const esc = new AbortController();
    const answer = client.stop("hi", {}, esc.signal);
    await until(() => client.goal().job?.kind === "survey", "the checks run");
    esc.abort();
    expect(contextOf(await answer)).toBe("");
    expect(client.goal()).toMatchObject({ status: "paused", pause: { code: "interrupted" } });
  });

  test("the transcript tells of an Esc after which nothing was typed", async () => {
    const client = await begin();
    client.log({
      type: "user",
      promptId: client.prompt,
      message: { role: "user", content: [{ type: "text", text: "[Request interrupted by user]" }] },
    });
    await client.ask("Notification", { notification_type: "idle_prompt" });
    await until(() => client.goal().status === "paused", "the goal pauses");
    expect(client.goal().pause).toMatchObject({ code: "interrupted" });
  });
});

describe("D3 a person waits", () => {
  test("text that was queued comes first, and the loop goes on after it", async () => {
    const client = await begin();
    client.startMonitor();
    client.queue("enqueue", "/loopwright status");
    expect(await client.report(false)).toEqual({});
    // it begins within a moment: nothing of ours may come in between
    expect(client.record()).toMatchObject({ state: "busy" });
    client.queue("dequeue");
    client.prompt = "p-queued";
    expect(contextOf(await client.stop("there"))).toContain("Iteration 2/");
    expect(client.wakes()).toEqual([]);
  });

  test("plain text is told by its prompt before it is in the transcript", async () => {
    const client = await begin();
    await client.ask("UserPromptSubmit", { prompt: "wait a moment" });
    expect(await client.report(false)).toEqual({});
    expect(client.goal().status).toBe("active");
  });

  test("text that the agent has seen between two tools holds nothing up", async () => {
    const client = await begin();
    await client.ask("UserPromptSubmit", { prompt: "mind the tests" });
    client.queue("enqueue", "mind the tests");
    client.queue("remove", "mind the tests");
    expect(contextOf(await client.report(false))).toContain("Iteration 2/");
  });

  test("typed while the checks run it comes before the next turn", async () => {
    const client = open();
    client.write("go.txt");
    await begin(SLOW, client);
    rmSync(join(client.root, "go.txt"));
    const answer = client.report(false);
    await until(() => client.goal().job?.kind === "checks", "the checks run");
    client.queue("enqueue", "/loopwright pause");
    client.write("go.txt");
    expect(await answer).toEqual({});
    expect(client.goal()).toMatchObject({ status: "active", iteration: 1 });
  });

  test("a wake-up in the queue is nobody", async () => {
    const client = await begin();
    client.queue("enqueue", "<task-notification>\nx\n</task-notification>");
    expect(contextOf(await client.report(false))).toContain("Iteration 2/");
  });

  test("what was queued before a prompt of ours still waits in its turns", async () => {
    const client = await begin();
    client.queue("enqueue", "hello again");
    client.queue("enqueue", "and this");
    expect(await client.report(false)).toEqual({});
    client.queue("dequeue");
    await client.submit("hello again");
    expect(await client.stop()).toEqual({});
    client.queue("dequeue");
    client.prompt = "p-queued";
    expect(contextOf(await client.stop())).toContain("Iteration 2/");
  });
});

describe("B13 the client's request failed", () => {
  test.each<readonly [string, object, object]>([
    ["server_error", {}, { status: "active", iteration: 0, waitUntil: expect.any(Number) }],
    ["overloaded", {}, { status: "active", iteration: 0, waitUntil: expect.any(Number) }],
    ["something_new", {}, { status: "active", iteration: 0, waitUntil: expect.any(Number) }],
    ["rate_limit", {}, { status: "active", iteration: 0, waitUntil: expect.any(Number) }],
    ["authentication_failed", {}, { status: "paused", pause: { code: "auth" } }],
    ["billing_error", {}, { status: "paused", pause: { code: "auth" } }],
    ["max_output_tokens", {}, { status: "active", iteration: 1 }],
    ["invalid_request", {}, { status: "active", iteration: 1 }],
  ])("%s", async (error, more, expected) => {
    const client = await begin();
    expect(
      await client.ask("StopFailure", { error, last_assistant_message: "API Error: …", ...more }),
    ).toEqual({});
    await until(() => client.goal().job === null && client.goal().receipts.length > 0, "it is recorded");
    expect(client.goal()).toMatchObject(expected);
    expect(client.record()).toMatchObject({ state: "idle" });
  });

  test("a conversation that became too long is no fault of the agent's", async () => {
    const client = await begin();
    const details =
      '400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 > 1"}}';
    await client.ask("StopFailure", { error: "invalid_request", error_details: details });
    await until(() => client.goal().receipts.length > 0, "it is recorded");
    expect(client.goal().receipts.at(-1)).toMatchObject({ failure: { class: "overflow" }, charged: false });
  });

  test("while it sleeps stops are let go, and say until when; a failure of a prompt of the person's is theirs", async () => {
    const client = await begin();
    await client.ask("StopFailure", { error: "rate_limit" });
    await until(() => client.goal().waitUntil, "it sleeps");
    await client.submit("are you there?");
    await client.ask("StopFailure", { error: "rate_limit" });
    const receipts = client.goal().receipts.length;
    await client.submit("and now?");
    expect((await client.stop()).systemMessage).toMatch(/a0000000 waits until .*continue --now/);
    expect(client.goal().receipts).toHaveLength(receipts);
  });
});

describe("D3 the client's own cap", () => {
  test("the stop before the last is let go, and a wake-up goes on", async () => {
    const client = open();
    await client.addGoal(LONG);
    client.startMonitor();
    expect(contextOf(await client.wake())).toContain("Iteration 1/");
    for (let nth = 1; nth <= 7; nth++)
      expect(contextOf(await endTurn(client, nth)), `turn ${nth}`).toContain(`Iteration ${nth + 1}/`);
    const last = await endTurn(client, 8);
    expect(last).toEqual({ systemMessage: expect.stringMatching(/goes on in a moment/) });
    expect(contextOf(await client.wake(2))).toContain("Iteration 9/");
    expect(contextOf(await endTurn(client, 9))).toContain("Iteration 10/");
  }, 60_000);

  test("a call of a tool begins the count again", async () => {
    const client = await begin(LONG);
    client.startMonitor();
    for (let nth = 1; nth <= 9; nth++) {
      await client.use(`toolu_${nth}`);
      expect(contextOf(await endTurn(client, nth)), `turn ${nth}`).not.toBe("");
    }
    expect(client.record()).toMatchObject({ blocks: 1 });
  }, 60_000);

  test("where it is lifted it does not count", async () => {
    const client = await begin(LONG, open({ env: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0" } }));
    client.startMonitor();
    for (let nth = 1; nth <= 9; nth++)
      expect(contextOf(await endTurn(client, nth)), `turn ${nth}`).not.toBe("");
  }, 60_000);
});

describe("E1 an idle conversation is woken", () => {
  test("a goal of its own goes on with the wake-up, which is good once", async () => {
    const client = open();
    await client.addGoal();
    client.startMonitor();
    expect(contextOf(await client.wake())).toContain("Iteration 1/");
    const again = await client.submit(asNotification(client.wakes()[0] ?? ""));
    expect(again).toMatchObject({ decision: "block", reason: expect.stringMatching(/not due any more/) });
  });

  test("A5 not while the person's turn runs: then it comes with their stop", async () => {
    const client = open();
    client.startMonitor();
    await client.submit("hello");
    await client.addGoal();
    await until(() => client.resident.current?.store.loops().next().value !== undefined, "the goal is seen");
    expect(client.wakes()).toEqual([]);
    expect(contextOf(await client.stop())).toContain("Iteration 1/");
    expect(client.wakes()).toEqual([]);
  });

  test("A5 a wake-up that comes into a turn that runs does not bring its turn there", async () => {
    const client = open();
    await client.addGoal();
    client.startMonitor();
    const line = await until(() => client.wakes()[0], "the wake-up");
    await client.submit("hello");
    expect(await client.ask("UserPromptSubmit", { prompt: asNotification(line) })).toEqual({});
    expect(client.record()).toMatchObject({ turn: null });
    expect(contextOf(await client.stop())).toContain("Iteration 1/");
  });

  test("a wake-up of somebody else's is a prompt like any other", async () => {
    const client = open();
    expect(await client.submit(asNotification("the build is green"))).toEqual({});
    expect(client.record()).toMatchObject({ state: "busy", promptId: "p-1" });
  });

  test("A5 a due task comes with its prompt, also beside a goal that is paused", async () => {
    const client = await begin();
    await client.submit("stop that");
    await client.stop();
    expect(client.goal().status).toBe("paused");
    client.startMonitor();
    const task = await client.addTask({ prompt: "check the deploy", runNow: true });
    expect(contextOf(await client.wake())).toContain("check the deploy");
    expect(contextOf(await client.stop("deployed"))).toBe("");
    await until(
      () => client.store().load(task.id) === undefined || isOver(client, task.id),
      "the fire is over",
    );
    expect(client.goal().status).toBe("paused");
  });

  test("A1 a task whose prompt is a slash command says that it is one", async () => {
    const client = open();
    client.startMonitor();
    await client.addTask({ prompt: "/review the last commit", runNow: true });
    const text = contextOf(await client.wake());
    expect(text).toMatch(/slash command[\s\S]*\n\/review the last commit/);
  });

  test("a text that is too long for a hook's answer is put into a file", async () => {
    const client = open();
    client.startMonitor();
    await client.addTask({ prompt: `check ${"x".repeat(9_500)} END`, runNow: true });
    const text = contextOf(await client.wake());
    expect(text.length).toBeLessThan(500);
    const [path = ""] = /\.loop\/sessions\/\S+\.md/.exec(text) ?? [];
    expect(readFileSync(join(client.root, path), "utf8")).toMatch(/x END/);
  });
});

describe("B20 a conversation ends, begins and is compacted", () => {
  test("its end pauses the goal, and a stopped loop stays stopped in the next one", async () => {
    const client = await begin();
    expect(await client.ask("SessionEnd", { reason: "prompt_input_exit" })).toEqual({});
    expect(client.goal()).toMatchObject({ status: "paused", pause: { code: "interrupted" } });
    expect(client.record()).toMatchObject({ state: "over" });
    const told = await client.ask("SessionStart", { source: "resume" });
    expect(told.systemMessage).toMatch(/is paused: its conversation ended.*continue/);
    expect(contextOf(told)).toBe("");
    await client.submit("hello");
    expect(contextOf(await client.stop())).toBe("");
  });

  test("compacted in the middle of a turn it is reminded, and stays busy", async () => {
    const client = await begin();
    client.startMonitor();
    const told = await client.ask("SessionStart", { source: "compact" });
    expect(contextOf(told)).toContain("[LOOP RESUME]");
    expect(client.record()).toMatchObject({ state: "busy", blocks: 1, turn: { end: null } });
    expect(contextOf(await client.report(false))).toContain("Iteration 2/");
  });

  test("/clear: the old one's goal is paused, and the new one is free of it", async () => {
    const client = await begin();
    await client.ask("SessionEnd", { reason: "clear" });
    client.session = OTHER;
    expect(await client.askRaw("SessionStart", { source: "clear" })).toBe("");
    await client.submit("hello");
    expect(await client.askRaw("Stop")).toBe("");
    expect(client.goal()).toMatchObject({ status: "paused", pause: { reason: "its conversation ended" } });
    expect(client.record()).toMatchObject({ session: OTHER });
  });
});

function isOver(client: PlayedClient, id: LoopId): boolean {
  const loop = client.store().load(id);
  return loop?.kind === "task" && loop.fire === null && loop.lastFiredAt !== null;
}
