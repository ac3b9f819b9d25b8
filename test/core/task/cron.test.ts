import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextSlot, previousSlot } from "../../../src/core/task/cron.ts";
import { parseCron } from "../../../src/core/task/cron-fields.ts";
import { isTimeZone } from "../../../src/core/task/zone.ts";
import { runs } from "../../support/runs.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR_2026 = Date.UTC(2026, 0, 1);

describe("A14 parseCron", () => {
  test.each([
    "* * * * *",
    "*/5 * * * *",
    "7 */2 * * *",
    "0 0 */1 * *",
    "0 9 * * 1-5",
    "0 9 * * MON-FRI",
    "0 9 * * mon,Wed,FRI",
    "0 9 * * fri-sun",
    "0 9 * * 5-7",
    "0 9 * * 7",
    "15,45 0-23/2 1,15 jan-Mar *",
    "0-59/15 * * DEC 0",
    "  0   9\t* * *  ",
    "*/60 * * * *",
    "00 09 01 01 *",
  ])("accepts %s", (expr) => {
    expect(parseCron(expr)).toMatchObject({ kind: "ok" });
  });

  test.each([
    ["60 * * * *", "minute", "60", "0-59"],
    ["-5 * * * *", "minute", "-5", "0-59"],
    ["5/15 * * * *", "minute", "5-59/15", "0-59"],
    ["*/0 * * * *", "minute", "*/0", "0-59"],
    ["*/90 * * * *", "minute", "*/90", "1-60"],
    ["1,,2 * * * *", "minute", "empty", "0-59"],
    ["1, * * * *", "minute", "empty", "0-59"],
    ["30-10 * * * *", "minute", "30-10", "0-59"],
    ["1.5 * * * *", "minute", "1.5", "0-59"],
    ["MON * * * *", "minute", "MON", "0-59"],
    ["0 24 * * *", "hour", "24", "0-23"],
    ["0 22-2 * * *", "hour", "22-2", "0-23"],
    ["0 9 0 * *", "day-of-month", '"0"', "1-31"],
    ["0 9 32 * *", "day-of-month", "32", "1-31"],
    ["0 9 L * *", "day-of-month", "L", "1-31"],
    ["0 9 15W * *", "day-of-month", "15W", "1-31"],
    ["0 9 ? * *", "day-of-month", "?", "1-31"],
    ["0 9 * 13 *", "month", "13", "1-12"],
    ["0 9 * 0 *", "month", '"0"', "JAN-DEC"],
    ["0 9 * JANUARY *", "month", "JANUARY", "JAN-DEC"],
    ["0 9 * DEC-JAN *", "month", "DEC-JAN", "1-12"],
    ["0 9 * * 8", "day-of-week", "8", "0-7"],
    ["0 9 * * 5-0", "day-of-week", "5-0", "0-7"],
    ["0 9 * * MON#2", "day-of-week", "MON#2", "SUN-SAT"],
    ["0 9 * * 5L", "day-of-week", "5L", "0-7"],
    ["0 9 * * ?", "day-of-week", "?", "0-7"],
  ])("names the field, the text and the range for %s", (expr, field, text, range) => {
    const check = parseCron(expr);
    expect(check).toMatchObject({ kind: "invalid" });
    const message = check.kind === "invalid" ? check.message : "";
    for (const part of [`The ${field} field`, text, range]) expect(message).toContain(part);
    expect(message).toMatch(/^[^\n]+\.$/);
  });

  test.each([
    ["", "no fields"],
    ["* * * *", "4 fields"],
    ["0 0 9 * * *", "6 fields"],
    ["@daily", "nickname"],
  ])("refuses %j, which has not five fields", (expr, text) => {
    const check = parseCron(expr);
    expect(check).toMatchObject({ kind: "invalid" });
    expect(check.kind === "invalid" ? check.message : "").toContain(text);
  });

  test("never throws, and keeps its message short", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" }), cronLike()), (expr) => {
        const check = parseCron(expr);
        expect(check.kind === "invalid" ? check.message.length : 0).toBeLessThan(260);
      }),
      { numRuns: runs(10_000) },
    );
    expect(parseCron(`${"1,".repeat(500_000)} * * * *`).kind).toBe("invalid");
  });
});

describe("A14 isTimeZone", () => {
  test.each(["UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])(
    "knows %s",
    (tz) => expect(isTimeZone(tz)).toBe(true),
  );
  test.each(["", "Europe/Pari", "+02:00", "Mars/Base", "\ud800", "Europe/Paris "])("refuses %j", (tz) =>
    expect(isTimeZone(tz)).toBe(false),
  );
});

describe("A14 slots", () => {
  test.each([
    ["*/5 * * * *", "UTC", "2026-03-01T12:00:00.000Z", "2026-03-01T12:05:00.000Z"],
    ["*/5 * * * *", "UTC", "2026-03-01T12:04:59.999Z", "2026-03-01T12:05:00.000Z"],
    ["0 9 * * 1-5", "Europe/Paris", "2026-03-06T08:00:00.000Z", "2026-03-09T08:00:00.000Z"],
    ["0 9 * * 7", "UTC", "2026-03-02T00:00:00.000Z", "2026-03-08T09:00:00.000Z"],
    ["0 9 * * sun-sun", "UTC", "2026-03-02T00:00:00.000Z", "2026-03-08T09:00:00.000Z"],
    ["0 9 * * fri-sun", "UTC", "2026-03-07T09:00:00.000Z", "2026-03-08T09:00:00.000Z"],
    ["30 9 * * *", "Asia/Kathmandu", "2026-03-01T00:00:00.000Z", "2026-03-01T03:45:00.000Z"],
    ["0 0 31 * *", "UTC", "2026-01-31T00:00:00.000Z", "2026-03-31T00:00:00.000Z"],
    ["0 0 1,30 * *", "UTC", "2027-02-23T00:00:00.000Z", "2027-03-01T00:00:00.000Z"],
    ["0 0 1 1 *", "UTC", "2026-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
  ])("%s in %s after %s is %s", (expr, tz, after, slot) => {
    expect(iso(nextSlot(expr, tz, Date.parse(after)))).toBe(slot);
  });

  test("previous finds the slot that began half a second ago", () => {
    const slot = Date.parse("2026-03-01T12:00:00Z");
    expect(previousSlot("0 * * * *", "UTC", slot + 500)).toBe(slot);
    expect(previousSlot("0 * * * *", "UTC", slot)).toBe(slot - HOUR);
  });

  test("both day fields restricted are joined by OR", () => {
    const days = slotsBetween("0 0 13 * 5", "UTC", YEAR_2026, YEAR_2026 + 31 * DAY).map(dayOfMonth);
    expect(days).toEqual([2, 9, 13, 16, 23, 30]);
  });

  test("a day field that starts with a star is joined by AND, as in Vixie cron", () => {
    const odd = slotsBetween("0 0 */2 * 5", "UTC", YEAR_2026, YEAR_2026 + 31 * DAY).map(dayOfMonth);
    expect(odd).toEqual([9, 23]);
    const week = slotsBetween("0 0 13 * */5", "UTC", YEAR_2026, YEAR_2026 + 92 * DAY).map(iso);
    expect(week).toEqual(["2026-02-13T00:00:00.000Z", "2026-03-13T00:00:00.000Z"]);
  });

  test("a full range is a restriction for the OR rule, a star is not", () => {
    expect(slotsBetween("0 0 1-31 * 5", "UTC", YEAR_2026, YEAR_2026 + 30 * DAY)).toHaveLength(30);
    expect(slotsBetween("0 0 * * 5", "UTC", YEAR_2026, YEAR_2026 + 31 * DAY)).toHaveLength(5);
  });

  test("nothing within 366 days is null: 30 February never, 29 February only in its year", () => {
    expect(nextSlot("0 0 30 2 *", "UTC", YEAR_2026)).toBeNull();
    expect(previousSlot("0 0 30 2 *", "UTC", YEAR_2026)).toBeNull();
    expect(nextSlot("0 0 29 2 *", "UTC", YEAR_2026)).toBeNull();
    const leap = Date.parse("2028-02-29T00:00:00Z");
    expect(nextSlot("0 0 29 2 *", "UTC", leap - 366 * DAY - 1)).toBeNull();
    expect(nextSlot("0 0 29 2 *", "UTC", leap - 366 * DAY)).toBe(leap);
    expect(previousSlot("0 0 29 2 *", "UTC", leap + 366 * DAY)).toBe(leap);
    expect(previousSlot("0 0 29 2 *", "UTC", leap + 366 * DAY + 1)).toBeNull();
  });

  test("a wrong expression, zone or moment is null, never an exception", () => {
    expect(nextSlot("61 * * * *", "UTC", YEAR_2026)).toBeNull();
    expect(nextSlot("* * * * *", "Mars/Base", YEAR_2026)).toBeNull();
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY, -8.64e15, 8.64e15]) {
      expect(nextSlot("* * * * *", "UTC", at)).toBeNull();
      expect(previousSlot("* * * * *", "UTC", at)).toBeNull();
    }
    expect(nextSlot("* * * * *", "UTC", 0)).toBe(MINUTE);
    expect(previousSlot("* * * * *", "UTC", 0)).toBe(-MINUTE);
  });

  test("answers stay right when the clock is set back and when thousands of schedules pass through", () => {
    const expr = "0 9 * * *";
    const [late, early] = [YEAR_2026 + 40 * DAY, YEAR_2026 + 3 * DAY];
    expect(nextSlot(expr, "UTC", late)).toBe(late + 9 * HOUR);
    expect(nextSlot(expr, "UTC", early)).toBe(early + 9 * HOUR);
    for (let n = 0; n < 1440; n += 1) {
      expect(nextSlot(`${n % 60} ${Math.floor(n / 60)} * * *`, "UTC", early)).toBe(
        early + (n || 1440) * MINUTE,
      );
    }
    expect(nextSlot(expr, "UTC", early + 9 * HOUR)).toBe(early + 33 * HOUR);
    expect(previousSlot(expr, "UTC", late)).toBe(late - 15 * HOUR);
    expect(previousSlot(expr, "UTC", late - DAY)).toBe(late - 39 * HOUR);
  });
});

test("A14 six thousand schedules are not all kept in memory", () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const heapMb = () => {
    collect();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const before = heapMb();
  for (let n = 0; n < 6000; n += 1) {
    // A star in both time fields makes a schedule as large as they get.
    nextSlot(
      `* * ${1 + (n % 28)} ${1 + (Math.floor(n / 28) % 12)} ${Math.floor(n / 336)
        .toString(2)
        .split("")
        .join()}`,
      "UTC",
      YEAR_2026,
    );
  }
  expect(heapMb() - before).toBeLessThan(40);
});

/** Wall-clock times and offsets of the runs between two moments, read with Intl and not with our code. */
describe("H1 A14 clock changes", () => {
  test.each([
    // Spring: the hour is skipped, the run is not.
    ["30 2 * * *", "America/New_York", "2026-03-08", ["03:00"]],
    ["30 2 * * *", "Europe/Paris", "2026-03-29", ["03:00"]],
    ["15 2 * * *", "Australia/Lord_Howe", "2026-10-04", ["02:30"]],
    ["0 0 * * *", "Africa/Cairo", "2026-04-24", ["01:00"]],
    ["30 2,14 * * *", "Europe/Paris", "2026-03-29", ["03:00", "14:30"]],
    ["*/20 2 * * *", "Europe/Paris", "2026-03-29", ["03:00"]],
    ["7 */12 * * *", "Europe/Paris", "2026-03-29", ["00:07", "12:07"]],
    ["7 2-23/12 * * *", "Europe/Paris", "2026-03-29", ["03:00", "14:07"]],
    [
      "7 */2 * * 0",
      "Europe/Paris",
      "2026-03-29",
      "00:07 03:00 04:07 06:07 08:07 10:07 12:07 14:07 16:07 18:07 20:07 22:07".split(" "),
    ],
    ["15 0-3 * * *", "Australia/Lord_Howe", "2026-10-04", ["00:15", "01:15", "02:30", "03:15"]],
    // Autumn: the hour comes twice, the run does not.
    ["30 1 * * *", "America/New_York", "2026-11-01", ["01:30"]],
    ["30 2 * * *", "Europe/Paris", "2026-10-25", ["02:30"]],
    ["45 1 * * *", "Australia/Lord_Howe", "2026-04-05", ["01:45"]],
    ["30 1,13 * * *", "America/New_York", "2026-11-01", ["01:30", "13:30"]],
    ["30 1,2 * * *", "America/New_York", "2026-11-01", ["01:30", "02:30"]],
    ["*/30 1 * * *", "America/New_York", "2026-11-01", ["01:00", "01:30"]],
    [
      "*/30 0-2 * * *",
      "America/New_York",
      "2026-11-01",
      "00:00 00:30 01:00 01:30 01:00 01:30 02:00 02:30".split(" "),
    ],
  ])("%s in %s on %s runs at %j", (expr, tz, date, times) => {
    const from = Date.parse(`${date}T00:00:00Z`) - DAY;
    const runs = slotsBetween(expr, tz, from, from + 3 * DAY).map((slot) => wallText(tz, slot));
    expect(runs.filter((run) => run.startsWith(date)).map((run) => run.slice(11))).toEqual(times);
  });

  test.each(["America/New_York", "Europe/Paris", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"])(
    "*/30 goes on every 30 real minutes for a whole year in %s",
    (tz) => {
      const slots = slotsBetween("*/30 * * * *", tz, YEAR_2026 - 1, YEAR_2026 + 365 * DAY - 1);
      expect(slots).toHaveLength(365 * 48);
      expect(slots.every((slot, index) => slot === YEAR_2026 + index * 30 * MINUTE)).toBe(true);
    },
  );
});

describe("A14 against a walk through every minute", () => {
  // Each window holds a clock change, the end of a month, or both; Apia lost a whole day.
  const windows = [
    ["America/New_York", "2026-03-06"],
    ["America/New_York", "2026-10-30"],
    ["Europe/Paris", "2026-03-28"],
    ["Europe/Paris", "2026-10-24"],
    ["Australia/Lord_Howe", "2026-04-03"],
    ["Australia/Lord_Howe", "2026-10-02"],
    ["Africa/Cairo", "2026-04-22"],
    ["America/Sao_Paulo", "2018-02-16"],
    ["Pacific/Apia", "2011-12-28"],
    ["Asia/Kathmandu", "2028-02-27"],
  ] as const;
  const walks = windows.map(([tz, date]) => walkMinutes(tz, Date.parse(`${date}T12:00:00Z`), 5 * DAY));

  test("next and previous give the same slots as the walk", () => {
    let slotsSeen = 0;
    fc.assert(
      fc.property(cronExpr(), fc.nat(windows.length - 1), fc.nat(MINUTE - 1), (expr, index, ms) => {
        const [tz] = windows[index] ?? ["UTC"];
        const walk = walks[index] ?? [];
        const [from, to] = [walk[0]?.at ?? 0, walk.at(-1)?.at ?? 0];
        const expected = oracle(expr, walk).slice(0, 400);
        const end = expected.length === 400 ? (expected.at(-1) ?? to) : to;
        slotsSeen += expected.length;
        expect(slotsBetween(expr, tz, from, end).map(iso)).toEqual(expected.map(iso));
        expect(slotsBefore(expr, tz, end + 1, from).map(iso)).toEqual(expected.toReversed().map(iso));
        for (const slot of expected.slice(0, 3)) {
          expect(previousSlot(expr, tz, slot + 1 + ms)).toBeGreaterThanOrEqual(slot);
          expect(nextSlot(expr, tz, slot - 1 - ms)).toBeLessThanOrEqual(slot);
        }
      }),
      { numRuns: runs(400) },
    );
    expect(slotsSeen).toBeGreaterThan(5000);
  });

  test("far apart slots: every month and weekday of two years, on the wall clock of UTC", () => {
    const days = Array.from({ length: 731 }, (_, index) => Date.UTC(2027, 0, 1) + index * DAY);
    fc.assert(
      fc.property(dayFields(), (fields) => {
        const expr = `0 0 ${fields}`;
        const expected = days.slice(1).filter((at) => isMatch(expr, at));
        const found = slotsBetween(expr, "UTC", Date.UTC(2027, 0, 1), Date.UTC(2028, 11, 31));
        const gaps = [Date.UTC(2027, 0, 1), ...expected].some(
          (at, index) => (expected[index] ?? at) - at > 366 * DAY,
        );
        if (!gaps) expect(found.map(iso)).toEqual(expected.map(iso));
      }),
      { numRuns: runs(400) },
    );
  });
});

interface Minute {
  readonly at: number;
  /** The wall clock, written as if it were UTC. */
  readonly wall: number;
}

function walkMinutes(tz: string, from: number, length: number): Minute[] {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: tz, dateStyle: "short", timeStyle: "medium" });
  const minutes: Minute[] = [];
  for (let at = from; at <= from + length; at += MINUTE) {
    minutes.push({ at, wall: Date.parse(`${format.format(at).replace(" ", "T")}Z`) });
  }
  return minutes;
}

/** The rules of cron.ts, by looking at every minute: no search, no offsets, no croner. */
function oracle(expr: string, walk: readonly Minute[]): number[] {
  const [minuteText = "", hourText = ""] = expr.split(" ");
  const hours = valuesOf(hourText, 0, 23);
  const rhythm = minuteText.startsWith("*") || hourText.startsWith("*") || hours.size === 24;
  const keeps = (wall: number) => rhythm && isTimeMatch(expr, wall);
  const slots: number[] = [];
  let seenUpTo = Number.NEGATIVE_INFINITY;
  let back = 0;
  for (const [index, { at, wall }] of walk.entries()) {
    const before = walk[index - 1]?.wall ?? wall - MINUTE;
    const jump = wall - before - MINUTE;
    if (jump < 0) back = -jump;
    let owed = false;
    for (let lost = wall - Math.max(jump, 0); lost < wall; lost += MINUTE) {
      owed ||= isMatch(expr, lost) && !keeps(lost + jump);
    }
    const repeated = wall <= seenUpTo;
    if (owed || (isMatch(expr, wall) && (!repeated || keeps(wall + back)))) slots.push(at);
    seenUpTo = Math.max(seenUpTo, wall);
  }
  return slots.slice(slots[0] === walk[0]?.at ? 1 : 0);
}

function isTimeMatch(expr: string, wall: number): boolean {
  const [minute = "", hour = ""] = expr.split(" ");
  const date = new Date(wall);
  return valuesOf(minute, 0, 59).has(date.getUTCMinutes()) && valuesOf(hour, 0, 23).has(date.getUTCHours());
}

function isMatch(expr: string, wall: number): boolean {
  const [, , day = "", month = "", weekday = ""] = expr.split(" ");
  const date = new Date(wall);
  if (!isTimeMatch(expr, wall) || !valuesOf(month, 1, 12).has(date.getUTCMonth() + 1)) return false;
  const inMonth = valuesOf(day, 1, 31).has(date.getUTCDate());
  const week = valuesOf(weekday, 0, 7);
  const inWeek = week.has(date.getUTCDay()) || (date.getUTCDay() === 0 && week.has(7));
  return day.startsWith("*") || weekday.startsWith("*") ? inMonth && inWeek : inMonth || inWeek;
}

const valueSets = new Map<string, Set<number>>();

function valuesOf(text: string, min: number, max: number): Set<number> {
  const key = `${text} ${min} ${max}`;
  const known = valueSets.get(key);
  if (known !== undefined) return known;
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const [range = "", step = "1"] = item.split("/");
    const [low = min, high = low] = range === "*" ? [min, max] : range.split("-").map(Number);
    for (let value = low; value <= high; value += Number(step)) values.add(value);
  }
  valueSets.set(key, values);
  return values;
}

function fieldText(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: Math.min(max, 7) });
  const item = fc.oneof(
    value.map(String),
    range,
    fc.tuple(range, step).map(([r, s]) => `${r}/${s}`),
  );
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(","));
  return fc.oneof(
    fc.constant("*"),
    step.map((n) => `*/${n}`),
    list,
    value.map(String),
  );
}

function dayFields(): fc.Arbitrary<string> {
  return fc.tuple(fieldText(1, 31), fieldText(1, 12), fieldText(0, 7)).map((fields) => fields.join(" "));
}

/** Mostly the small hours, where clocks change. */
function cronExpr(): fc.Arbitrary<string> {
  const days = fc.oneof(
    { weight: 3, arbitrary: fc.constant("* * *") },
    { weight: 2, arbitrary: dayFields() },
  );
  const hour = fc.oneof(fieldText(0, 23), fieldText(0, 3), fc.constantFrom("*", "0-23", "*/2"));
  return fc.tuple(fieldText(0, 59), hour, days).map((fields) => fields.join(" "));
}

function cronLike(): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom("*", "/", "-", ",", " ", "5", "61", "MON", "jan", "L", "#", "?", "@daily"), {
      maxLength: 16,
    })
    .map((parts) => parts.join(""));
}

function slotsBetween(expr: string, tz: string, afterAt: number, untilAt: number): number[] {
  const slots: number[] = [];
  for (let at = nextSlot(expr, tz, afterAt); at !== null && at <= untilAt; at = nextSlot(expr, tz, at)) {
    if (at <= (slots.at(-1) ?? afterAt)) throw new Error(`${expr} in ${tz} did not move on from ${iso(at)}`);
    slots.push(at);
  }
  return slots;
}

function slotsBefore(expr: string, tz: string, beforeAt: number, downTo: number): number[] {
  const slots: number[] = [];
  for (
    let at = previousSlot(expr, tz, beforeAt);
    at !== null && at > downTo;
    at = previousSlot(expr, tz, at)
  ) {
    if (at >= (slots.at(-1) ?? beforeAt))
      throw new Error(`${expr} in ${tz} did not move back from ${iso(at)}`);
    slots.push(at);
  }
  return slots;
}

function wallText(tz: string, at: number): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: tz, dateStyle: "short", timeStyle: "short" }).format(
    at,
  );
}

function dayOfMonth(at: number): number {
  return new Date(at).getUTCDate();
}

function iso(at: number | null): string {
  return at === null ? "none" : new Date(at).toISOString();
}
