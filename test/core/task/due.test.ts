import { describe, expect, test } from "vitest";
import type { MissedPolicy } from "../../../src/core/loop.ts";
import {
  changed,
  cron,
  DAY,
  due,
  every,
  finish,
  fires,
  HOUR,
  MINUTE,
  minuteOf,
  once,
  paced,
  SECOND,
  START,
  task,
} from "../../support/tasks.ts";

const AT = (hhmm: string): number => START + Date.parse(`1970-01-01T${hhmm}:00Z`) - 10 * HOUR;

describe("A4 the initial run", () => {
  test("is delivered at once, for the moment of the creation, and leaves the slots alone", () => {
    const { loop, effects } = fires(task(cron("*/5 * * * *"), { runNow: true, jitter: true }), START + 3);
    expect(loop.fire).toMatchObject({ kind: "initial", slot: START, dueAt: START, token: 1 });
    expect(effects).toEqual([{ kind: "deliver", fireId: loop.fire?.id }]);
    expect(fires(finish(loop, START + MINUTE).loop, START + 6 * MINUTE).loop.fire?.slot).toBe(AT("10:05"));
  });

  test("a one-shot that is also run at once still has its own time ahead", () => {
    const first = fires(task(once(AT("11:00")), { runNow: true }), START);
    expect(first.loop.fire?.kind).toBe("initial");
    const rest = finish(first.loop, START + MINUTE).loop;
    expect(rest.status).toBe("active");
    expect(fires(rest, AT("11:00")).loop.fire?.kind).toBe("scheduled");
  });

  test("--no-now: nothing before the first slot", () => {
    expect(due(task(cron("*/5 * * * *")), START + MINUTE)).toEqual({ kind: "none" });
  });
});

describe("A5 one at a time", () => {
  test("a fire in flight blocks its next, and no task but an active one fires", () => {
    const running = fires(task(cron("*/5 * * * *")), AT("10:05")).loop;
    expect(due(running, AT("10:10"))).toEqual({ kind: "none" });
    for (const status of ["paused", "missed", "ended"] as const)
      expect(due({ ...task(cron("*/5 * * * *")), status }, AT("10:05"))).toEqual({ kind: "none" });
  });
});

describe("A10 slots that passed while nothing ran", () => {
  const lines = (missed: MissedPolicy, graceMs: number | null, now = AT("10:23"), awakeSince = now) => {
    const change = due(task(cron("*/5 * * * *"), { missed, graceMs }), now, awakeSince);
    if (change.kind !== "change") return null;
    return {
      fire: change.loop.fire && `${change.loop.fire.kind} ${minuteOf(change.loop.fire.slot)}`,
      lines: change.outcomes.map(({ outcome, slot }) => `${outcome} ${minuteOf(slot)}`),
      cursor: minuteOf(change.loop.cursorAt),
    };
  };
  const missed = (...slots: string[]) => slots.map((slot) => `missed ${slot}`);

  test.each<[MissedPolicy, number | null, ReturnType<typeof lines>]>([
    ["once", null, { fire: "late 10:20", lines: missed("10:05", "10:10", "10:15"), cursor: "10:20" }],
    ["all", null, { fire: "late 10:05", lines: [], cursor: "10:05" }],
    ["skip", null, { fire: null, lines: missed("10:05", "10:10", "10:15", "10:20"), cursor: "10:20" }],
    ["skip", 4 * MINUTE, { fire: "late 10:20", lines: missed("10:05", "10:10", "10:15"), cursor: "10:20" }],
    ["once", MINUTE, { fire: null, lines: missed("10:05", "10:10", "10:15", "10:20"), cursor: "10:20" }],
    ["all", 9 * MINUTE, { fire: "late 10:15", lines: missed("10:05", "10:10"), cursor: "10:15" }],
    ["all", MINUTE, { fire: null, lines: missed("10:05", "10:10", "10:15", "10:20"), cursor: "10:20" }],
  ])("--missed %s with grace %s: what fires, and a line for the rest", (policy, grace, expected) => {
    expect(lines(policy, grace)).toEqual(expected);
  });

  test.each<[number, string | null]>([
    [AT("10:06"), "scheduled 10:05"],
    [AT("10:06") + 1, null],
  ])("skip drops what is more than 60 s late and no less", (now, fire) => {
    expect(lines("skip", null, now, START)?.fire).toBe(fire);
  });

  test("all: one after the other, each once, until now", () => {
    let loop = task(cron("*/5 * * * *"), { missed: "all" });
    const fired: string[] = [];
    for (;;) {
      const decision = due(loop, AT("10:23"), AT("10:23"));
      if (decision.kind !== "change") break;
      fired.push(minuteOf(decision.loop.fire?.slot ?? 0));
      loop = finish(decision.loop, AT("10:23")).loop;
    }
    expect(fired).toEqual(["10:05", "10:10", "10:15", "10:20"]);
  });

  test("reasons: nothing was running; the previous fire was still running; another turn was; late beyond grace", () => {
    const reasons = (loop: Parameters<typeof due>[0], awakeSince: number) => {
      const decision = due(loop, AT("10:16"), awakeSince);
      return decision.kind === "change" ? decision.outcomes.map(({ reason }) => reason) : [];
    };
    const plain = task(cron("*/5 * * * *"));
    expect(reasons(plain, AT("10:07"))).toEqual([
      "nothing was running when it was due",
      "another turn was running, and a later slot came due",
    ]);
    expect(reasons({ ...plain, lastFinishedAt: AT("10:12") }, 0)).toEqual([
      "the previous fire was still running",
      "the previous fire was still running",
    ]);
    expect(reasons({ ...plain, graceMs: 5 * SECOND }, 0).at(-1)).toBe(
      "too late, beyond its grace: another turn was running",
    );
  });

  test("a month of minutes is one line with its count, up to the slot before the one that fires", () => {
    const now = START + 30 * DAY;
    const { loop, outcomes } = fires(task(cron("* * * * *"), { runNow: true }), now, now);
    expect(loop.fire?.slot).toBe(now);
    expect(outcomes.map(({ kind, slot, count, untilSlot }) => ({ kind, slot, count, untilSlot }))).toEqual([
      { kind: "initial", slot: START },
      { kind: "scheduled", slot: START + MINUTE, count: 30 * 24 * 60 - 1, untilSlot: now - MINUTE },
    ]);
  });

  test("all with a grace of a day after a month: a day is caught up, and the rest is one line", () => {
    const now = START + 30 * DAY;
    const { loop, outcomes } = fires(task(cron("* * * * *"), { missed: "all", graceMs: DAY }), now, now);
    expect(loop.fire?.slot).toBe(now - DAY);
    expect(outcomes).toMatchObject([
      { slot: START + MINUTE, count: 29 * 24 * 60 - 1, untilSlot: now - DAY - MINUTE },
    ]);
  });
});

describe("A10 one-shots", () => {
  const at = AT("11:00");

  test("late because a turn ran: fires", () => {
    expect(fires(task(once(at)), at + HOUR, START).loop.fire?.kind).toBe("scheduled");
  });

  test("nothing ran: waits for a person, is listed as missed, says so once", () => {
    const decision = due(task(once(at)), at + HOUR, at + HOUR);
    if (decision.kind !== "change") throw new Error("no change");
    expect(decision.loop).toMatchObject({ status: "missed", fire: null, cursorAt: at });
    expect(decision.effects).toMatchObject([
      { kind: "notify", notice: { kind: "missed", title: "One-shot task a1b2c3d4 was missed" } },
    ]);
    expect(decision.outcomes).toMatchObject([{ outcome: "missed", slot: at }]);
    expect(due(decision.loop, at + 2 * HOUR)).toEqual({ kind: "none" });
  });

  test.each<[MissedPolicy, number | null, string]>([
    ["once", null, "late"],
    ["all", null, "late"],
    ["once", MINUTE, "ended"],
    ["all", MINUTE, "ended"],
    ["once", 2 * HOUR, "scheduled"],
    ["skip", null, "ended"],
    ["ask", null, "missed"],
    ["ask", 2 * HOUR, "scheduled"],
  ])("--missed %s with grace %s after an hour: %s", (missed, graceMs, expected) => {
    const decision = due(task(once(at), { missed, graceMs, alertAfter: 1 }), at + HOUR, at + HOUR);
    if (decision.kind !== "change") throw new Error("no change");
    const { loop, effects, outcomes } = decision;
    expect(loop.fire?.kind ?? loop.status).toBe(expected);
    expect(outcomes).toHaveLength(loop.fire === null ? 1 : 0);
    if (expected === "ended") expect(effects).toMatchObject([{ kind: "notify" }]);
  });

  test("one that is written down after its time is late and not lost", () => {
    expect(fires(task(once(START - 1), { missed: "once" }), START, START).loop.fire?.slot).toBe(START - 1);
    const decision = due(task(once(START - HOUR)), START, START);
    expect(decision).toMatchObject({ kind: "change", loop: { status: "missed" } });
  });
});

describe("A7 expiry", () => {
  const expiring = (extra = {}) => task(cron("0 * * * *"), { expiresAt: AT("12:30"), ...extra });

  test("the last slot before the expiry is said to be final, and the task ends with it", () => {
    const one = fires(expiring(), AT("11:00")).loop;
    expect(one.fire?.kind).toBe("scheduled");
    const two = fires(finish(one, AT("11:01")).loop, AT("12:00")).loop;
    expect(two.fire?.kind).toBe("final");
    expect(finish(two, AT("12:01")).loop).toMatchObject({
      status: "ended",
      statusReason: "expired after its final run",
    });
  });

  test.each([{}, { missed: "skip" }, { graceMs: MINUTE }, { runNow: true }])(
    "expired while nothing ran: exactly one final run (%o)",
    (extra) => {
      const now = AT("12:30") + 5 * DAY;
      const { loop } = fires(expiring(extra), now, now);
      expect(loop.fire?.kind).toBe("final");
      const ended = finish(loop, now + MINUTE).loop;
      expect(ended.status).toBe("ended");
      expect(due(ended, now + DAY)).toEqual({ kind: "none" });
    },
  );

  test("with no slot before the expiry the final run is at the expiry", () => {
    const short = task(cron("0 9 * * *"), { expiresAt: AT("12:30") });
    expect(due(short, AT("12:30") - 1)).toEqual({ kind: "none" });
    expect(fires(short, AT("12:30")).loop.fire).toMatchObject({ kind: "final", slot: AT("12:30") });
  });

  test("jitter that holds the last slot back behind the expiry does not cost it", () => {
    const loop = { ...expiring({ expiresAt: AT("11:02") }), jitterMs: 5 * MINUTE };
    expect(due(loop, AT("11:03"))).toEqual({ kind: "none" });
    expect(fires(loop, AT("11:05")).loop.fire).toMatchObject({ kind: "final", slot: AT("11:00") });
  });

  test("a slot at the very moment of the expiry is the final run, not skipped and run", () => {
    const { loop, outcomes } = fires(
      expiring({ expiresAt: AT("12:00"), missed: "skip" }),
      AT("14:00"),
      AT("14:00"),
    );
    expect(loop.fire).toMatchObject({ kind: "final", slot: AT("12:00") });
    expect(outcomes.map(({ slot }) => minuteOf(slot))).toEqual(["11:00"]);
  });

  test("a paused task does not run, expired or not; resumed, it has its final run", () => {
    const paused = changed(expiring(), { type: "task.paused" }, START).loop;
    expect(due(paused, AT("13:00"))).toEqual({ kind: "none" });
    const resumed = changed(paused, { type: "task.resumed" }, AT("13:00"));
    expect(resumed.outcomes.map(({ reason }) => reason)).toEqual([
      "the task was paused",
      "the task was paused",
    ]);
    expect(fires(resumed.loop, AT("13:00")).loop.fire?.kind).toBe("final");
  });

  test("A18 an alert that is due with the final run is not lost", () => {
    const { effects } = fires(expiring({ missed: "skip", alertAfter: 2 }), AT("20:00"), AT("20:00"));
    expect(effects.map(({ kind }) => kind)).toEqual(["notify", "deliver"]);
  });

  test("a self-paced task: the wake-up at the expiry is final", () => {
    const { loop } = fires(task(paced(AT("12:30")), { expiresAt: AT("12:30") }), AT("12:30"));
    expect(loop.fire?.kind).toBe("final");
  });
});

describe("A17 a wake-up that came while nothing ran is never dropped", () => {
  test.each<MissedPolicy>(["once", "skip", "all"])("--missed %s", (missed) => {
    const loop = task(paced(AT("10:05")), { missed, graceMs: 0 });
    expect(fires(loop, AT("15:00"), AT("15:00")).loop.fire?.kind).toBe("late");
  });
});

describe("H1 a clock that is set back", () => {
  test("by little: the slot does not come twice, and the next one comes", () => {
    const done = finish(fires(task(cron("*/5 * * * *")), AT("10:05")).loop, AT("10:05")).loop;
    for (const now of [AT("10:01"), AT("10:05")]) expect(due(done, now)).toEqual({ kind: "none" });
    expect(fires(done, AT("10:10")).loop.fire?.slot).toBe(AT("10:10"));
  });

  test("by far: slots start over in a new era, with a line, and the expiry moves along", () => {
    const loop = task(cron("0 * * * *"), { expiresAt: START + 365 * DAY + HOUR });
    const ahead = finish(fires(loop, START + 365 * DAY).loop, START + 365 * DAY).loop;
    const over = changed(ahead, { type: "task.due", token: 1, awakeSince: START }, START + MINUTE);
    expect(over.loop).toMatchObject({ era: 1, cursorAt: START + MINUTE, fire: null });
    expect(over.loop.expiresAt).toBe(START + MINUTE + HOUR);
    expect(over.outcomes).toMatchObject([{ outcome: "skipped", slot: START + MINUTE }]);
    expect(fires(over.loop, AT("11:00")).loop.fire?.id).toMatch(/\.1$/);
  });

  test("by far, with the initial run still waiting: it keeps an identity of its own", () => {
    const loop = task(cron("0 * * * *"), { runNow: true });
    const over = changed(loop, { type: "task.due", token: 1, awakeSince: 0 }, START - DAY);
    const { loop: running } = fires(over.loop, START - DAY);
    expect(running.fire?.kind).toBe("initial");
    expect(running.fire?.id).not.toBe(over.outcomes[0]?.fireId);
  });

  test("by far: an exact period counts from now, and a wake-up keeps its length", () => {
    const restart = (loop: Parameters<typeof changed>[0]) =>
      changed(loop, { type: "task.due", token: 1, awakeSince: 0 }, START - DAY).loop.cadence;
    expect(restart(task(every(7 * MINUTE)))).toMatchObject({ anchorAt: START - DAY });
    expect(restart(task(paced(START + HOUR)))).toMatchObject({ wakeAt: START - DAY + HOUR });
    expect(restart(task(once(START + HOUR)))).toMatchObject({ at: START + HOUR });
  });
});
