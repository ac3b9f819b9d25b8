/**
 * A crash after every append and every effect. Recovered by a process that comes later, by one that stood by, or
 * survived as a zombie that goes on long after it lost the lease; then, on to the same moment, invariants 1 to 3:
 *
 * 1. no fire was delivered twice, and every slot up to now was delivered or has a line that says why not;
 * 2. one turn at a time, whoever started it;
 * 3. the state is one that a run without a crash could have had. Such a run has, whenever it is idle, nothing in
 *    flight, the same tasks left, and every cursor on the last slot that was due.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LoopId, Task } from "../../src/core/loop.ts";
import { slotRun, wakeAt } from "../../src/core/task/slots.ts";
import { settled } from "../../src/testing.ts";
import { checkAccounts, checkLines } from "../support/accounts.ts";
import { FAILED, type MemoryProcess, OK, START, World } from "../support/memory-ports.ts";
import { asTask, asTasks } from "../support/only-tasks.ts";
import { cron, DAY, every, HOUR, MINUTE, once, paced, SECOND } from "../support/tasks.ts";

const END = START + 47 * MINUTE;

describe("H1 a crash after every step loses nothing, doubles nothing, leaves nothing stuck", () => {
  test("the scenario itself, without a crash", async () => {
    const { world, steps } = await play(() => {});
    expect(steps).toBeGreaterThan(100);
    expect(world.notes.length).toBeGreaterThan(0);
    check(world);
    const kinds = new Set(world.agent.deliveries.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(["final", "initial", "manual", "scheduled"]);
  });

  test.each([
    ["a new process comes 3 s later", recoverLater(3 * SECOND)],
    ["a new process comes 11 minutes later", recoverLater(11 * MINUTE)],
    ["a process stands by (A11)", recoverByStandby()],
    ["the dead one is a zombie: frozen, and thawed after the takeover", recoverFromZombie()],
  ])("after every append and every effect: %s", async (_, crash) => {
    const free = (await play(() => {})).world;
    let crashes = 0;
    const stride = crash.stride ?? 1;
    for (let k = 1; ; k += stride) {
      let crashed = false;
      const { world } = await play((count, world, process) => {
        if (count !== k || crashed) return;
        crashed = true;
        crash(world, process);
      }, crash.standby);
      try {
        check(world);
        compare(world, free);
      } catch (error) {
        throw new Error(`crash after step ${k}: ${(error as Error).message}`, { cause: error });
      }
      if (!crashed) break;
      crashes += 1;
    }
    expect(crashes * stride).toBeGreaterThan(100);
  });

  test("after a random step, and again while recovering", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 6 }),
        async (gaps) => {
          const left = [...gaps];
          let next = left.shift() ?? 0;
          let since = 0;
          const { world } = await play((_, world, process) => {
            since += 1;
            if (since !== next) return;
            since = 0;
            next = left.shift() ?? 0;
            recoverLater(3 * SECOND)(world, process);
          });
          check(world);
        },
      ),
      { numRuns: 60 },
    );
  });
});

type Crash = ((world: World, process: MemoryProcess) => void) & {
  readonly standby?: boolean;
  /** Of the steps, in the short form, only every n-th. */
  readonly stride?: number;
};

function recoverLater(ms: number): Crash {
  return (world, process) => {
    process.kill();
    world.clock.wake(world.clock.now() + ms, () => void world.spawn());
  };
}

function recoverByStandby(): Crash {
  return Object.assign((_: World, process: MemoryProcess) => process.kill(), { standby: true });
}

function recoverFromZombie(): Crash {
  const crash = (world: World, process: MemoryProcess) => {
    process.freeze();
    world.clock.wake(world.clock.now() + 9 * MINUTE, () => process.thaw());
  };
  return Object.assign(crash, { standby: true, stride: process.env.LOOP_TEST_LONG ? 1 : 4 });
}

/** Tasks of every kind, with failures, alerts, a delete and a run by hand; steps count while `END` is ahead. */
async function play(
  onStep: (count: number, world: World, process: MemoryProcess) => void,
  standby = false,
): Promise<{ world: World; steps: number }> {
  const world = new World();
  world.agent.script = (turn) => {
    if (turn.text.includes("fails")) return { ms: 5 * SECOND, end: FAILED };
    if (!turn.text.includes("self-paced")) return { ms: 40 * SECOND, end: OK };
    const answer = `all well\n{"wakeup":{"delaySeconds":600,"reason":"later"}}`;
    return { ms: 20 * SECOND, end: { ...OK, answer } };
  };
  let steps = 0;
  world.onStep = (_, process) => {
    steps += 1;
    onStep(steps, world, process);
  };
  await world.create(cron("*/5 * * * *"), { runNow: true, jitter: true });
  await world.create(every(7 * MINUTE), { prompt: "fails", alertAfter: 2 });
  await world.create(once(START + 13 * MINUTE));
  await world.create(cron("*/10 * * * *"), { expiresAt: START + 25 * MINUTE });
  await world.create(paced(), { runNow: true });
  await world.create(cron("*/10 * * * *"), { missed: "all" });
  const doomed = await world.create(cron("*/4 * * * *"));
  await world.spawn();
  if (standby) await world.spawn();
  await world.clock.advanceTo(START + 12 * MINUTE + 10 * SECOND);
  await world.request(doomed, { type: "task.deleted", reason: "deleted by a person" });
  await world.request("00000002" as LoopId, { type: "task.run-requested" });
  await world.clock.advanceTo(END);
  world.onStep = () => {};
  await world.clock.advance(10 * MINUTE);
  await idle(world);
  return { world, steps };
}

async function idle(world: World): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const now = world.clock.now();
    const waiting = asTasks(world.journal.state().loops.values()).some(
      (loop) => (wakeAt(loop) ?? now + 1) <= now,
    );
    if (world.agent.running === 0 && !waiting) return;
    await world.clock.advance(7 * SECOND);
  }
}

function check(world: World): void {
  const { deliveries } = world.agent;
  expect(new Set(deliveries.map(({ fireId }) => fireId)).size, "a fire was delivered twice").toBe(
    deliveries.length,
  );
  expect(world.agent.mostAtOnce, "two turns at once").toBe(1);
  expect(world.agent.running, "a turn that nobody waits for").toBe(0);
  checkHistory(world);
  const outcomes = world.outcomes();
  const created = world.journal.accepted().filter(({ event }) => event.type === "task.created");
  for (const loop of asTasks(created.map((line) => line.loop))) {
    const end = world.journal
      .accepted()
      .find(({ id, loop: after }) => id === loop.id && after.status === "ended");
    const until = Math.min(end?.at ?? world.clock.now(), loop.expiresAt ?? Number.POSITIVE_INFINITY);
    const slots = slotRun(loop.cadence, loop.createdAt, until - loop.jitterMs - MINUTE)?.listed ?? [];
    for (const slot of loop.cadence.kind === "paced" ? [] : slots) {
      const lines = outcomes.filter((line) => line.taskId === loop.id && line.slot === slot);
      expect(lines.length, `lines of slot ${slot} of ${loop.id}`).toBe(1);
      if (lines[0]?.outcome !== "ok") expect(lines[0]?.reason).toBeTruthy();
    }
  }
}

/** What the journal says, line by line. */
function checkHistory(world: World): void {
  const outcomes = world.outcomes();
  checkLines(outcomes);
  const settledIds = new Set(outcomes.map(({ fireId }) => fireId as string));
  const open = world.agent.deliveries.filter(({ fireId }) => !settledIds.has(fireId));
  expect(open, "delivered and never recorded").toEqual([]);
  const before = new Map<string, Task>();
  for (const { id, event, loop: after, outcomes: lines, at } of world.journal.accepted()) {
    const loop = asTask(after);
    const known = before.get(id);
    if (known !== undefined) checkAccounts(known, event, { loop, outcomes: lines }, at);
    before.set(id, loop);
  }
  const noticed = JSON.stringify(world.notes);
  for (const { effects } of world.journal.accepted()) {
    for (const effect of effects) if (effect.kind === "notify") expect(noticed).toContain(effect.title);
  }
  for (const loop of asTasks(world.journal.state().loops.values())) {
    expect(loop.fire, "stuck in flight").toBeNull();
    expect(loop.notice, "a notice that nobody was given").toBeNull();
    if (loop.status === "active") expect(wakeAt(loop)).toBeGreaterThan(world.clock.now() - MINUTE);
  }
}

/** The same tasks are left, each with its cursor where it belongs: a crash may delay, it must not lose or invent. */
function compare(world: World, free: World): void {
  const left = (of: World) =>
    asTasks(of.journal.state().loops.values()).filter(({ status }) => status !== "missed");
  expect(left(world).map(({ id, status }) => [id, status])).toEqual(
    left(free).map(({ id, status }) => [id, status]),
  );
  for (const { id, cadence, cursorAt, createdAt, jitterMs, era } of left(world)) {
    expect(era).toBe(0);
    if (cadence.kind === "paced") continue;
    const last = slotRun(cadence, createdAt, world.clock.now() - jitterMs)?.last;
    expect(cursorAt, `cursor of ${id}`).toBe(last);
  }
}

type Action =
  | { readonly do: "wait" | "jump"; readonly ms: number }
  | { readonly do: "kill" | "freeze" | "thaw" | "spawn" | "stop"; readonly which: number }
  | { readonly do: "create"; readonly kind: number }
  | { readonly do: "delete" | "pause" | "resume" | "run"; readonly which: number }
  | { readonly do: "disk"; readonly failure: "lost" | "landed"; readonly writes: number };

const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(6 * MINUTE) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("jump" as const),
      ms: fc.oneof(fc.integer({ min: -4 * MINUTE, max: 2 * HOUR }), fc.integer({ min: -DAY, max: DAY })),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "kill" as const,
        "freeze" as const,
        "thaw" as const,
        "spawn" as const,
        "stop" as const,
      ),
      which: fc.nat(3),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("create" as const), kind: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("delete" as const, "pause" as const, "resume" as const, "run" as const),
      which: fc.nat(3),
    }),
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

test("H1 A11 two engines, crashes, zombies, a failing disk, people and clock jumps in any order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { maxLength: 30 }), fc.nat(90), async (script, seconds) => {
      const world = new World();
      world.agent.script = () => ({ ms: seconds * SECOND, end: seconds % 3 === 0 ? FAILED : OK });
      await world.spawn();
      await world.spawn();
      for (const action of script) await act(world, action);
      world.journal.fail = () => null;
      for (const process of world.processes.values()) process.thaw();
      await world.clock.advance(MINUTE);
      for (const process of world.processes.values()) if (process.alive) await stopped(world, process);
      for (const { id, status } of [...world.journal.state().loops.values()]) {
        if (status === "active") await world.request(id, { type: "task.paused" });
      }
      await world.spawn();
      await world.clock.advance(10 * MINUTE);
      const { deliveries } = world.agent;
      expect(new Set(deliveries.map(({ fireId }) => fireId)).size).toBe(deliveries.length);
      expect(world.agent.mostAtOnce).toBeLessThanOrEqual(1);
      checkHistory(world);
    }),
    { numRuns: process.env.LOOP_TEST_LONG ? 2_000 : 150 },
  );
});

async function stopped(world: World, process: MemoryProcess): Promise<void> {
  const done = process.engine.stop("the test is over");
  await world.clock.advance(3 * SECOND);
  await done;
}

async function act(world: World, action: Action): Promise<void> {
  const processes = [...world.processes.values()];
  const loops = [...world.journal.state().loops.values()];
  switch (action.do) {
    case "wait":
      return world.clock.advance(action.ms);
    case "jump":
      return world.clock.jump(action.ms);
    case "kill":
      return processes.at(-1 - (action.which % 2))?.kill();
    case "freeze":
      return processes.at(-1 - (action.which % 2))?.freeze();
    case "thaw":
      for (const process of processes) process.thaw();
      return settled();
    case "stop":
      void processes.at(-1 - (action.which % 2))?.engine.stop("stopped by a person");
      return settled();
    case "spawn":
      await world.spawn();
      return;
    case "create": {
      const now = world.clock.now();
      const cadence = [
        cron("*/5 * * * *"),
        every(7 * MINUTE, now),
        once(now + 11 * MINUTE),
        cron("*/2 * * * *"),
        paced(now + 90 * SECOND),
        cron("*/15 * * * *"),
      ][action.kind];
      const missed = action.kind === 3 ? "all" : action.kind === 5 ? "skip" : null;
      const expiresAt = action.kind === 3 ? now + HOUR : null;
      if (cadence !== undefined)
        await quietly(() =>
          world.create(cadence, { missed, expiresAt, runNow: action.kind < 2, jitter: true }),
        );
      return settled();
    }
    case "disk": {
      let left = action.writes;
      world.journal.fail = () => (left-- > 0 ? action.failure : null);
      return;
    }
    default: {
      const id = loops[action.which]?.id;
      const type = ({ delete: "task.deleted", pause: "task.paused", resume: "task.resumed" } as const)[
        action.do as "delete"
      ];
      const event =
        type === "task.deleted"
          ? ({ type, reason: "deleted by a person" } as const)
          : ({ type: type ?? "task.run-requested" } as const);
      if (id !== undefined) await quietly(() => world.request(id, event));
      return settled();
    }
  }
}

/** A person whose disk is full gets an error and goes away. */
async function quietly(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    expect((error as Error).message).toMatch(/no space/);
  }
}
