import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderCadence, renderCron } from "../../../src/core/text/human.ts";
import { runs } from "../../support/runs.ts";

describe("A16 cron in words", () => {
  test.each([
    ["*/5 * * * *", "Every 5 minutes"],
    ["* * * * *", "Every minute"],
    ["*/1 * * * *", "Every minute"],
    ["*/60 * * * *", "Every hour"],
    ["0 */2 * * *", "Every 2 hours"],
    ["7 */2 * * *", "Every 2 hours"],
    ["7 */1 * * *", "Every hour"],
    ["0 * * * *", "Every hour"],
    ["0 0 */1 * *", "Every day"],
    ["0 0 */2 * *", "Every 2 days"],
    ["0 0 * * *", "Every day at 12:00 AM"],
    ["0 9 * * 1-5", "Weekdays at 9:00 AM"],
    ["0 9 * * MON-FRI", "Weekdays at 9:00 AM"],
    ["0 9 * * 1,2,3,4,5", "Weekdays at 9:00 AM"],
    ["30 14 * * 0,6", "Weekends at 2:30 PM"],
    ["30 14 * * sat-sun", "Weekends at 2:30 PM"],
    ["0 9 * * *", "Every day at 9:00 AM"],
    ["0 12 * * *", "Every day at 12:00 PM"],
    ["0 9 * * 1", "Mondays at 9:00 AM"],
    ["0 9 * * 7", "Sundays at 9:00 AM"],
    ["5 9 * * mon,wed,fri", "Mondays, Wednesdays and Fridays at 9:05 AM"],
    ["30 */2 * * *", "At 30 minutes past the hour, every 2 hours"],
    ["*/5 * * * 1", "Every 5 minutes, only on Monday"],
    ["0 9 * 3 *", "At 9:00 AM, only in March"],
    ["0 9 1 * *", "At 9:00 AM, on day 1 of the month"],
  ])("%s reads %j", (expr, text) => {
    expect(renderCron(expr)).toBe(text);
  });

  test("a step that does not divide its unit is not called an even rhythm", () => {
    expect(renderCron("*/45 * * * *")).toBe("At 0 and 45 minutes past the hour");
    expect(renderCron("0 */16 * * *")).not.toContain("16 hours");
  });

  test("day fields that are joined by AND read otherwise than those joined by OR", () => {
    expect(renderCron("0 9 */2 * 1")).toContain("only on Monday");
    expect(renderCron("0 9 13 * 5")).toContain("and on Friday");
  });

  test("text that is no cron comes back as it is, and nothing throws", () => {
    expect(renderCron("every full moon")).toBe("every full moon");
    const parts = fc.constantFrom("*", "*/7", "5", "1-5", "0,6", "31", "MON", "jan", "L", "?", "\ud800");
    const exprs = fc.array(parts, { minLength: 4, maxLength: 6 }).map((fields) => fields.join(" "));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), exprs), (expr) => {
        expect(typeof renderCron(expr)).toBe("string");
      }),
      { numRuns: runs(10_000) },
    );
  });
});

describe("A16 cadences in words", () => {
  test.each([
    [420_000, "Every 7 minutes"],
    [45_000, "Every 45 seconds"],
    [5_400_000, "Every 90 minutes"],
    [1000, "Every second"],
    [60_000, "Every minute"],
    [3_600_000, "Every hour"],
    [7_200_000, "Every 2 hours"],
    [86_400_000, "Every day"],
    [604_800_000, "Every 7 days"],
    [1500, "Every 1500 milliseconds"],
  ])("every %d ms reads %s", (everyMs, text) => {
    expect(renderCadence({ kind: "every", everyMs, anchorAt: 0 })).toBe(text);
  });

  test("a one-shot has its own time zone", () => {
    const at = Date.parse("2026-03-01T13:30:00Z");
    const once = (tz: string) => renderCadence({ kind: "once", at, cron: null, tz });
    expect(once("Europe/Paris")).toBe("Once at 2026-03-01 14:30 (Europe/Paris)");
    expect(once("America/New_York")).toBe("Once at 2026-03-01 08:30 (America/New_York)");
    expect(once("Mars/Base")).toBe("Once at 2026-03-01 13:30 (UTC)");
    expect(renderCadence({ kind: "once", at: Number.NaN, cron: null, tz: "UTC" })).toBe(
      "Once at an unknown time",
    );
  });

  test("midnight is 00:00", () => {
    const at = Date.parse("2026-03-01T00:00:00Z");
    expect(renderCadence({ kind: "once", at, cron: null, tz: "UTC" })).toBe("Once at 2026-03-01 00:00 (UTC)");
  });

  test("cron and self-paced", () => {
    expect(renderCadence({ kind: "cron", expr: "*/5 * * * *", tz: "UTC" })).toBe("Every 5 minutes");
    expect(renderCadence({ kind: "paced", wakeAt: null, reason: null })).toBe("Self-paced");
  });
});
