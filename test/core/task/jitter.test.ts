import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LoopId } from "../../../src/core/loop.ts";
import { jitterFor } from "../../../src/core/task/jitter.ts";
import { slotAfter } from "../../../src/core/task/slots.ts";
import { cron, DAY, every, HOUR, MINUTE, once, paced, SECOND, START } from "../../support/tasks.ts";

const ids = fc.integer({ min: 0, max: 0xffff_ffff }).map((n) => n.toString(16).padStart(8, "0") as LoopId);
const LAST = "ffffffff" as LoopId;
const FIRST = "00000000" as LoopId;

describe("A6 jitter of recurring tasks", () => {
  test.each([
    ["*/5 * * * *", 5 * MINUTE],
    ["7 */2 * * *", 2 * HOUR],
    ["0 0 */1 * *", DAY],
    ["0 9 * * 1-5", DAY],
    ["0 9,10 * * *", HOUR],
    ["0 9 1 * *", 30 * DAY],
  ])("%s is late by up to 10 %% of its period, at most 15 min, and uses that room", (expr, period) => {
    const most = Math.min(period / 10, 15 * MINUTE);
    expect(jitterFor(FIRST, cron(expr), START)).toBe(0);
    expect(jitterFor(LAST, cron(expr), START)).toBeGreaterThan(most * 0.99);
    expect(jitterFor(LAST, cron(expr), START)).toBeLessThanOrEqual(most);
  });

  test("for every id and period: never early, never more than the bounds, always a whole millisecond", () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: SECOND, max: 40 * DAY }), (id, period) => {
        const jitter = jitterFor(id, every(period), START);
        expect(Number.isInteger(jitter)).toBe(true);
        expect(jitter).toBeGreaterThanOrEqual(0);
        expect(jitter).toBeLessThanOrEqual(Math.min(period / 10, 15 * MINUTE));
      }),
    );
  });

  test("no slot is pushed as far as the next one, also of an uneven expression", () => {
    const exprs = fc.constantFrom(
      "0,1 * * * *",
      "0,5,7 */3 * * *",
      "59 23 * * *",
      "0 0 1,15 * *",
      "* * * * *",
    );
    fc.assert(
      fc.property(ids, exprs, (id, expr) => {
        const jitter = jitterFor(id, cron(expr), START);
        for (let slot = slotAfter(cron(expr), START), n = 0; slot !== null && n < 30; n++) {
          const next = slotAfter(cron(expr), slot);
          expect(jitter).toBeLessThanOrEqual(((next ?? 0) - slot) / 10);
          slot = next;
        }
      }),
    );
  });
});

describe("A6 jitter of one-shots", () => {
  test("on :00 and :30 up to 90 s early, otherwise none", () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 3 * 24 * 60 }), (id, minutes) => {
        const at = START + minutes * MINUTE;
        const jitter = jitterFor(id, once(at), START);
        if (minutes % 30 !== 0) expect(jitter).toBe(0);
        expect(jitter).toBeLessThanOrEqual(0);
        expect(jitter).toBeGreaterThanOrEqual(-90 * SECOND);
      }),
    );
    expect(jitterFor(LAST, once(START + 30 * MINUTE), START)).toBe(-89_999);
    expect(jitterFor(LAST, once(START + 30 * MINUTE + 1), START)).toBe(0);
  });

  test("never before its creation", () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: -MINUTE, max: 2 * MINUTE }), (id, ms) => {
        const at = START + HOUR;
        const createdAt = at - ms;
        expect(at + jitterFor(id, once(at), createdAt)).toBeGreaterThanOrEqual(Math.min(at, createdAt));
      }),
    );
  });

  test("half hours are those of the task's own zone: Kathmandu is 5 h 45 min ahead", () => {
    expect(jitterFor(LAST, once(START + 15 * MINUTE, "Asia/Kathmandu"), START)).toBeLessThan(0);
    expect(jitterFor(LAST, once(START + 30 * MINUTE, "Asia/Kathmandu"), START)).toBe(0);
  });
});

test("A6 the same id gives the same jitter, another one another; a self-paced task has none", () => {
  const daily = cron("0 9 * * *");
  expect(jitterFor("a1b2c3d4" as LoopId, daily, START)).toBe(jitterFor("a1b2c3d4" as LoopId, daily, START));
  expect(jitterFor("a1b2c3d4" as LoopId, daily, START)).not.toBe(
    jitterFor("b1b2c3d4" as LoopId, daily, START),
  );
  expect(jitterFor(LAST, paced(START), START)).toBe(0);
});
