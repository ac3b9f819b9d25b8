import { describe, expect, test } from "vitest";
import { decide } from "../../../src/core/decide.ts";
import type { LoopEvent, TaskEdit } from "../../../src/core/event.ts";
import type { LoopId, Task } from "../../../src/core/loop.ts";
import { jitterFor } from "../../../src/core/task/jitter.ts";
import { wakeAt } from "../../../src/core/task/slots.ts";
import {
  changed,
  cron,
  due,
  finish,
  fires,
  HOUR,
  MINUTE,
  once,
  paced,
  START,
  task,
  wakeIn,
} from "../../support/tasks.ts";

const PAUSE: LoopEvent = { type: "task.paused" };
const RESUME: LoopEvent = { type: "task.resumed" };
const RUN: LoopEvent = { type: "task.run-requested" };
const DELETE: LoopEvent = { type: "task.deleted", reason: "deleted by a person" };
const edit = (fields: TaskEdit): LoopEvent => ({ type: "task.edited", edit: fields });
const withdraw = (loop: Task): LoopEvent => ({
  type: "fire.withdrawn",
  fireId: loop.fire?.id ?? ("none" as never),
  reason: "the runner ended before it was delivered",
});
const T = (minutes: number): number => START + minutes * MINUTE;
const hourly = cron("0 * * * *");
const fives = cron("*/5 * * * *");

describe("create", () => {
  test("A10 the policy for missed slots: a one-shot asks, others fire once, a given one stands", () => {
    expect(task(once(T(5))).missed).toBe("ask");
    expect(task(fives).missed).toBe("once");
    expect(task(once(T(5)), { missed: "skip" }).missed).toBe("skip");
  });

  test("A6 jitter comes from the id, and --no-jitter turns it off", () => {
    expect(task(hourly, { jitter: true }).jitterMs).toBe(jitterFor("a1b2c3d4" as LoopId, hourly, START));
    expect(task(hourly, { jitter: true }).jitterMs).toBeGreaterThan(0);
    expect(task(hourly, { jitter: false }).jitterMs).toBe(0);
  });
});

describe("A3 edit", () => {
  test("a new schedule starts from now, and what the old one left due is in the history", () => {
    const { loop, outcomes, effects } = changed(task(fives), edit({ cadence: hourly }), T(12));
    expect(outcomes.map(({ slot, reason }) => [slot, reason])).toEqual([
      [T(5), "the schedule was changed before it ran"],
      [T(10), "the schedule was changed before it ran"],
    ]);
    expect(effects).toEqual([]);
    expect(wakeAt(loop)).toBe(T(60));
  });

  test("also a slot that jitter still held back", () => {
    const loop = { ...task(hourly), jitterMs: 5 * MINUTE };
    const { outcomes } = changed(loop, edit({ cadence: fives }), T(62));
    expect(outcomes.map(({ slot }) => slot)).toEqual([T(60)]);
  });

  test("a run that waits still runs, once", () => {
    const { loop, outcomes } = changed(task(fives, { runNow: true }), edit({ cadence: hourly }), T(1));
    expect(outcomes).toEqual([]);
    expect(fires(loop, T(1)).loop.fire?.kind).toBe("initial");
  });

  test("A6 jitter is measured anew for the new schedule, and stays off when it was off", () => {
    const daily = task(cron("0 9 * * *"), { jitter: true, id: "ffffffff" as LoopId });
    expect(changed(daily, edit({ cadence: fives }), T(1)).loop.jitterMs).toBeLessThanOrEqual(30_000);
    expect(changed(task(hourly), edit({ cadence: fives }), T(1)).loop.jitterMs).toBe(0);
    expect(changed(daily, edit({ jitter: false }), T(1)).loop.jitterMs).toBe(0);
  });

  test("another prompt changes nothing but the prompt", () => {
    const loop = task(fives);
    expect(changed(loop, edit({ prompt: "new" }), T(12))).toEqual({
      kind: "change",
      loop: { ...loop, prompt: "new", version: 2 },
      effects: [],
      outcomes: [],
    });
  });

  test("a time or an expiry in the past is refused with a sentence", () => {
    expect(decide(task(fives), edit({ expiresAt: T(5) }), T(5))).toMatchObject({ kind: "refused" });
    expect(decide(task(fives), edit({ cadence: once(T(5)) }), T(5))).toMatchObject({ kind: "refused" });
    expect(decide(task(fives), edit({ cadence: once(T(6)) }), T(5))).toMatchObject({ kind: "change" });
  });

  test("a missed one-shot that gets a new time is active again", () => {
    const missed = changed(task(once(T(5))), { type: "task.due", token: 1, awakeSince: T(60) }, T(60)).loop;
    expect(missed.status).toBe("missed");
    const again = changed(missed, edit({ cadence: once(T(90)) }), T(61)).loop;
    expect(fires(again, T(90)).loop.fire?.slot).toBe(T(90));
  });

  test("A7 an expiry that is moved while the final run runs keeps the task", () => {
    const last = fires(task(hourly, { expiresAt: T(90) }), T(60)).loop;
    expect(last.fire?.kind).toBe("final");
    const longer = changed(last, edit({ expiresAt: T(300) }), T(61)).loop;
    expect(finish(longer, T(62)).loop.status).toBe("active");
    expect(finish(changed(last, edit({ prompt: "new" }), T(61)).loop, T(62)).loop.status).toBe("ended");
  });

  test("a new kind of schedule that comes while the old one fires is not ended by that fire", () => {
    const running = fires(task(fives), T(5)).loop;
    for (const cadence of [once(T(60)), paced(T(60)), paced(null), hourly]) {
      const after = finish(changed(running, edit({ cadence }), T(6)).loop, T(7)).loop;
      expect(after.status).toBe("active");
      expect(wakeAt(after)).not.toBeNull();
    }
  });

  test("H1 the clock was set back a little: the new one-shot is not taken for a slot that is behind us", () => {
    const done = finish(fires(task(fives), T(5)).loop, T(5)).loop;
    const { loop } = changed(done, edit({ cadence: once(T(4)) }), T(2));
    expect(fires(loop, T(4)).loop.fire?.slot).toBe(T(4));
    const same = changed(done, edit({ cadence: once(T(5)) }), T(2)).loop;
    expect(fires(same, T(5)).loop.fire?.id).not.toBe(fires(task(fives), T(5)).loop.fire?.id);
  });
});

describe("A3 pause and resume", () => {
  test("what came due during the pause is skipped and said to be; twice is once", () => {
    const paused = changed(task(fives), PAUSE, T(1)).loop;
    expect(decide(paused, PAUSE, T(2))).toEqual({ kind: "none" });
    expect(due(paused, T(12))).toEqual({ kind: "none" });
    const { loop, outcomes } = changed(paused, RESUME, T(12));
    expect(outcomes.map(({ slot, reason }) => [slot, reason])).toEqual([
      [T(5), "the task was paused"],
      [T(10), "the task was paused"],
    ]);
    expect(decide(loop, RESUME, T(13))).toEqual({ kind: "none" });
    expect(fires(loop, T(15)).loop.fire?.slot).toBe(T(15));
  });

  test("a waiting run that is dropped with the pause does not take a slot with it that is held back by jitter", () => {
    const loop = { ...task(hourly), jitterMs: 5 * MINUTE };
    const paused = changed(changed(loop, RUN, T(61)).loop, PAUSE, T(61)).loop;
    const resumed = changed(paused, RESUME, T(62));
    expect(resumed.outcomes.map(({ kind }) => kind)).toEqual(["manual"]);
    expect(fires(resumed.loop, T(65)).loop.fire?.slot).toBe(T(60));
  });

  test("a one-shot whose time went by is missed; one whose time is ahead is not", () => {
    const paused = (loop: Task) => changed(loop, PAUSE, T(1)).loop;
    expect(changed(paused(task(once(T(5)))), RESUME, T(6)).loop.status).toBe("missed");
    expect(changed(paused(task(once(T(5)))), RESUME, T(4)).loop.status).toBe("active");
    const asked = changed(task(once(T(5))), RUN, START).loop;
    expect(changed(paused(asked), RESUME, T(2)).loop.status).toBe("active");
  });

  test("a missed one-shot stays missed over a pause", () => {
    const missed = changed(task(once(T(5))), { type: "task.due", token: 1, awakeSince: T(60) }, T(60)).loop;
    const back = changed(changed(missed, PAUSE, T(61)).loop, RESUME, T(62));
    expect(back.loop.status).toBe("missed");
    expect(back.outcomes).toEqual([]);
  });

  test("A17 a self-paced task whose wake-up went by goes on at once", () => {
    const paused = changed(task(paced(T(5))), PAUSE, T(1)).loop;
    const resumed = changed(paused, RESUME, T(30)).loop;
    expect(fires(resumed, T(30) + 1).loop.fire?.slot).toBe(T(30) + 1);
  });

  test("the fire that runs is let finish", () => {
    const running = fires(task(fives), T(5)).loop;
    const { loop, effects } = changed(running, PAUSE, T(6));
    expect(effects).toEqual([]);
    expect(finish(loop, T(7)).loop).toMatchObject({ status: "paused", fire: null });
  });
});

describe("A3 run", () => {
  test("is delivered at once, beside the slots", () => {
    const asked = changed(task(fives), RUN, T(1)).loop;
    expect(decide(asked, RUN, T(1))).toEqual({ kind: "none" });
    const { loop } = fires(asked, T(1));
    expect(loop.fire).toMatchObject({ kind: "manual", slot: T(1) });
    expect(fires(finish(loop, T(2)).loop, T(5)).loop.fire?.slot).toBe(T(5));
  });

  test("two runs at the same moment are two fires", () => {
    const ids = [0, 1].reduce<{ loop: Task; ids: string[] }>(
      ({ loop, ids }) => {
        const running = fires(changed(loop, RUN, T(1)).loop, T(1)).loop;
        return { loop: finish(running, T(1)).loop, ids: [...ids, running.fire?.id ?? ""] };
      },
      { loop: task(fives), ids: [] },
    ).ids;
    expect(new Set(ids).size).toBe(2);
  });

  test("is not needed while the initial run waits, and refused while paused, running or ended", () => {
    expect(decide(task(fives, { runNow: true }), RUN, T(1))).toEqual({ kind: "none" });
    expect(decide(changed(task(fives), PAUSE, T(1)).loop, RUN, T(1))).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("loop resume"),
    });
    expect(decide(fires(task(fives), T(5)).loop, RUN, T(6))).toMatchObject({ kind: "refused" });
    expect(decide(changed(task(fives), DELETE, T(1)).loop, RUN, T(1))).toMatchObject({ kind: "refused" });
  });

  test("a one-shot that is run by hand before its time keeps its time", () => {
    const running = fires(changed(task(once(T(60))), RUN, T(1)).loop, T(1)).loop;
    expect(finish(running, T(2)).loop.status).toBe("active");
  });
});

describe("A3 delete", () => {
  test("what was due and did not run has its line, also when a fire is in flight, which is stopped", () => {
    expect(changed(task(fives), DELETE, T(6)).outcomes).toMatchObject([{ slot: T(5), outcome: "skipped" }]);
    const running = fires(task(fives), T(5)).loop;
    const { loop, effects, outcomes } = changed(running, DELETE, T(11));
    expect(effects).toEqual([{ kind: "cancel", fireId: running.fire?.id, reason: "the task was deleted" }]);
    expect(outcomes.map(({ slot }) => slot)).toEqual([T(10)]);
    const end = changed(
      loop,
      { type: "fire.interrupted", fireId: running.fire?.id as never, reason: "x" },
      T(12),
    );
    expect(end.loop).toMatchObject({ status: "ended", fire: null });
    expect(decide(loop, DELETE, T(12))).toMatchObject({ kind: "refused" });
  });
});

describe("H1 a fire that was proved to have never started", () => {
  test("its slot is open again, under the same identity", () => {
    const running = fires(task(fives), T(5)).loop;
    const { loop, outcomes } = changed(running, withdraw(running), T(6));
    expect(outcomes).toEqual([]);
    expect(fires(loop, T(6)).loop.fire?.id).toBe(running.fire?.id);
  });

  test("so is a run by hand and the initial one", () => {
    for (const loop of [task(fives, { runNow: true }), changed(task(fives), RUN, START).loop]) {
      const running = fires(loop, START).loop;
      const open = changed(running, withdraw(running), T(1)).loop;
      expect(fires(open, T(1)).loop.fire).toMatchObject({ kind: running.fire?.kind, slot: START });
    }
  });

  test("when later slots are accounted for or the schedule is a new one, it has a line and does not come back", () => {
    const running = fires(task(fives), T(5)).loop;
    const resumed = changed(changed(running, PAUSE, T(6)).loop, RESUME, T(12)).loop;
    const edited = changed(running, edit({ cadence: cron("*/2 * * * *") }), T(12)).loop;
    for (const loop of [resumed, edited]) {
      const after = changed(loop, withdraw(loop), T(13));
      expect(after.outcomes).toMatchObject([{ slot: T(5), outcome: "skipped", fireId: running.fire?.id }]);
      expect(after.loop.lastFiredAt).toBeNull();
      expect(wakeAt(after.loop)).toBeGreaterThan(T(12));
    }
  });

  test("the initial run comes back in front of all slots, also when the clock was set back and the schedule changed", () => {
    const running = fires(task(hourly, { runNow: true }), START).loop;
    const edited = changed(running, edit({ cadence: cron("* * * * *"), missed: "all" }), T(-3)).loop;
    const open = changed(edited, withdraw(edited), T(-3)).loop;
    const { loop, outcomes } = fires(open, T(2));
    expect(loop.fire?.kind).toBe("initial");
    expect(outcomes).toEqual([]);
    expect(fires(finish(loop, T(2)).loop, T(2)).loop.fire?.slot).toBe(T(-2));
  });

  test("of a deleted task: it ends", () => {
    const deleted = changed(fires(task(fives), T(5)).loop, DELETE, T(6)).loop;
    expect(changed(deleted, withdraw(deleted), T(7))).toMatchObject({
      loop: { status: "ended", fire: null },
    });
  });
});

test("late news of a settled fire change nothing", () => {
  const running = fires(task(fives), T(5)).loop;
  const done = finish(running, T(6)).loop;
  const fireId = running.fire?.id as never;
  for (const event of [
    { type: "fire.started", fireId, process: null },
    { type: "fire.finished", fireId, outcome: "ok", reason: null },
    { type: "fire.interrupted", fireId, reason: "x" },
    { type: "fire.withdrawn", fireId, reason: "x" },
    { type: "fire.wakeup", fireId, wakeup: { kind: "stop", reason: "x" } },
    { type: "task.created" },
  ] satisfies LoopEvent[])
    expect(decide(done, event, T(7))).toEqual({ kind: "none" });
  const started = changed(
    running,
    { type: "fire.started", fireId, process: { pid: 3, start: "x" } },
    T(5) + 9,
  );
  expect(started.loop).toMatchObject({
    lastFiredAt: T(5) + 9,
    fire: { startedAt: T(5) + 9, process: { pid: 3 } },
  });
  expect(decide(started.loop, { type: "fire.started", fireId, process: null }, T(6))).toEqual({
    kind: "none",
  });
});

test("A17 only a self-paced task takes a wake-up", () => {
  const running = fires(task(fives), T(5)).loop;
  const wakeup = wakeIn(HOUR);
  const event: LoopEvent = { type: "fire.wakeup", fireId: running.fire?.id as never, wakeup };
  expect(decide(running, event, T(6))).toMatchObject({ kind: "refused" });
});

describe("A3 a task that its own agent ends", () => {
  test.each([
    ["on a schedule", () => fires(task(fives), T(5)).loop],
    ["run by hand", () => fires(changed(task(hourly), RUN, T(1)).loop, T(1)).loop],
    ["self-paced", () => fires(task(paced(), { runNow: true }), START).loop],
    ["a one-shot", () => fires(task(once(T(5))), T(5)).loop],
  ])("%s: the turn is let finish, and nothing follows it", (_, begin) => {
    const running = begin();
    const ending = changed(running, { type: "task.ending" }, T(6));
    expect(ending.loop).toMatchObject({ status: "active", fire: { id: running.fire?.id } });
    expect(ending.effects).toEqual([]);
    expect(finish(ending.loop, T(7)).loop.status).toBe("ended");
  });

  test("without a turn under way it means nothing", () => {
    expect(decide(task(fives), { type: "task.ending" }, T(1))).toEqual({ kind: "none" });
  });

  test("A17 what the agent asked for by command counts before what it printed", () => {
    const begun = fires(task(paced(), { runNow: true }), START).loop;
    const fireId = begun.fire?.id ?? ("none" as never);
    const stop = { kind: "stop", reason: "done" } as const;
    const asked = changed(begun, { type: "fire.wakeup", fireId, wakeup: stop }, T(1)).loop;
    const event = {
      type: "fire.finished",
      fireId,
      outcome: "ok",
      reason: null,
      wakeup: wakeIn(5 * MINUTE),
    } as const;
    expect(changed(asked, event, T(2)).loop.status).toBe("ended");
  });
});
