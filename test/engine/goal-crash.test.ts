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
import type { Goal } from "../../src/core/goal/goal.ts";
import type { LoopId } from "../../src/core/loop.ts";
import { POLICY } from "../support/goal-play.ts";
import { COST, type GoalProcess, GoalWorld, statusBlock, TESTS } from "../support/goal-world.ts";
import { aCriterion, START } from "../support/goals.ts";

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
      { numRuns: isLong ? 400 : 25 },
    );
  });
});

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
async function play(
  onStep: OnStep,
  standby = false,
): Promise<{ world: GoalWorld; id: LoopId; steps: number }> {
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
  let steps = 0;
  world.onStep = (_, process) => {
    steps += 1;
    onStep(steps, world, process);
  };
  const policy = { ...POLICY, gateTimeoutMs: MINUTE, gateDefault: "approve" } as const;
  const ui = aCriterion("ui", { check: { kind: "judge", question: "Is it blue?" } });
  const shape = { shape: "colleague", needsPlan: true, reversibility: "2B" } as const;
  const id = await world.create({ criteria: [TESTS, ui], policy, ...shape });
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
  expect(goal).toMatchObject({ job: null, notice: null });
  const { deliveries, mostAtOnce, running } = world.agent;
  expect(new Set(deliveries.map(({ fireId }) => fireId)).size, "a turn was started twice").toBe(
    deliveries.length,
  );
  expect([mostAtOnce, running], "one turn at a time, and none left").toEqual([1, 0]);
  const tree = world.snapshot().hash;
  expect(goal.tree).toBe(tree);
  for (const { name } of goal.criteria) expect(goal.evidence[name]).toMatchObject({ met: true, tree });
  // Every turn that was started has one receipt, and only those.
  const turns = deliveries.filter(({ kind }) => kind !== "judge").map(({ fireId }) => fireId);
  expect(goal.receipts.map(({ jobId }) => jobId as string).sort()).toEqual([...turns].sort());
  const told = goal.receipts.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  expect(told).toBeCloseTo(goal.spent.costUsd);
  expect(goal.spent.costUsd).toBeLessThanOrEqual(COST * deliveries.length);
  checkLines(world, id);
}

/** Line by line: nothing begins while it stands still, and what was spent never falls. */
function checkLines(world: GoalWorld, id: LoopId): void {
  let before: Goal | null = null;
  for (const { loop, effects } of world.journal.accepted()) {
    if (loop.kind !== "goal" || loop.id !== id) continue;
    if (effects.some(({ kind }) => kind === "work")) expect(loop.status).toBe("active");
    expect(loop.spent.costUsd).toBeGreaterThanOrEqual(before?.spent.costUsd ?? 0);
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
    ...{ iteration, steps, counts, exitSignal, accepted, warned },
    end: { ...end, at: null },
    turns: receipts.map(({ kind, step, charged, claimedExit }) => ({ kind, step, charged, claimedExit })),
    gates: gates(world, id),
    files: [...world.files],
  };
}
