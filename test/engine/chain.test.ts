/** A goal whose agent is a chain: the second one takes over what the first cannot do, and back. */
import { describe, expect, test } from "vitest";
import type { Failure } from "../../src/core/goal/goal.ts";
import type { LoopId } from "../../src/core/loop.ts";
import type { Turn, TurnEnd } from "../../src/ports/agent.ts";
import { COST, type GoalProcess, GoalWorld, statusBlock } from "../support/goals/goal-world.ts";
import { ScriptedAgent, START } from "../support/memory-ports.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const FIX = { write: { "src/app.ts": "fixed" }, exit: true } as const;

const out = (failure: Partial<Failure>, conversation: string | null = null): TurnEnd => ({
  kind: "failed",
  failure: { class: "quota", reason: "the limit is reached", resetsAt: null, ...failure },
  answer: "",
  usage: null,
  conversation: conversation === null ? null : { id: conversation, costUsd: null },
  activity: null,
});

function chained(first: (turn: Turn, n: number) => TurnEnd): { world: GoalWorld; asked: Turn[] } {
  const world = new GoalWorld();
  const agent = new ScriptedAgent(world.clock);
  const asked: Turn[] = [];
  agent.script = (turn) => {
    asked.push(turn);
    return { ms: SECOND, end: first(turn, asked.length) };
  };
  world.before = [agent];
  return { world, asked };
}

const ended = (world: GoalWorld, id: LoopId) => world.until(() => world.goal(id).status !== "active");
const said = (turn: Turn, conversation: string): TurnEnd => ({
  kind: "ok",
  answer: statusBlock(turn.env.LOOP_NONCE ?? "", false),
  usage: { costUsd: 0.25, inputTokens: 5, outputTokens: 5 },
  conversation: { id: conversation, costUsd: 0.25 },
  activity: null,
});

describe("a goal whose agent is a chain (E3)", () => {
  test("is done by the second at once while the first has no quota, and its receipts say so", async () => {
    const { world } = chained(() => out({ resetsAt: START + 60 * MINUTE }));
    world.work = (n) => (n === 1 ? { write: { "src/app.ts": "half" } } : FIX);
    const id = await world.create({ context: "fresh" });
    const process = await world.spawn();
    await ended(world, id);
    const goal = world.goal(id);
    expect(goal.end).toMatchObject({ status: "done" });
    expect(world.clock.now()).toBeLessThan(START + 10 * MINUTE);
    expect(goal).toMatchObject({ iteration: 2, spent: { costUsd: 2 * COST, unpriced: 0 } });
    const why = "scripted: quota until 2026-02-14 13:00 UTC (the limit is reached)".replace(
      /\d{4}-.* UTC/,
      new Date(START + 60 * MINUTE).toISOString().slice(0, 16).replace("T", " ").concat(" UTC"),
    );
    for (const receipt of goal.receipts) {
      expect(receipt).toMatchObject({ takenBy: "scripted-2", failure: null });
      expect(receipt.notes).toContain(`scripted-2 took the turn: ${why}`);
    }
    // once a turn, and only the first turn asked the one that is out
    expect(world.before[0]?.deliveries).toHaveLength(1);
    const lines = process.news.flatMap((news) => (news.type === "agent" ? [news.event] : []));
    expect(lines.filter(({ type }) => type === "taken")).toEqual([
      { type: "taken", by: "scripted-2", instead: "scripted", reason: why.slice("scripted: ".length) },
      { type: "taken", by: "scripted-2", instead: "scripted", reason: why.slice("scripted: ".length) },
    ]);
  });

  test("B20 whoever takes over in the middle of a conversation is told everything, with what was done", async () => {
    const { world, asked } = chained((turn, n) =>
      n <= 2 ? said(turn, "mine") : out({ class: "outage", reason: "down" }, "mine"),
    );
    const taken: Turn[] = [];
    world.work = (_, turn) => {
      taken.push(turn);
      return { ...FIX, end: { conversation: { id: "theirs", costUsd: 1 } } };
    };
    const id = await world.create({ context: "continue", spec: "Make the app right." });
    await world.spawn();
    await ended(world, id);
    expect(world.goal(id).end).toMatchObject({ status: "done" });
    const [first, second, third] = asked;
    expect(first?.conversation).toBeNull();
    expect(second).toMatchObject({ conversation: { id: "mine", costUsd: 0.25 } });
    expect(second?.text).not.toContain("Make the app right.");
    expect(third).toMatchObject({ conversation: { id: "mine" } });
    expect(taken).toHaveLength(1);
    expect(taken[0]?.conversation).toBeNull();
    expect(taken[0]?.text).toContain("[LOOP RESUME]");
    expect(taken[0]?.text).toContain("Make the app right.");
    expect(taken[0]?.text).toContain(taken[0]?.env.LOOP_NONCE);
    expect(world.goal(id)).toMatchObject({ conversation: "scripted-2:theirs", conversationCostUsd: 1 });
  });

  test("B13 waits for the one that is free first when all are out, and goes on then", async () => {
    const { world } = chained((turn) =>
      world.clock.now() < START + 50 * MINUTE ? out({ resetsAt: START + 50 * MINUTE }) : said(turn, "mine"),
    );
    world.work = () => {
      if (world.clock.now() >= START + 20 * MINUTE) return FIX;
      return { end: out({ resetsAt: START + 20 * MINUTE }) as Extract<TurnEnd, { kind: "failed" }> };
    };
    const id = await world.create({ context: "fresh" });
    await world.spawn();
    await world.until(() => world.goal(id).waitUntil !== null);
    expect(world.goal(id)).toMatchObject({ waitUntil: START + 20 * MINUTE + SECOND, iteration: 0 });
    await ended(world, id);
    expect(world.goal(id).end).toMatchObject({ status: "done" });
    expect(world.goal(id)).toMatchObject({ iteration: 1 });
    expect(world.clock.now()).toBeLessThan(START + 30 * MINUTE);
  });

  test("H1 after a crash at any step no agent has started a turn twice, and the goal comes to its end", async () => {
    let most = 0;
    for (let k = 1, crashed = true; crashed; k++) {
      crashed = false;
      let steps = 0;
      const { world } = chained(() => out({ class: "outage", reason: "down" }));
      world.work = (n) => (n === 1 ? { write: { "src/app.ts": "half" } } : FIX);
      world.onStep = (_, process: GoalProcess) => {
        steps += 1;
        if (steps !== k || crashed) return;
        crashed = true;
        process.kill();
        world.clock.wake(world.clock.now() + 3 * SECOND, () => void world.spawn());
      };
      const id = await world.create({ context: "fresh" });
      await world.spawn();
      await ended(world, id);
      const goal = world.goal(id);
      expect(goal.end?.status, `crash after step ${k}: ${JSON.stringify(goal.pause)}`).toBe("done");
      for (const { deliveries, running } of [world.agent, ...world.before]) {
        const started = deliveries.map(({ fireId, token }) => `${fireId}#${token}`);
        expect(new Set(started).size, `crash after step ${k}: ${started}`).toBe(started.length);
        expect(running).toBe(0);
      }
      expect(goal.iteration, `crash after step ${k}`).toBe(2);
      expect(goal.spent.costUsd, `crash after step ${k}`).toBeCloseTo(2 * COST);
      most = Math.max(most, steps);
    }
    expect(most).toBeGreaterThan(15);
  });
});
