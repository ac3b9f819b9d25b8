/**
 * One conversation and what its stops are answered, with a client that is played: the folder, the store, the engine
 * and the checks are real (test/support/played-client.ts).
 */
import { spawn } from "node:child_process";
import { hostname } from "node:os";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { GoalDraft } from "../../src/core/goal/create.ts";
import { requestGoal } from "../../src/engine/goals.ts";
import { procStart } from "../../src/system/process.ts";
import { removeTempDirs } from "../store/fixtures/temp-dir.ts";
import { POLICY } from "../support/goal-play.ts";
import { contextOf, OTHER, PlayedClient } from "../support/played-client.ts";
import { until } from "../support/until.ts";

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
