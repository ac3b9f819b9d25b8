import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  parseDuration,
  parseLeadingInterval,
  parseTrailingInterval,
  renderDuration,
} from "../../../src/core/task/interval.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("A1 a leading interval", () => {
  test.each([
    ["5m check", 5 * MINUTE, "5m", "check"],
    ["2h check", 2 * HOUR, "2h", "check"],
    ["30s check", 30 * SECOND, "30s", "check"],
    ["1d check", DAY, "1d", "check"],
    ["1.5h check", 90 * MINUTE, "1.5h", "check"],
    ["1w check", 7 * DAY, "1w", "check"],
    ["2 weeks check", 14 * DAY, "2 weeks", "check"],
    ["90 minutes check", 90 * MINUTE, "90 minutes", "check"],
    ["90\n minutes check", 90 * MINUTE, "90 minutes", "check"],
    ["5mins check", 5 * MINUTE, "5mins", "check"],
    ["5 min check", 5 * MINUTE, "5 min", "check"],
    ["2 hrs check", 2 * HOUR, "2 hrs", "check"],
    ["5M check", 5 * MINUTE, "5M", "check"],
    ["EVERY 5m check", 5 * MINUTE, "5m", "check"],
    ["every hour check", HOUR, "every hour", "check"],
    ["every other day check", 2 * DAY, "every other day", "check"],
    ["every second day check", 2 * DAY, "every second day", "check"],
    ["every second check", SECOND, "every second", "check"],
    ["every week check", 7 * DAY, "every week", "check"],
    ["1h30m check", 90 * MINUTE, "1h30m", "check"],
    ["1d2h30m check", 26.5 * HOUR, "1d2h30m", "check"],
    ["1h 30m check", 90 * MINUTE, "1h 30m", "check"],
    ["5min30s check", 330 * SECOND, "5min30s", "check"],
    ["2h 30 minutes of logs", 2 * HOUR, "2h", "30 minutes of logs"],
    ["2h 30s-timeout in the tests", 2 * HOUR, "2h", "30s-timeout in the tests"],
    ["5m 2 days of logs", 5 * MINUTE, "5m", "2 days of logs"],
    ["500ms check", 500, "500ms", "check"],
    ["5m\ncheck\n\n  the build", 5 * MINUTE, "5m", "check\n\n  the build"],
    ["  5m\tcheck  ", 5 * MINUTE, "5m", "check"],
    ["5m\u3000デプロイを確認", 5 * MINUTE, "5m", "デプロイを確認"],
    ["5m", 5 * MINUTE, "5m", ""],
    ["every 5m", 5 * MINUTE, "5m", ""],
    ["0m check", 0, "0m", "check"],
  ])("%j", (input, ms, text, rest) => {
    expect(parseLeadingInterval(input)).toEqual({ interval: { ms, text }, rest });
  });

  test.each([
    "5 m foo",
    "every 5 m foo",
    "5 ms of latency",
    "5minutesago foo",
    "5m, foo",
    "5mデプロイ",
    "m5 foo",
    "-5m foo",
    ".5h foo",
    "1e3s foo",
    "every PR",
    "every few minutes look",
    "everyday check",
    "every hourly thing",
    "hour check",
    "404 errors",
    "3 files",
    "",
  ])("%j has none", (input) => {
    expect(parseLeadingInterval(input)).toBeNull();
  });

  test("an absurd number is still a safe integer with a short text", () => {
    const found = parseLeadingInterval(`${"9".repeat(5000)}d check`);
    expect(found?.interval.ms).toBe(Number.MAX_SAFE_INTEGER);
    expect(found?.interval.text.length).toBeLessThan(41);
  });
});

describe("A1 a trailing interval", () => {
  test.each([
    ["check every 20m", 20 * MINUTE, "20m", "check"],
    ["check every 5 minutes", 5 * MINUTE, "5 minutes", "check"],
    ["check every hour", HOUR, "every hour", "check"],
    ["check every other day", 2 * DAY, "every other day", "check"],
    ["check every minute", MINUTE, "every minute", "check"],
    ["check every 20m.", 20 * MINUTE, "20m", "check"],
    ["check Every 20M!", 20 * MINUTE, "20M", "check"],
    ["check every PR every 1.5h", 90 * MINUTE, "1.5h", "check every PR"],
    ["check\nthe build\nevery 20m\n", 20 * MINUTE, "20m", "check\nthe build"],
    // İ is two characters in lower case: an index into the lower-cased text would be off.
    ["İİİİ every 20m", 20 * MINUTE, "20m", "İİİİ"],
    ["every 5m.", 5 * MINUTE, "5m", ""],
  ])("%j", (input, ms, text, rest) => {
    expect(parseTrailingInterval(input)).toEqual({ interval: { ms, text }, rest });
  });

  test.each([
    "check every PR",
    "check every 20m please",
    "check every 5 m",
    "20m",
    "delivery 5m",
    "thievery 5m",
    "",
  ])("%j has none", (input) => {
    expect(parseTrailingInterval(input)).toBeNull();
  });
});

describe("durations for flags", () => {
  test.each([
    ["3d", 3 * DAY],
    ["45s", 45 * SECOND],
    ["1.5h", 90 * MINUTE],
    ["90 minutes", 90 * MINUTE],
    ["2 days", 2 * DAY],
    ["1h30m", 90 * MINUTE],
    [" 1h 30m ", 90 * MINUTE],
    ["1 hour 30 minutes", 90 * MINUTE],
    ["250ms", 250],
    ["0s", 0],
    ["1000w", 7000 * DAY],
  ])("%j is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    "",
    "5",
    "m",
    "soon",
    "5 m",
    "5m later",
    "every 5m",
    "30m1h",
    "1h1h",
    "-5m",
    "5,5h",
    "9999999d",
  ])("%j is none", (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  test.each([
    [0, "0s"],
    [250, "250ms"],
    [45 * SECOND, "45s"],
    [90 * SECOND, "1m 30s"],
    [6 * MINUTE, "6m"],
    [2 * HOUR, "2h"],
    [90 * MINUTE, "1h 30m"],
    [HOUR - 1, "1h"],
    [DAY - 1, "1d"],
    [3 * DAY, "3d"],
    [76 * HOUR, "3d 4h"],
    [-5 * MINUTE, "-5m"],
    [Number.NaN, "unknown"],
    [Number.POSITIVE_INFINITY, "unknown"],
  ])("%d ms reads %s", (ms, text) => {
    expect(renderDuration(ms)).toBe(text);
  });

  test("what is rendered can be typed again and is off by half of its smaller unit at most", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 400 * DAY }), (ms) => {
        const back = parseDuration(renderDuration(ms)) ?? Number.NaN;
        const unit = ms < HOUR - SECOND ? SECOND : ms < DAY - MINUTE ? MINUTE : HOUR;
        expect(Math.abs(back - ms)).toBeLessThanOrEqual(unit / 2);
      }),
    );
  });
});
