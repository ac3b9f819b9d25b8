import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  MAX_LISTED_SLOTS,
  nextFireAt,
  openSlots,
  slotAfter,
  slotRun,
  slotUpTo,
  wakeAt,
} from "../../../src/core/task/slots.ts";
import {
  changed,
  cron,
  DAY,
  every,
  fires,
  HOUR,
  MINUTE,
  once,
  paced,
  SECOND,
  START,
  task,
} from "../../support/tasks.ts";

describe("A2 slots of --exact", () => {
  test("are created + k·period, from the first one on", () => {
    expect(slotAfter(every(7 * MINUTE), START - DAY)).toBe(START + 7 * MINUTE);
    expect(slotAfter(every(7 * MINUTE), START)).toBe(START + 7 * MINUTE);
    expect(slotAfter(every(7 * MINUTE), START + 7 * MINUTE)).toBe(START + 14 * MINUTE);
    expect(slotUpTo(every(7 * MINUTE), START + 6 * MINUTE, START)).toBeNull();
    expect(slotUpTo(every(7 * MINUTE), START + 14 * MINUTE, START)).toBe(START + 14 * MINUTE);
    expect(slotUpTo(every(7 * MINUTE), START + 14 * MINUTE, START + 14 * MINUTE)).toBeNull();
  });

  test("a run of slots is the same as asking for one after the other", () => {
    const cadences = fc.oneof(
      fc.integer({ min: SECOND, max: 3 * HOUR }).map((ms) => every(ms)),
      fc.constantFrom("*/7 * * * *", "0 9 * * 1-5", "0 */6 * * *").map((expr) => cron(expr)),
      fc.integer({ min: 0, max: DAY }).map((ms) => once(START + ms)),
    );
    fc.assert(
      fc.property(cadences, fc.nat(DAY), fc.nat(DAY), (cadence, from, length) => {
        const [after, until] = [START + from, START + from + length];
        const slots: number[] = [];
        let slot = slotAfter(cadence, after);
        while (slot !== null && slot <= until) {
          slots.push(slot);
          slot = slotAfter(cadence, slot);
        }
        const run = slotRun(cadence, after, until);
        expect(run?.count ?? 0).toBe(slots.length);
        expect(run?.last).toBe(slots.at(-1));
        expect(run?.listed ?? []).toEqual(slots.slice(0, MAX_LISTED_SLOTS));
        expect(slotUpTo(cadence, until, after)).toBe(slots.at(-1) ?? null);
      }),
    );
  });

  test("A10 a long run is counted and not listed, quickly: a minute task that slept for a month", () => {
    const run = slotRun(cron("* * * * *"), START, START + 30 * DAY);
    expect(run).toMatchObject({ count: 30 * 24 * 60, last: START + 30 * DAY });
    expect(run?.listed).toHaveLength(MAX_LISTED_SLOTS);
    expect(slotRun(every(SECOND), START, START + 30 * DAY)?.count).toBe(30 * 24 * 3600);
  });
});

describe("A6 when a task is due", () => {
  test("late by its jitter; a one-shot early by it", () => {
    const late = { ...task(cron("0 * * * *")), jitterMs: 5 * MINUTE };
    expect(wakeAt(late)).toBe(START + HOUR + 5 * MINUTE);
    expect(openSlots(late, START + HOUR + 5 * MINUTE - 1)).toBeNull();
    expect(openSlots(late, START + HOUR + 5 * MINUTE)?.last).toBe(START + HOUR);
    const early = { ...task(once(START + HOUR)), jitterMs: -MINUTE };
    expect(wakeAt(early)).toBe(START + HOUR - MINUTE);
    expect(openSlots(early, START + HOUR - MINUTE)?.last).toBe(START + HOUR);
  });

  test("A4 a waiting run is due at once and comes before the slots", () => {
    const fresh = task(cron("*/5 * * * *"), { runNow: true });
    expect(wakeAt(fresh)).toBe(START);
    expect(nextFireAt(fresh)).toBe(START + 5 * MINUTE);
    expect(openSlots(fresh, START + 10 * MINUTE)).toEqual({
      listed: [START, START + 5 * MINUTE, START + 10 * MINUTE],
      last: START + 10 * MINUTE,
      count: 3,
    });
  });

  test("A7 nothing after the expiry: the look then is for the final run", () => {
    const expiring = task(cron("0 * * * *"), { expiresAt: START + 90 * MINUTE });
    expect(openSlots(expiring, START + DAY)?.listed).toEqual([START + HOUR]);
    expect(wakeAt({ ...expiring, cursorAt: START + HOUR })).toBe(START + 90 * MINUTE);
    expect(wakeAt(task(once(START + HOUR), { expiresAt: START + MINUTE }))).toBe(START + HOUR);
  });

  test("never for a task that is paused, missed, ended or running", () => {
    const active = task(cron("0 * * * *"));
    for (const status of ["paused", "missed", "ended"] as const)
      expect(wakeAt({ ...active, status })).toBeNull();
    expect(wakeAt(fires(active, START + HOUR).loop)).toBeNull();
    expect(wakeAt(task(paced(null)))).toBeNull();
    expect(wakeAt(task(paced(START + HOUR)))).toBe(START + HOUR);
  });

  test("A3 the next fire that is shown: behind the one that runs, and none behind the final one", () => {
    const running = fires(task(cron("0 * * * *")), START + HOUR).loop;
    expect(nextFireAt(running)).toBe(START + 2 * HOUR);
    const last = fires(task(cron("0 * * * *"), { expiresAt: START + 90 * MINUTE }), START + HOUR).loop;
    expect(last.fire?.kind).toBe("final");
    expect(nextFireAt(last)).toBeNull();
    const longer = changed(
      last,
      { type: "task.edited", edit: { expiresAt: START + DAY } },
      START + HOUR,
    ).loop;
    expect(nextFireAt(longer)).toBe(START + 2 * HOUR);
  });
});

test("A14 a slot that is years away stays armed: 29 February, also across 2100", () => {
  const leap = cron("0 0 29 2 *");
  expect(slotAfter(leap, Date.UTC(2028, 1, 29))).toBe(Date.UTC(2032, 1, 29));
  expect(slotAfter(leap, Date.UTC(2096, 1, 29))).toBe(Date.UTC(2104, 1, 29));
  expect(wakeAt({ ...task(leap), cursorAt: Date.UTC(2028, 1, 29) })).toBe(Date.UTC(2032, 1, 29));
});
