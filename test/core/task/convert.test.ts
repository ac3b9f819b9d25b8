import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planCadence } from "../../../src/core/task/convert.ts";
import { parseCron } from "../../../src/core/task/cron-fields.ts";
import { type Interval, parseLeadingInterval } from "../../../src/core/task/interval.ts";
import { runs } from "../../support/runs.ts";

const DAY = 86_400_000;

function interval(text: string): Interval {
  return parseLeadingInterval(text)?.interval ?? { ms: Number.NaN, text };
}

function convert(interval: Interval, exact: boolean) {
  const planned = planCadence(interval, { exact, tz: "UTC", now: 0 });
  return planned.kind === "invalid" ? planned : { ...planned.cadence, notice: planned.notice };
}

describe("A2 intervals that cron can say", () => {
  test.each([
    ["1m", "*/1 * * * *"],
    ["5m", "*/5 * * * *"],
    ["20m", "*/20 * * * *"],
    ["30m", "*/30 * * * *"],
    ["60s", "*/1 * * * *"],
    ["60m", "7 */1 * * *"],
    ["1h", "7 */1 * * *"],
    ["120 minutes", "7 */2 * * *"],
    ["2h", "7 */2 * * *"],
    ["12h", "7 */12 * * *"],
    ["24h", "0 0 */1 * *"],
    ["1d", "0 0 */1 * *"],
    ["every hour", "7 */1 * * *"],
    ["every day", "0 0 */1 * *"],
  ])("A2 %s is %s, with nothing to say", (text, expr) => {
    expect(convert(interval(text), false)).toMatchObject({ kind: "cron", expr, notice: null });
  });
});

describe("A2 intervals that change say so", () => {
  test.each([
    ["30s", "*/1 * * * *", "every minute"],
    ["500ms", "*/1 * * * *", "every minute"],
    ["70s", "*/2 * * * *", "every 2 minutes"],
    ["90s", "*/2 * * * *", "every 2 minutes"],
    ["7m", "*/6 * * * *", "every 6 minutes"],
    ["8m", "*/6 * * * *", "every 6 minutes"],
    ["11m", "*/10 * * * *", "every 10 minutes"],
    ["25m", "*/20 * * * *", "every 20 minutes"],
    ["45m", "*/30 * * * *", "every 30 minutes"],
    ["46m", "7 */1 * * *", "every hour"],
    ["50m", "7 */1 * * *", "every hour"],
    ["61m", "7 */1 * * *", "every hour"],
    ["90m", "7 */2 * * *", "every 2 hours"],
    ["1.5h", "7 */2 * * *", "every 2 hours"],
    ["90 minutes", "7 */2 * * *", "every 2 hours"],
    ["5h", "7 */4 * * *", "every 4 hours"],
    ["7h", "7 */6 * * *", "every 6 hours"],
    ["10h", "7 */8 * * *", "every 8 hours"],
    ["18h", "7 */12 * * *", "every 12 hours"],
    ["19h", "0 0 */1 * *", "every day"],
    ["25h", "0 0 */1 * *", "every day"],
    ["36h", "0 0 */2 * *", "every 2 days"],
  ])("A2 %s becomes %s and says so", (text, expr, said) => {
    const conversion = convert(interval(text), false);
    expect(conversion).toMatchObject({ kind: "cron", expr });
    const notice = conversion.kind === "cron" ? conversion.notice : null;
    expect(notice).toMatch(
      new RegExp(`^${text.replace(".", "\\.")} [^\n]*${said}[^\n]*; --exact keeps ${text}\\.$`),
    );
  });

  test("A2 7m becomes 6m in these words", () => {
    const notice = "7m does not divide an hour evenly, so it runs every 6 minutes; --exact keeps 7m.";
    expect(convert(interval("7m"), false)).toMatchObject({ notice });
  });

  test("A2 90m is said to be no whole number of hours, for it does divide a day", () => {
    const notice = "90m is not a whole number of hours, so it runs every 2 hours; --exact keeps 90m.";
    expect(convert(interval("90m"), false)).toMatchObject({ notice });
  });

  test.each([
    ["2d", "0 0 */2 * *"],
    ["every other day", "0 0 */2 * *"],
    ["1w", "0 0 */7 * *"],
    ["31d", "0 0 */31 * *"],
  ])("A2 %s says that cron starts over on the 1st", (text, expr) => {
    const conversion = convert(interval(text), false);
    expect(conversion).toMatchObject({ kind: "cron", expr });
    expect(conversion.kind === "cron" ? conversion.notice : null).toMatch(
      /^Cron counts [^\n]+ from the 1st of each month, [^\n]+ can be shorter; --exact keeps it even\.$/,
    );
  });

  test.each(["32d", "40d", "5w", "400d"])("A2 %s is refused with a word on --exact", (text) => {
    const conversion = convert(interval(text), false);
    expect(conversion.kind === "invalid" ? conversion.message : null).toMatch(/^[^\n]*--exact[^\n]*\.$/);
  });
});

describe("A2 --exact", () => {
  test.each([
    ["7m", 420_000],
    ["90m", 5_400_000],
    ["45s", 45_000],
    ["1s", 1000],
    ["40d", 40 * DAY],
    ["366d", 366 * DAY],
  ])("A2 %s is kept", (text, everyMs) => {
    expect(convert(interval(text), true)).toMatchObject({ kind: "every", everyMs, notice: null });
  });

  test.each(["999ms", "0s", "367d", "no interval"])("A2 %s is refused", (text) => {
    expect(convert(interval(text), true).kind).toBe("invalid");
  });
});

test("A2 every interval gives a cron that can be read, with a notice exactly when its period is another", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 31 * 86_400 }), (seconds) => {
      const conversion = convert({ ms: seconds * 1000, text: `${seconds}s` }, false);
      if (conversion.kind !== "cron") throw new Error(conversion.kind);
      expect(parseCron(conversion.expr)).toMatchObject({ kind: "ok" });
      const [, step, hours, days] =
        /^(?:\*\/(\d+) \*|7 \*\/(\d+)|0 0 \*\/(\d+)) /.exec(conversion.expr) ?? [];
      const period = Number(step ?? 0) * 60 + Number(hours ?? 0) * 3600 + Number(days ?? 0) * 86_400;
      expect(conversion.notice === null).toBe(period === seconds && period <= 86_400);
    }),
    { numRuns: runs(3_000) },
  );
});
