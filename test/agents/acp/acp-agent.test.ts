import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runFolder } from "../../../src/agents/process/run-folder.ts";
import { ABANDONED, type Turn, type TurnEnd } from "../../../src/ports/agent.ts";
import { isAlive } from "../../../src/system/process.ts";
import { failedAs, makeControl, makeTurn, makeWatcher } from "../../fixtures/agents/project.ts";
import { type AcpWorld, makeAcpWorld, workTurn } from "../../support/acp/acp-world.ts";
import { until } from "../../support/until.ts";

let world: AcpWorld;
beforeEach(async () => {
  world = await makeAcpWorld();
});
afterEach(() => world.close());

const isGone = (pid: number) => !isAlive({ pid, start: null });
const folderOf = (turn: Turn) => runFolder(world.dir, turn);

describe("E3 a turn over the Agent Client Protocol", () => {
  test("has its answer, its usage, its conversation and what was done", async () => {
    const control = makeWatcher();
    const edit = { toolCallId: "t1", kind: "edit", title: "Write a.txt" };
    const path = world.path("a.txt");
    const turn = workTurn([
      { say: "I begin\nwith a file" },
      { update: { sessionUpdate: "tool_call", ...edit, status: "pending", rawInput: {} } },
      { update: { sessionUpdate: "tool_call_update", toolCallId: "t1", rawInput: { file_path: path } } },
      { write: "a.txt" },
      { update: { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" } },
      {
        update: {
          sessionUpdate: "tool_call",
          toolCallId: "t2",
          kind: "read",
          status: "completed",
          title: "Read",
          locations: [{ path: world.path("b.txt") }],
        },
      },
      {
        update: { sessionUpdate: "usage_update", used: 1, size: 9, cost: { amount: 0.25, currency: "USD" } },
      },
      { say: "It is " },
      { say: "done." },
    ]);
    const end = await world.agent().run(turn, control);
    expect(end).toEqual({
      kind: "ok",
      answer: "It is done.",
      usage: { costUsd: 0.25, inputTokens: 100, outputTokens: 10 },
      conversation: { id: expect.stringMatching(/^s/), costUsd: 0.25 },
      activity: { toolCalls: 2, edits: { "a.txt": 1 }, reads: ["b.txt"], denials: [] },
    });
    expect(control.events).toEqual([
      { type: "text", text: "I begin" },
      { type: "text", text: "with a file" },
      { type: "tool", name: "edit", detail: "a.txt" },
      { type: "file", path: "a.txt" },
      { type: "tool", name: "read", detail: "b.txt" },
      { type: "text", text: "It is done." },
    ]);
    expect(control.started).toHaveLength(1);
    const files = readdirSync(folderOf(turn)).sort();
    expect(files).toEqual([
      "answer.txt",
      "end.7.json",
      "events.jsonl",
      "exit.7",
      "format.txt",
      "marks.7",
      "prompt.txt",
      "ticket.7",
    ]);
    expect(readFileSync(join(folderOf(turn), "answer.txt"), "utf8")).toBe("It is done.");
    expect(
      readFileSync(join(folderOf(turn), "events.jsonl"), "utf8")
        .trim()
        .split("\n"),
    ).toHaveLength(9 - 1);
  });

  test("a second turn of the conversation goes to the same warm process and session", async () => {
    const agent = world.agent();
    const first = await agent.run(workTurn("one"), makeControl());
    if (first.kind !== "ok") throw new Error(JSON.stringify(first));
    const second = await agent.run(
      workTurn([{ recall: true }], { conversation: first.conversation }),
      makeControl(),
    );
    expect(second).toMatchObject({ kind: "ok", answer: "heard 1 before", conversation: first.conversation });
    const [a, b] = world.prompts();
    expect(b).toEqual(a);
  });

  test("a fresh turn gets a session of its own in the warm process", async () => {
    const agent = world.agent();
    await agent.run(workTurn("one"), makeControl());
    const second = await agent.run(workTurn([{ recall: true }]), makeControl());
    expect(second).toMatchObject({ kind: "ok", answer: "heard 0 before" });
    const [a, b] = world.prompts();
    expect(b?.[0]).toBe(a?.[0]);
    expect(b?.[1]).not.toBe(a?.[1]);
  });

  test.each([
    ["before it answers", {}],
    ["after it", { repeatsLate: true }],
  ])(
    "another process loads the conversation; what it repeats %s is no event of the turn",
    async (_, nature) => {
      const first = await world.agent().run(workTurn("one"), makeControl());
      if (first.kind !== "ok") throw new Error(JSON.stringify(first));
      const control = makeWatcher();
      const turn = workTurn([{ waitFor: "repeated" }, { recall: true }], {
        conversation: first.conversation,
        textIfFresh: "all of it",
      });
      const second = await world.agent({}, nature).run(turn, control);
      expect(second).toMatchObject({
        kind: "ok",
        answer: "heard 1 before",
        conversation: { id: first.conversation?.id },
      });
      expect(control.events).toEqual([{ type: "text", text: "heard 1 before" }]);
      expect(world.prompts().map(([, session]) => session)).toEqual([
        first.conversation?.id,
        first.conversation?.id,
      ]);
    },
  );

  test("a missing conversation is replaced by a fresh one with the full text", async () => {
    const turn = workTurn("only the next step", {
      conversation: { id: "gone", costUsd: 3 },
      textIfFresh: "all of it",
    });
    const end = await world.agent().run(turn, makeControl());
    expect(end).toMatchObject({ kind: "ok", answer: "you said: all of it" });
    expect(end).not.toMatchObject({ conversation: { id: "gone" } });
    expect(readFileSync(join(folderOf(turn), "prompt.txt"), "utf8")).toBe("all of it");
  });

  test("what a conversation costs is told as a total, and each turn has its part", async () => {
    const cost = (amount: number) => [
      { update: { sessionUpdate: "usage_update", used: 1, size: 9, cost: { amount, currency: "USD" } } },
      { say: "x" },
    ];
    const agent = world.agent();
    const first = await agent.run(workTurn(cost(0.5)), makeControl());
    if (first.kind !== "ok") throw new Error(JSON.stringify(first));
    const second = await agent.run(workTurn(cost(0.75), { conversation: first.conversation }), makeControl());
    expect(second).toMatchObject({ usage: { costUsd: 0.25 }, conversation: { costUsd: 0.75 } });
    const third = await world
      .agent()
      .run(workTurn(cost(1), { conversation: second.conversation ?? null }), makeControl());
    expect(third).toMatchObject({ usage: { costUsd: 0.25 }, conversation: { costUsd: 1 } });
  });

  test("a turn of a task has a process of its own with its environment, which ends with it", async () => {
    const agent = world.agent();
    const turn = makeTurn({
      id: "aabbccdd-99",
      text: JSON.stringify([{ env: true }, { say: "x" }]),
      env: { LOOP_KIND: "scheduled", LOOP_SLOT: "noon" },
    });
    expect(await agent.run(turn, makeControl())).toMatchObject({ kind: "ok" });
    expect(JSON.parse(world.read("env.json"))).toMatchObject({
      LOOP_ID: "aabbccdd",
      LOOP_FIRE_ID: "aabbccdd-99",
      LOOP_SLOT: "noon",
      LOOP_PROJECT: world.dir,
      LOOP_PROMPT_FILE: join(folderOf(turn), "prompt.txt"),
    });
    expect(world.project.processes()).toEqual([]);
  });

  test("mode and model are set where the agent offers them, once", async () => {
    const session = {
      modes: {
        currentModeId: "agent",
        availableModes: [{ id: "agent" }, { id: "write" }, { id: "read-only" }],
      },
      configOptions: [
        {
          id: "model",
          category: "model",
          type: "select",
          currentValue: "big",
          options: [
            { value: "big", name: "Big" },
            { value: "vendor/small", name: "Small" },
          ],
        },
      ],
    };
    const agent = world.agent({}, { session }, { modes: { work: "write", look: "read-only" } });
    const first = await agent.run(workTurn("one", { model: "small" }), makeControl());
    if (first.kind !== "ok") throw new Error(JSON.stringify(first));
    expect(first.usage).toMatchObject({ model: "vendor/small" });
    await agent.run(workTurn("two", { model: "small", conversation: first.conversation }), makeControl());
    await agent.run(
      workTurn("three", { conversation: first.conversation, env: { LOOP_ROLE: "judge", LOOP_NONCE: "n" } }),
      makeControl(),
    );
    const set = world.sent().filter(({ method }) => method?.startsWith("session/set"));
    expect(set.map(({ params }) => params?.modeId ?? params?.value)).toEqual([
      "write",
      "vendor/small",
      "read-only",
    ]);
    const wrong = await agent.run(workTurn("four", { model: "huge" }), makeControl());
    expect(wrong).toMatchObject(
      failedAs("fault", 'scripted: unknown model "huge". Available models: big, vendor/small'),
    );
  });
});

describe("E3 agents that misbehave", () => {
  const rows: readonly (readonly [string, object[], object, object])[] = [
    [
      "dies in mid-turn",
      [{ stderr: "out of luck\n" }, { die: 9 }],
      {},
      failedAs("fault", "scripted: the agent's process ended: exit 9: out of luck"),
    ],
    [
      "is killed in mid-turn",
      [{ kill: "SIGKILL" }, { hang: true }],
      {},
      failedAs("fault", "scripted: the agent's process ended: killed by SIGKILL"),
    ],
    [
      "closes its stdout and stays",
      [{ closeStdout: true }, { hang: true }],
      {},
      failedAs("fault", expect.stringContaining("the agent's process ended")),
    ],
    ["answers twice", [{ say: "x" }, { twice: true }], {}, { kind: "ok", answer: "x" }],
    [
      "prints what is no message",
      [{ raw: "Warning: {x}" }, { raw: '{"a":1}' }, { raw: "[]" }, { say: "x" }],
      { noise: "Welcome!" },
      { kind: "ok", answer: "x" },
    ],
    [
      "says nothing and does nothing",
      [],
      {},
      failedAs("fault", "scripted: the agent ended the turn without an answer"),
    ],
    [
      "stops by itself",
      [{ say: "x" }, { result: { stopReason: "cancelled" } }],
      {},
      failedAs("fault", "scripted: the agent cancelled the turn by itself"),
    ],
    [
      "refuses",
      [{ say: "x" }, { result: { stopReason: "refusal" } }],
      {},
      failedAs("fault", "scripted: the model refused"),
    ],
    [
      "reaches its limit of tokens",
      [{ result: { stopReason: "max_tokens" } }],
      {},
      failedAs("overflow", expect.any(String)),
    ],
    [
      "reaches its limit of requests",
      [{ result: { stopReason: "max_turn_requests" } }],
      {},
      failedAs("timeout", expect.any(String)),
    ],
    [
      "ends with something new",
      [{ say: "x" }, { result: { stopReason: "bored" } }],
      {},
      failedAs("fault", 'scripted: the agent ended the turn with "bored"'),
    ],
    [
      "does not know how it ended",
      [{ say: "x" }, { result: {} }],
      {},
      failedAs("fault", 'scripted: the agent ended the turn with ""'),
    ],
    [
      "does not start",
      [],
      { dieAt: "initialize" },
      failedAs("fault", "scripted: the agent's process ended: exit 3: I do not want to"),
    ],
    [
      "opens no session",
      [],
      { errorAt: { method: "session/new", error: { code: -32000, message: "Log in" } } },
      failedAs("auth", "scripted: Log in"),
    ],
  ];
  test.each(rows)("one that %s", async (_, steps, nature, expected) => {
    const end = await world.agent({}, nature).run(workTurn(steps as never), makeControl());
    expect(end).toMatchObject(expected);
  });

  test("one that does not greet is ended after its time", async () => {
    const end = await world
      .agent({ startMs: 300 }, { hangAt: "initialize" })
      .run(workTurn("x"), makeControl());
    expect(end).toMatchObject(failedAs("outage", expect.stringContaining("did not answer initialize")));
    expect(world.project.processes()).toEqual([]);
  });

  test("one that floods is stopped, and all that it started", async () => {
    const agent = world.agent({ maxOutputBytes: 100_000 });
    const end = await agent.run(workTurn([{ flood: 5000 }, { hang: true }]), makeControl());
    expect(end).toMatchObject(failedAs("fault", "scripted: stopped because it sent more than 98 KiB"));
    expect(world.project.processes()).toEqual([]);
  });

  test("B13 an error in words gets its class from the agent's own record", async () => {
    const turn = () => workTurn([{ say: "Error: no key" }]);
    const profile = { errorMark: "Error: ", eventsFile: (id: string) => world.path(`${id[0]}.jsonl`) };
    const agent = world.agent({}, {}, profile);
    expect(await agent.run(turn(), makeControl())).toMatchObject(
      failedAs("outage", "scripted: Error: no key"),
    );
    const data = { errorType: "authentication", message: "no key", statusCode: 401 };
    writeFileSync(world.path("s.jsonl"), `${JSON.stringify({ type: "session.error", data })}\n`);
    expect(await agent.run(turn(), makeControl())).toMatchObject(failedAs("auth", "scripted: Error: no key"));
  });

  test("one that sends nothing for too long is an outage, unless a tool runs", async () => {
    const agent = world.agent({ silenceMs: 250 });
    const end = await agent.run(workTurn([{ say: "x" }, { hang: true }]), makeControl());
    expect(end).toMatchObject(failedAs("outage", expect.stringContaining("no message from the agent")));
    const tool = {
      sessionUpdate: "tool_call",
      toolCallId: "t",
      kind: "execute",
      status: "in_progress",
      title: "sleep",
    };
    const busy = agent.run(
      workTurn([{ update: tool }, { ready: "busy" }, { waitFor: "go" }, { say: "y" }]),
      makeControl(),
    );
    await world.pidIn("busy");
    const before = performance.now();
    await until(() => performance.now() - before > 700, "it has been silent for long");
    writeFileSync(world.path("go"), "");
    expect(await busy).toMatchObject({ kind: "ok" });
  });

  test("one that died while it was idle is replaced, and loads the conversation", async () => {
    const agent = world.agent();
    const first = await agent.run(workTurn("one"), makeControl());
    if (first.kind !== "ok") throw new Error(JSON.stringify(first));
    const [pid = 0] = world.prompts()[0] ?? [];
    process.kill(pid, "SIGKILL");
    await until(() => isGone(pid), "it is dead");
    const second = await agent.run(
      workTurn([{ recall: true }], { conversation: first.conversation }),
      makeControl(),
    );
    expect(second).toMatchObject({ kind: "ok", answer: "heard 1 before" });
  });
});

describe("E3 a turn is stopped", () => {
  const cases = [
    ["an agent that obeys", {}],
    ["one that ignores cancel", { ignoreCancel: true }],
    ["one that ignores SIGTERM too", { ignoreCancel: true, ignoreTerm: true }],
  ] as const;
  test.each(cases)("by cancel within a second: %s", async (_, nature) => {
    const control = makeControl();
    const end = world
      .agent({}, nature)
      .run(workTurn([{ say: "x" }, { ready: "ready" }, { hang: true }]), control);
    await world.pidIn("ready");
    const before = performance.now();
    control.abort();
    expect(await end).toEqual({ kind: "cancelled", conversation: { id: expect.any(String), costUsd: null } });
    expect(performance.now() - before).toBeLessThan(1_500);
    expect(world.project.processes()).toEqual([]);
    expect(world.sent().map(({ method }) => method)).toContain("session/cancel");
  });

  test.skipIf(process.platform !== "linux")("with what left its group", async () => {
    const control = makeControl();
    const steps = [{ child: { file: "escaped", detached: true } }, { hang: true }];
    const end = world.agent().run(workTurn(steps), control);
    const escaped = await world.pidIn("escaped");
    control.abort();
    await end;
    expect(isGone(escaped)).toBe(true);
  });

  test("at its deadline, with the answer so far", async () => {
    let looks = 0;
    const now = () => (looks++ === 0 ? 1_234 : existsSync(world.path("ready")) ? 3_600_000 : 3_599_990);
    const turn = workTurn([{ say: "so far" }, { ready: "ready" }, { hang: true }], { deadlineAt: 3_600_000 });
    const end = await world.agent({ now }).run(turn, makeControl());
    expect(end).toMatchObject({ ...failedAs("timeout", "timed out after 1h"), answer: "so far" });
    expect(world.project.processes()).toEqual([]);
  });

  test.each(["initialize", "session/new"])("while it hangs at %s", async (hangAt) => {
    const control = makeControl();
    const end = world.agent({}, { hangAt }).run(workTurn("x"), control);
    await until(() => world.sent().some(({ method }) => method === hangAt), "it was asked");
    control.abort();
    expect(await end).toEqual({ kind: "cancelled" });
    expect(world.project.processes()).toEqual([]);
    expect(control.started).toEqual([]);
  });

  test("before it began, or after its deadline, nothing starts", async () => {
    const control = makeControl();
    control.abort();
    expect(await world.agent().run(workTurn("x"), control)).toEqual({ kind: "cancelled" });
    const late = await world.agent().run(workTurn("x", { deadlineAt: Date.now() - 1 }), makeControl());
    expect(late).toMatchObject(failedAs("timeout", expect.stringContaining("deadline passed")));
    expect(world.sent()).toEqual([]);
  });

  test("a cancelled conversation goes on in another process", async () => {
    const control = makeControl();
    const agent = world.agent();
    const cancelled = agent.run(workTurn([{ ready: "ready" }, { hang: true }]), control);
    await world.pidIn("ready");
    control.abort();
    const { conversation } = (await cancelled) as Extract<TurnEnd, { kind: "cancelled" }>;
    const next = await agent.run(
      workTurn([{ recall: true }], { conversation: conversation ?? null }),
      makeControl(),
    );
    expect(next).toMatchObject({ kind: "ok", answer: "heard 1 before" });
  });

  test("an abandoned turn continues, and its agent is not used again", async () => {
    const control = makeControl();
    const agent = world.agent();
    const end = agent.run(workTurn([{ ready: "ready" }, { waitFor: "go" }, { write: "done" }]), control);
    const pid = await world.pidIn("ready");
    control.abort(ABANDONED);
    expect(await end).toEqual({ kind: "cancelled" });
    expect(isGone(pid)).toBe(false);
    writeFileSync(world.path("go"), "");
    await until(() => existsSync(world.path("done")) && isGone(pid), "the agent ended with the turn");
  });
});

describe("E3 agents stay warm", () => {
  test.skipIf(process.platform !== "linux")("but not what a turn left that leaves nothing", async () => {
    const agent = world.agent();
    const first = await agent.run(workTurn("one"), makeControl());
    if (first.kind !== "ok") throw new Error(JSON.stringify(first));
    const steps = [
      { child: { file: "in-group", detached: false } },
      { child: { file: "escaped", detached: true } },
      { waitFor: "in-group" },
      { waitFor: "escaped" },
      { say: "x" },
    ];
    const turn = workTurn(steps, { conversation: first.conversation });
    expect(await agent.run(turn, makeControl())).toMatchObject({ kind: "ok" });
    for (const file of ["in-group", "escaped"]) expect(isGone(await world.pidIn(file))).toBe(true);
    const third = await agent.run(
      workTurn([{ recall: true }], { conversation: first.conversation }),
      makeControl(),
    );
    expect(third).toMatchObject({ answer: "heard 2 before" });
    expect(new Set(world.prompts().map(([pid]) => pid)).size).toBe(1);
  });

  test("no longer than their idle time, and not more than some", async () => {
    const agent = world.agent({ maxWarm: 1, idleMs: 300 });
    const steps = (n: number) => [{ ready: `ready${n}` }, { waitFor: "go" }, { say: "x" }];
    const both = [1, 2].map((n) => agent.run(workTurn(steps(n)), makeControl()));
    const pids = [await world.pidIn("ready1"), await world.pidIn("ready2")];
    expect(new Set(pids).size).toBe(2);
    writeFileSync(world.path("go"), "");
    await Promise.all(both);
    expect(pids.filter((pid) => !isGone(pid))).toHaveLength(1);
    await until(() => world.project.processes().length === 0, "the last one was closed");
  });

  test("until they are closed; a turn after that starts one again", async () => {
    const agent = world.agent();
    await agent.run(workTurn("one"), makeControl());
    expect(world.project.processes()).not.toEqual([]);
    await agent.close();
    expect(world.project.processes()).toEqual([]);
    expect(await agent.run(workTurn("two"), makeControl())).toMatchObject({ kind: "ok" });
  });
});
