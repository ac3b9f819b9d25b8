import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createDemoAgent } from "../../src/agents/demo.ts";
import { createScriptedAgent, type ScriptedTurn } from "../../src/agents/scripted.ts";
import type { AgentEvent, Clock } from "../../src/ports.ts";
import { failedAs, makeControl, makeTurn, makeWatcher, plainEnd } from "../fixtures/agents/project.ts";

/** A clock that only goes when it is told to. */
function makeClock() {
  let now = 0;
  const wakes = new Set<{ readonly at: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    wake(at, callback) {
      const wake = { at, callback };
      wakes.add(wake);
      return { cancel: () => void wakes.delete(wake) };
    },
  };
  return {
    clock,
    waits: () => wakes.size,
    async goTo(moment: number): Promise<void> {
      for (;;) {
        // everything that waits for a promise goes first
        await new Promise(setImmediate);
        const [next] = [...wakes].filter(({ at }) => at <= moment).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        wakes.delete(next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = moment;
    },
  };
}

const turn = makeTurn({ deadlineAt: 10_000 });
const script = (scripted: Partial<ScriptedTurn>) => ({
  name: "scripted",
  turns: () => ({ says: "Done.", takesMs: 1_000, ...scripted }),
});
const idle = { toolCalls: 0, edits: {}, denials: [] };

test("E4 it takes its time, does what it does, and answers, turn by turn", async () => {
  const { clock, goTo } = makeClock();
  const done: number[] = [];
  const agent = createScriptedAgent(
    {
      name: "demo",
      turns: ({ text }, n) => ({ says: `${text} ${n}`, takesMs: 500, does: () => void done.push(n) }),
    },
    clock,
  );
  for (const n of [1, 2]) {
    const control = makeControl();
    const end = agent.run(turn, control);
    await goTo(clock.now() + 499);
    expect(done).toHaveLength(n - 1);
    await goTo(clock.now() + 1);
    expect(await end).toEqual({ ...plainEnd(`check the deploy ${n}`), activity: idle });
    expect(control.started).toEqual([null]);
  }
  expect(done).toEqual([1, 2]);
});

test("events are spread over its time, and are what it did", async () => {
  const { clock, goTo } = makeClock();
  const events: AgentEvent[] = [
    { type: "tool", name: "Edit", detail: "a.ts" },
    { type: "file", path: "a.ts" },
    { type: "permission", tool: "Bash", answer: "denied" },
  ];
  const usage = { costUsd: 1, inputTokens: 2, outputTokens: 3 };
  const control = makeWatcher();
  const end = createScriptedAgent(script({ events, usage }), clock).run(turn, control);
  for (const [moment, count] of [
    [249, 0],
    [250, 1],
    [500, 2],
    [750, 3],
    [1_000, 3],
  ] as const) {
    await goTo(moment);
    expect([moment, control.events.length]).toEqual([moment, count]);
  }
  const activity = { toolCalls: 1, edits: { "a.ts": 1 }, denials: ["Bash"] };
  expect(await end).toEqual({ kind: "ok", answer: "Done.", usage, conversation: null, activity });
});

test("B13 a failure of the script, of what it does, and of its time", async () => {
  const { clock, goTo } = makeClock();
  const failure = { class: "quota", reason: "used up", resetsAt: 5 } as const;
  const does = () => Promise.reject(new Error("no such file"));
  const ends = Promise.all(
    [{ failure }, { does }, { takesMs: 20_000 }].map((scripted) =>
      createScriptedAgent(script(scripted), clock).run(turn, makeControl()),
    ),
  );
  await goTo(20_000);
  expect(await ends).toMatchObject([
    failedAs("quota", "used up", 5),
    failedAs("fault", "the script failed: no such file"),
    failedAs("timeout", "timed out"),
  ]);
});

test("cancelled it stops at once, does nothing and leaves no timer", async () => {
  const { clock, goTo, waits } = makeClock();
  const done: string[] = [];
  const events: AgentEvent[] = [{ type: "text", text: "on it" }];
  const agent = createScriptedAgent(script({ events, does: () => void done.push("it") }), clock);
  const control = makeWatcher();
  const end = agent.run(turn, control);
  await goTo(600);
  control.abort();
  expect(await end).toEqual({ kind: "cancelled" });
  expect(waits()).toBe(0);
  await goTo(2_000);
  expect([control.events.length, done]).toEqual([1, []]);
  expect(await agent.run(turn, control)).toEqual({ kind: "cancelled" });
});

test("H1 of a turn whose runner died it says that it is lost", async () => {
  const agent = createScriptedAgent(script({}), makeClock().clock);
  expect(await agent.reconcile(turn, makeControl())).toMatchObject({ kind: "lost" });
});

test("E4 the agent of the demo answers in turn, really writes, and stays with its last word", async () => {
  const dir = mkdtempSync(join(tmpdir(), "loopwright-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const { clock, goTo } = makeClock();
  const parts = [{ about: /deploy/, answers: [{ says: "not yet" }, { says: "done", does: "notes.md" }] }];
  const agent = createDemoAgent(parts, dir, clock, 100);
  const ask = async (text: string) => {
    const end = agent.run(makeTurn({ text, deadlineAt: 1e9 }), makeControl());
    await goTo(clock.now() + 100);
    const ended = await end;
    return ended.kind === "ok" ? ended.answer : ended;
  };
  expect(await ask("deploy?")).toBe("not yet");
  expect(existsSync(join(dir, "notes.md"))).toBe(false);
  expect([await ask("deploy?"), await ask("deploy?"), await ask("else")]).toEqual(["done", "done", "Done."]);
  expect(existsSync(join(dir, "notes.md"))).toBe(true);
});
