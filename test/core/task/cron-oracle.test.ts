/** A14 in UTC our cron and the package cron-parser name the same slots, whatever the expression. */
import { type CronExpression, CronExpressionParser } from "cron-parser";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nextSlot, previousSlot } from "../../../src/core/task/cron.ts";
import { parseCron } from "../../../src/core/task/cron-fields.ts";

const SLOTS = 50;
/** We look one year ahead, and the package for ever. */
const HORIZON_MS = 366 * 86_400_000;
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** One field of an expression: numbers, names, ranges, steps and lists of them. */
function field(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const write = (value: number, isNamed: boolean) =>
    (isNamed ? names[value - min] : undefined) ?? String(value);
  const range = fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }), fc.boolean())
    .map(([a, b, isNamed]) => [Math.min(a, b), Math.max(a, b), isNamed] as const);
  const item = fc.oneof(
    fc.tuple(fc.integer({ min, max }), fc.boolean()).map(([value, isNamed]) => write(value, isNamed)),
    range.map(([a, b, isNamed]) => `${write(a, isNamed)}-${write(b, isNamed)}`),
    fc.tuple(range, fc.integer({ min: 1, max: max - min })).map(([[a, b], step]) => `${a}-${b}/${step}`),
  );
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(","));
  return fc.oneof(fc.constant("*"), list);
}

// No steps over days: with `*/2` in one of the two day fields cron asks for both, and the package for either.
const step = (max: number) => fc.integer({ min: 1, max }).map((every) => `*/${every}`);
const expressions = fc
  .tuple(
    fc.oneof(field(0, 59), step(59)),
    fc.oneof(field(0, 23), step(23)),
    field(1, 31),
    fc.oneof(field(1, 12, MONTHS), step(12)),
    field(0, 6, DAYS),
  )
  .map((fields) => fields.join(" "));
const moments = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2099, 0, 1) });

/** Skips expressions that name a value twice, or a day that no month has: the package refuses them, and cron does not. */
function parseByOracle(expression: string, at: number): CronExpression {
  try {
    return CronExpressionParser.parse(expression, { tz: "UTC", currentDate: new Date(at) });
  } catch (error) {
    fc.pre(!/duplicate values|Invalid explicit day of month/.test(String(error)));
    throw error;
  }
}

/** The slots after a moment by the package, as far as none is more than a year from the one before. */
function slotsByOracle(expression: string, after: number): number[] {
  const cron = parseByOracle(expression, after);
  const slots: number[] = [];
  for (let last = after; slots.length < SLOTS; ) {
    const next = cron.next().getTime();
    if (next - last > HORIZON_MS) break;
    slots.push(next);
    last = next;
  }
  return slots;
}

function slotsByUs(expression: string, after: number): number[] {
  const slots: number[] = [];
  for (let last: number | null = after; slots.length < SLOTS; ) {
    last = nextSlot(expression, "UTC", last);
    if (last === null) break;
    slots.push(last);
  }
  return slots;
}

test("A14 the next 50 slots of any expression are those of cron-parser", () => {
  fc.assert(
    fc.property(expressions, moments, (expression, after) => {
      fc.pre(parseCron(expression).kind === "ok");
      expect(slotsByUs(expression, after)).toEqual(slotsByOracle(expression, after));
    }),
    { numRuns: 150 },
  );
});

test("A14 A10 the slot before a moment is the one that cron-parser names", () => {
  fc.assert(
    fc.property(expressions, moments, (expression, before) => {
      fc.pre(parseCron(expression).kind === "ok");
      const previous = parseByOracle(expression, before).prev().getTime();
      expect(previousSlot(expression, "UTC", before)).toBe(before - previous > HORIZON_MS ? null : previous);
    }),
    { numRuns: 150 },
  );
});
