/**
 * A crash of a goal's owner after every append and every effect. Recovered by a process that comes later, by one that
 * stood by, or survived as a zombie that goes on long after it lost the lease. Then, invariants 3 and 5 to 9:
 *
 * 1. the goal comes to the same end, by the same iterations, steps, questions and counts;
 * 2. no turn was started twice, none was charged twice or not at all, and one ran at a time;
 * 3. what it ended on was proved on the files as they are.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GoalEvent } from "../../../src/core/goal/event.ts";
import type { Goal } from "../../../src/core/goal/goal.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import { POLICY } from "../../support/goals/goal-play.ts";
import { COST, type GoalProcess, GoalWorld, statusBlock, TESTS } from "../../support/goals/goal-world.ts";
import { aCriterion, START } from "../../support/goals/goals.ts";
import { runs } from "../../support/runs.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

type OnStep = (count: number, world: GoalWorld, process: GoalProcess) => void;
type Crash = ((world: GoalWorld, process: GoalProcess) => void) & {
  readonly standby?: boolean;
  /** Of the steps, in the short form, only every n-th. */
  readonly stride?: number;
};

const isLong = process.env.LOOP_TEST_LONG !== undefined;

describe("H1 a crash of a goal's owner loses nothing, charges nothing twice, leaves nothing stuck", () => {
  test("the scenario itself, without a crash", async () => {
    const { world, id, steps } = await play(() => {});
    expect(steps).toBeGreaterThan(50);
    check(world, id);
    expect(gates(world, id)).toEqual(["G1", "G2", "G3"]);
    expect(world.goal(id).receipts.map(({ kind, charged }) => [kind, charged])).toEqual([
      ["plan", false],
      ["work", true],
      ["work", false],
      ["work", true],
    ]);
    expect(world.goal(id).spent.costUsd).toBeCloseTo(5 * COST);
  });

  test.each<[string, Crash]>([
    ["a new process comes 3 s later", recoverLater(3 * SECOND)],
    ["a new process comes 11 minutes later", Object.assign(recoverLater(11 * MINUTE), { stride: 3 })],
    ["a process stands by (A11)", Object.assign(recoverByStandby(), { stride: 2 })],
    [
      "the dead one is a zombie: frozen, and thawed after the takeover",
      Object.assign(recoverFromZombie(), { stride: 3 }),
    ],
  ])("after every append and every effect: %s", async (_, crash) => {
    const free = await play(() => {});
    const stride = isLong ? 1 : (crash.stride ?? 1);
    let crashes = 0;
    for (let k = 1; ; k += stride) {
      let crashed = false;
      const { world, id } = await play((count, world, process) => {
        if (count !== k || crashed) return;
        crashed = true;
        crash(world, process);
      }, crash.standby);
      try {
        check(world, id);
        expect(essence(world, id)).toEqual(essence(free.world, free.id));
      } catch (error) {
        throw new Error(`crash after step ${k}: ${(error as Error).message}`, { cause: error });
      }
      if (!crashed) break;
      crashes += 1;
    }
    expect(crashes * stride).toBeGreaterThan(50);
  });

  test("after every step, and the turn is lost with its runner: it costs no iteration, and the end is proved", async () => {
    for (let k = 1, crashed = true; crashed; k += isLong ? 1 : 2) {
      crashed = false;
      const { world, id } = await play((count, world, process) => {
        if (count !== k || crashed) return;
        crashed = true;
        loseTurns(world);
        recoverLater(3 * SECOND)(world, process);
      });
      try {
        check(world, id);
        expect(world.goal(id).iteration).toBe(
          world.goal(id).receipts.filter(({ charged }) => charged).length,
        );
      } catch (error) {
        throw new Error(`crash after step ${k}: ${(error as Error).message}`, { cause: error });
      }
    }
  });

  test("after random steps, and again while recovering", async () => {
    const free = await play(() => {});
    const gaps = fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(gaps, async (given) => {
        const left = [...given];
        let next = left.shift() ?? 0;
        let since = 0;
        const { world, id } = await play((_, world, process) => {
          since += 1;
          if (since !== next) return;
          since = 0;
          next = left.shift() ?? 0;
          recoverLater(3 * SECOND)(world, process);
        });
        check(world, id);
        expect(essence(world, id)).toEqual(essence(free.world, free.id));
      }),
      { numRuns: runs(25, 400) },
    );
  });
});

type Action =
  | { readonly do: "wait" | "jump"; readonly ms: number }
  | { readonly do: "kill" | "freeze" | "stop"; readonly which: number }
  | { readonly do: "thaw" | "spawn" | "pause" | "continue" | "approve" | "reject" | "edit" }
  | { readonly do: "disk"; readonly failure: "lost" | "landed"; readonly writes: number };

const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(90 * SECOND) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(10 * MINUTE) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("jump" as const),
      ms: fc.integer({ min: -30 * MINUTE, max: 30 * MINUTE }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("kill" as const, "freeze" as const, "stop" as const),
      which: fc.nat(1),
    }),
  },
  {
    weight: 8,
    arbitrary: fc
      .constantFrom("thaw", "spawn", "spawn", "pause", "continue", "approve", "approve", "reject", "edit")
      .map((name) => ({ do: name }) as Action),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("disk" as const),
      failure: fc.constantFrom("lost" as const, "landed" as const),
      writes: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

const CHAOS = "H1 A11 B19 two engines, crashes, zombies, a failing disk, people and clock jumps in any order";
test(CHAOS, { timeout: 600_000 }, async () => {
  const times = runs(60, 1_500);
  const ends = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { maxLength: 30 }), async (script) => {
      const { world, id } = await scene();
      await world.spawn();
      for (const action of script) await act(world, id, action);
      world.journal.fail = () => null;
      for (const process of world.processes) process.thaw();
      await world.clock.advance(MINUTE);
      await world.spawn();
      for (let tries = 0; tries < 6 && world.goal(id).status !== "ended"; tries++) {
        await act(world, id, { do: "continue" });
        await world.until(() => world.goal(id).status !== "active", 60 * MINUTE);
      }
      await world.clock.advance(20 * MINUTE);
      checkTurns(world, id);
      checkLines(world, id);
      const goal = world.goal(id);
      ends.set(goal.status, (ends.get(goal.status) ?? 0) + 1);
      if (goal.end?.status === "done") expect(goal.spent.costUsd).toBeGreaterThanOrEqual(2 * COST);
    }),
    { numRuns: times },
  );
  expect(ends.get("ended") ?? 0).toBeGreaterThan(Math.min(20, times / 3));
});

async function act(world: GoalWorld, id: LoopId, action: Action): Promise<void> {
  switch (action.do) {
    case "wait":
      return world.clock.advance(action.ms);
    case "jump":
      return world.clock.jump(action.ms);
    case "kill":
      return world.processes.at(-1 - action.which)?.kill();
    case "freeze":
      return world.processes.at(-1 - action.which)?.freeze();
    case "stop":
      void world.processes.at(-1 - action.which)?.engine.stop("stopped by a person");
      return world.clock.advance(SECOND);
    case "thaw":
      for (const process of world.processes) process.thaw();
      return world.clock.advance(SECOND);
    case "spawn":
      await world.spawn();
      return;
    case "edit":
      return world.write("README.md", `${world.clock.now()}`);
    case "disk": {
      let left = action.writes;
      world.journal.fail = () => (left-- > 0 ? action.failure : null);
      return;
    }
    case "pause":
      return ask(world, id, { type: "goal.paused", code: "person", reason: "paused by a person" });
    case "continue":
      return ask(world, id, { type: "goal.continued", raise: { iterations: 1 }, retryNow: true });
    case "approve":
    case "reject": {
      const gate = world.goal(id).gate?.kind ?? "G1";
      return ask(world, id, { type: "goal.answered", gate, answer: action.do, note: null });
    }
  }
}

/** A person whose disk is full gets an error and goes away. */
async function ask(world: GoalWorld, id: LoopId, event: GoalEvent): Promise<void> {
  try {
    await world.request(id, event);
  } catch (error) {
    expect((error as Error).message).toMatch(/no space/);
  }
}

function recoverLater(ms: number): Crash {
  return (world, process) => {
    process.kill();
    world.clock.wake(world.clock.now() + ms, () => void world.spawn());
  };
}

function recoverByStandby(): Crash {
  return Object.assign((_: GoalWorld, process: GoalProcess) => process.kill(), { standby: true });
}

function recoverFromZombie(): Crash {
  const crash = (world: GoalWorld, process: GoalProcess) => {
    process.freeze();
    world.clock.wake(world.clock.now() + 9 * MINUTE, () => process.thaw());
  };
  return Object.assign(crash, { standby: true });
}

/** What ran with the runner died with it, and nobody can say how far it came. */
function loseTurns(world: GoalWorld): void {
  const lost = new Set(world.agent.deliveries.map(({ fireId }) => fireId));
  for (const id of lost) world.agent.finish(id, { kind: "cancelled" });
  world.agent.fate = ({ id }) => (lost.has(id) ? { kind: "lost", reason: "its process is gone" } : null);
}

/** A plan, a turn that is not enough, one that hits a quota, one that fixes it; all gates; a judge at the end. */
async function scene(): Promise<{ readonly world: GoalWorld; readonly id: LoopId }> {
  const world = new GoalWorld();
  const quota = { class: "quota", reason: "limit", resetsAt: START + 15 * MINUTE } as const;
  world.work = (n) =>
    n === 1
      ? { write: { "src/app.ts": "half" } }
      : n === 2
        ? { write: { "src/app.ts": "more" }, end: { kind: "failed", failure: quota, usage: null } }
        : { write: { "src/app.ts": "fixed" }, exit: true };
  world.other = ({ env }) => {
    const nonce = env.LOOP_NONCE ?? "";
    if (env.LOOP_KIND === "plan") return { block: statusBlock(nonce, false, ['STEPS: ["find", "fix"]']) };
    return { block: `Looks good.\n\n<verdict nonce="${nonce}">PASS</verdict>` };
  };
  const policy = { ...POLICY, gateTimeoutMs: MINUTE, gateDefault: "approve" } as const;
  const ui = aCriterion("ui", { check: { kind: "judge", question: "Is it blue?" } });
  const shape = { shape: "colleague", needsPlan: true, reversibility: "2B" } as const;
  const id = await world.create({ criteria: [TESTS, ui], policy, ...shape });
  return { world, id };
}

async function play(
  onStep: OnStep,
  standby = false,
): Promise<{ readonly world: GoalWorld; readonly id: LoopId; readonly steps: number }> {
  const { world, id } = await scene();
  let steps = 0;
  world.onStep = (_, process) => {
    steps += 1;
    onStep(steps, world, process);
  };
  await world.spawn();
  if (standby) await world.spawn();
  await world.until(() => world.goal(id).status !== "active", 120 * MINUTE);
  world.onStep = () => {};
  await world.clock.advance(20 * MINUTE);
  return { world, id, steps };
}

function check(world: GoalWorld, id: LoopId): void {
  const goal = world.goal(id);
  expect(goal.end?.status, JSON.stringify(goal.pause ?? goal.gate ?? goal.job)).toBe("done");
  const tree = world.snapshot().hash;
  expect(goal.tree).toBe(tree);
  for (const { name } of goal.criteria) expect(goal.evidence[name]).toMatchObject({ met: true, tree });
  checkTurns(world, id);
  checkLines(world, id);
}

/** Every turn that was started has one receipt, and only those; one ran at a time, and none is left. */
function checkTurns(world: GoalWorld, id: LoopId): void {
  const goal = world.goal(id);
  expect(goal).toMatchObject({ job: null, notice: null });
  const { deliveries, mostAtOnce, running } = world.agent;
  expect(new Set(deliveries.map(({ fireId }) => fireId)).size, "a turn was started twice").toBe(
    deliveries.length,
  );
  expect([mostAtOnce, running], "one turn at a time, and none left").toEqual([1, 0]);
  const turns = deliveries.filter(({ kind }) => kind !== "judge").map(({ fireId }) => fireId);
  expect(goal.receipts.map(({ jobId }) => jobId as string).sort()).toEqual([...turns].sort());
  const told = goal.receipts.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  expect(told).toBeCloseTo(goal.spent.costUsd);
  expect(goal.spent.costUsd).toBeLessThanOrEqual(COST * deliveries.length);
}

/** Line by line: nothing begins while it stands still, and what was spent never falls. */
function checkLines(world: GoalWorld, id: LoopId): void {
  let before: Goal | null = null;
  for (const { loop, effects } of world.journal.accepted()) {
    if (loop.kind !== "goal" || loop.id !== id) continue;
    if (effects.some(({ kind }) => kind === "work")) expect(loop.status).toBe("active");
    for (const key of ["costUsd", "tokens", "timeMs", "unpriced"] as const)
      expect(loop.spent[key], key).toBeGreaterThanOrEqual(before?.spent[key] ?? 0);
    before = loop;
  }
}

function gates(world: GoalWorld, id: LoopId): string[] {
  const asked = new Map<string, string>();
  for (const { loop } of world.journal.accepted()) {
    if (loop.kind !== "goal" || loop.id !== id || loop.gate === null) continue;
    asked.set(`${loop.gate.kind} ${loop.gate.askedAt}`, loop.gate.kind);
  }
  return [...asked.values()];
}

/** All that a crash must not change. Which files a turn changed is not known to who did not see it begin. */
function essence(world: GoalWorld, id: LoopId): unknown {
  const { iteration, steps, breakers, end, receipts, exitSignal, accepted, warned } = world.goal(id);
  const { patterns: _, ...counts } = breakers;
  return {
    iteration,
    steps,
    counts,
    exitSignal,
    accepted,
    warned,
    end: { ...end, at: null },
    turns: receipts.map(({ kind, step, charged, claimedExit }) => ({ kind, step, charged, claimedExit })),
    gates: gates(world, id),
    files: [...world.files],
  };
}
