import { describe, expect, test } from "vitest";
import type { LoopEvent } from "../../../src/core/event.ts";
import type { Task, Wakeup } from "../../../src/core/loop.ts";
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
  SECOND,
  START,
  task,
  wakeIn,
} from "../../support/tasks.ts";

const T = (minutes: number): number => START + minutes * MINUTE;

/** A turn of a self-paced task that ends at `now`, having asked for `wakeup`. */
function turn(loop: Task, now: number, wakeup: Wakeup | null, outcome: "ok" | "failed" = "ok"): Task {
  const fireId = loop.fire?.id as never;
  const asked = wakeup === null ? loop : changed(loop, { type: "fire.wakeup", fireId, wakeup }, now).loop;
  return finish(asked, now, outcome).loop;
}
const begun = (): Task => fires(task(paced(), { runNow: true }), START).loop;

describe("A17 self-paced", () => {
  test.each([
    [5 * MINUTE, 5 * MINUTE],
    [SECOND, MINUTE],
    [-1, MINUTE],
    [5 * HOUR, HOUR],
  ])("asked for %i ms: is woken %i ms after the end of the turn", (asked, slept) => {
    expect(wakeAt(turn(begun(), T(2), wakeIn(asked)))).toBe(T(2) + slept);
  });

  test("the agent stops it, or ends it by saying nothing", () => {
    expect(turn(begun(), T(2), { kind: "stop", reason: "merged" })).toMatchObject({
      status: "ended",
      statusReason: "stopped by the agent: merged",
    });
    expect(turn(begun(), T(2), null)).toMatchObject({ status: "ended" });
  });

  test("a turn that failed said nothing, which is no wish to end: it is tried again, later each time", () => {
    let loop = begun();
    const waits: number[] = [];
    for (let n = 0; n < 9; n++) {
      const now = (loop.fire?.slot ?? START) + SECOND;
      const failed = turn(loop, now, null, "failed");
      const at = wakeAt(failed) ?? 0;
      waits.push((at - now) / MINUTE);
      loop = fires(failed, at).loop;
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  test("a run by hand leaves the wake-up that is still to come", () => {
    const waiting = turn(begun(), T(2), wakeIn(30 * MINUTE));
    const running = fires(changed(waiting, { type: "task.run-requested" }, T(5)).loop, T(5)).loop;
    expect(wakeAt(turn(running, T(6), null))).toBe(T(32));
    expect(wakeAt(turn(running, T(6), wakeIn(5 * MINUTE)))).toBe(T(11));
  });

  test("H1 a clock that was set back a little does not put the wake-up behind the cursor", () => {
    const woken = fires(turn(begun(), T(2), wakeIn(10 * MINUTE)), T(12)).loop;
    const loop = turn(woken, T(9), wakeIn(MINUTE));
    expect(fires(loop, T(13)).loop.fire?.slot).toBeGreaterThan(T(12));
  });

  test("A7 a wake-up behind the expiry comes at the expiry, as the final run", () => {
    const loop = fires(task(paced(), { runNow: true, expiresAt: T(20) }), START).loop;
    const resting = turn(loop, T(2), wakeIn(HOUR));
    expect(wakeAt(resting)).toBe(T(20));
    const last = fires(resting, T(20)).loop;
    expect(last.fire?.kind).toBe("final");
    expect(turn(last, T(21), wakeIn(HOUR))).toMatchObject({ status: "ended" });
  });
});

describe("A18 the dead-man switch", () => {
  const minutely = (alertAfter: number | null, extra = {}) =>
    task(cron("* * * * *"), { alertAfter, ...extra });
  const play = (first: Task, outcomes: readonly ("ok" | "failed")[]): number[] => {
    let loop = first;
    return outcomes.map((outcome, n) => {
      const settled = finish(fires(loop, T(n + 1)).loop, T(n + 1) + SECOND, outcome);
      loop = settled.loop;
      return settled.effects.filter(({ kind }) => kind === "notify").length;
    });
  };

  test("one alert when the streak reaches the limit, one per streak", () => {
    const [x, o] = ["failed", "ok"] as const;
    expect(play(minutely(2), [x, x, x, x, o, x, x])).toEqual([0, 1, 0, 0, 0, 0, 1]);
    expect(play(minutely(1), [x, x, o, x])).toEqual([1, 0, 0, 1]);
    expect(play(minutely(null), [x, x, x, x])).toEqual([0, 0, 0, 0]);
  });

  test("silent slots count: nothing ran for five minutes", () => {
    const { effects, loop } = fires(minutely(3), T(5), T(5));
    expect(effects.map(({ kind }) => kind)).toEqual(["notify", "deliver"]);
    expect(loop.streak).toBe(4);
    expect(finish(loop, T(6), "failed").effects).toEqual([]);
    expect(finish(loop, T(6)).loop.streak).toBe(0);
  });

  test("slots that --missed skip drops count too", () => {
    const decision = due(minutely(3, { missed: "skip", graceMs: 0 }), T(5) + SECOND, T(5) + SECOND);
    expect(decision).toMatchObject({ effects: [{ kind: "notify" }], loop: { streak: 5, fire: null } });
  });

  test("a task that a person deletes while it runs needs no look", () => {
    const running = fires(minutely(1), T(1)).loop;
    const deleted = changed(
      running,
      { type: "task.deleted", reason: "deleted by a person" },
      T(1) + SECOND,
    ).loop;
    const event: LoopEvent = {
      type: "fire.interrupted",
      fireId: running.fire?.id as never,
      reason: "deleted",
    };
    expect(changed(deleted, event, T(1) + SECOND).effects).toEqual([]);
  });
});

test("a line says what became of the fire: when it was due, started and finished, and why", () => {
  const running = fires({ ...task(cron("*/5 * * * *")), jitterMs: 9 }, T(5) + 20).loop;
  const fireId = running.fire?.id as never;
  const started = changed(running, { type: "fire.started", fireId, process: null }, T(5) + 30).loop;
  expect(finish(started, T(6), "failed").outcomes).toEqual([
    {
      fireId,
      taskId: "a1b2c3d4",
      slot: T(5),
      dueAt: T(5) + 9,
      outcome: "failed",
      kind: "scheduled",
      reason: "exit 1",
      startedAt: T(5) + 30,
      finishedAt: T(6),
    },
  ]);
});

test("a one-shot is over when it has fired, whatever came of it", () => {
  const running = fires(task(once(T(5))), T(5)).loop;
  expect(finish(running, T(6), "failed").loop).toMatchObject({ status: "ended", statusReason: "fired once" });
});
