import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ParsedWords, parseLoopWords } from "../../../src/core/task/grammar.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TEN_MINUTES = 10 * MINUTE;

const parse = (input: string) => parseLoopWords(input, TEN_MINUTES);

describe("A1 recurring words", () => {
  test.each([
    // Published examples.
    ["5m check the deploy", 5 * MINUTE, "leading", "check the deploy"],
    ["5m check if the deployment finished", 5 * MINUTE, "leading", "check if the deployment finished"],
    ["2h run the integration tests", 2 * HOUR, "leading", "run the integration tests"],
    ["check deploy every 30m", 30 * MINUTE, "trailing", "check deploy"],
    ["check the build", TEN_MINUTES, "default", "check the build"],
    ["5m /babysit-prs", 5 * MINUTE, "leading", "/babysit-prs"],
    ["check every PR", TEN_MINUTES, "default", "check every PR"],
    ["check deploys every 20m", 20 * MINUTE, "trailing", "check deploys"],
    ["check deploys every 5 minutes", 5 * MINUTE, "trailing", "check deploys"],
    ["check deploys every hour", HOUR, "trailing", "check deploys"],
    ["check deploys every other day", 2 * DAY, "trailing", "check deploys"],
    ["30s poll", 30_000, "leading", "poll"],
    ["1d summarise", DAY, "leading", "summarise"],
    ["1.5h summarise", 1.5 * HOUR, "leading", "summarise"],
    ["90 minutes summarise", 1.5 * HOUR, "leading", "summarise"],
    ["every 5 mins summarise", 5 * MINUTE, "leading", "summarise"],
    // Prompts of several lines.
    ["5m first line\nsecond line", 5 * MINUTE, "leading", "first line\nsecond line"],
    ["5m\n\nfirst\r\n\r\nsecond", 5 * MINUTE, "leading", "first\r\n\r\nsecond"],
    ["first\nsecond every 20m", 20 * MINUTE, "trailing", "first\nsecond"],
    ["first\nsecond", TEN_MINUTES, "default", "first\nsecond"],
    // A leading interval wins; what follows belongs to the prompt.
    ["5m check every 20m", 5 * MINUTE, "leading", "check every 20m"],
    ["/review every 1h", HOUR, "trailing", "/review"],
    ["5m prüfe, ob der Bau grün ist", 5 * MINUTE, "leading", "prüfe, ob der Bau grün ist"],
    ["デプロイを確認して every 20m", 20 * MINUTE, "trailing", "デプロイを確認して"],
    ["2h تحقق من حالة النشر", 2 * HOUR, "leading", "تحقق من حالة النشر"],
    ["prüfe den Bau alle 5 Minuten", TEN_MINUTES, "default", "prüfe den Bau alle 5 Minuten"],
    // Keywords only where a time follows, and only first.
    ["at the end of the day summarise", TEN_MINUTES, "default", "at the end of the day summarise"],
    ["in this repo find dead code", TEN_MINUTES, "default", "in this repo find dead code"],
    ["in a new branch fix the tests every 2h", 2 * HOUR, "trailing", "in a new branch fix the tests"],
    ["in half of the files rename foo", TEN_MINUTES, "default", "in half of the files rename foo"],
    ["look at 14:30 logs", TEN_MINUTES, "default", "look at 14:30 logs"],
    ["automatic formatting", TEN_MINUTES, "default", "automatic formatting"],
    ["attach the log", TEN_MINUTES, "default", "attach the log"],
    ["5m auto format", 5 * MINUTE, "leading", "auto format"],
  ])("%j", (input, ms, source, prompt) => {
    expect(parse(input)).toMatchObject({ kind: "recurring", source, prompt, interval: { ms } });
  });

  test("the default interval is the setting, and has a text", () => {
    const interval = { ms: 90 * MINUTE, text: "1h 30m" };
    expect(parseLoopWords("check", 90 * MINUTE)).toMatchObject({ source: "default", interval });
  });

  test.each(["", "   ", "\n", "5m", " 2h ", "90 minutes", "every 5m", "every hour", "every 5m."])(
    "%j prints usage",
    (input) => {
      expect(parse(input)).toEqual({ kind: "usage" });
    },
  );
});

describe("A1 one-shots", () => {
  test.each([
    ["at 14:30 summarise", 14, 30, "summarise"],
    ["AT 14:30 summarise", 14, 30, "summarise"],
    ["at 2:30pm summarise", 14, 30, "summarise"],
    ["at 2:30 PM summarise", 14, 30, "summarise"],
    ["at 9am summarise", 9, 0, "summarise"],
    ["at 9 a.m. summarise", 9, 0, "summarise"],
    ["at 12am summarise", 0, 0, "summarise"],
    ["at 12pm summarise", 12, 0, "summarise"],
    ["at 0:00 summarise", 0, 0, "summarise"],
    ["at 23:59\nfirst\nsecond", 23, 59, "first\nsecond"],
  ])("%j", (input, hour, minute, prompt) => {
    expect(parse(input)).toEqual({ kind: "at", hour, minute, prompt });
  });

  test.each([
    ["in 45m summarise", 45 * MINUTE, "45m", "summarise"],
    ["In 2 hours summarise", 2 * HOUR, "2 hours", "summarise"],
    ["in 1h30m /review\nall", 90 * MINUTE, "1h30m", "/review\nall"],
    ["in 366d summarise", 366 * DAY, "366d", "summarise"],
  ])("%j", (input, delayMs, text, prompt) => {
    expect(parse(input)).toEqual({ kind: "in", delayMs, text, prompt });
  });

  test.each([
    ["at 25:00 x", "at 25:00"],
    ["at 14:60 x", "at 14:60"],
    ["at 13pm x", "at 13pm"],
    ["at 0am x", "at 0am"],
    ["at 9 x", "at 9"],
    ["at 14:3 x", "at 14:3"],
    ["at 14:30:10 x", "at 14:30:10"],
    ["at noon x", "at noon"],
    ["at 14:30", "no prompt"],
    ["at", 'after "at"'],
    ["in soon x", "in soon"],
    ["in an hour x", "in an hour"],
    ["in half an hour x", "in half an"],
    ["in a few minutes x", "in a few"],
    ["in 5 m x", "in 5 m"],
    ["in 3 files fix x", "in 3 files"],
    ["in 0m x", "in 0m"],
    ["in 400d x", "366 days"],
    ["in 45m", "no prompt"],
    ["in", 'after "in"'],
    ["0m x", "0m"],
    ["x every 0 minutes", "0 minutes"],
  ])("%j is refused in one sentence that says what to write", (input, part) => {
    const parsed = parse(input);
    const message = parsed.kind === "invalid" ? parsed.message : parsed.kind;
    expect(message).toContain(part);
    expect(message).toMatch(/^[^\n]+; write [^\n]+\.$/);
  });
});

describe("A17 self-paced words", () => {
  test.each([
    ["auto", ""],
    ["AUTO  watch the queue", "watch the queue"],
    ["auto\nfirst\nsecond", "first\nsecond"],
    ["auto 5m check", "5m check"],
  ])("%j", (input, prompt) => {
    expect(parse(input)).toEqual({ kind: "auto", prompt });
  });
});

describe("A1 any text", () => {
  test("10,000 random strings have an answer, and a prompt is a trimmed part of the text", () => {
    let kinds = new Set<string>();
    fc.assert(
      fc.property(anyWords(), (input) => {
        const parsed = parse(input);
        kinds = kinds.add(parsed.kind);
        const prompt = promptOf(parsed);
        expect(input.includes(prompt) && prompt === prompt.trim()).toBe(true);
        if (parsed.kind === "recurring") expect(parsed.interval.ms > 0 && prompt !== "").toBe(true);
        if (parsed.kind === "invalid") expect(parsed.message.length).toBeLessThan(200);
      }),
      { numRuns: 10_000 },
    );
    expect([...kinds].sort()).toEqual(["at", "auto", "in", "invalid", "recurring", "usage"]);
  });

  test.each([
    ["digits", "1".repeat(1_000_000)],
    ["compound", "1h1m".repeat(250_000)],
    ["falling units", `${"9".repeat(500_000)}h${"9".repeat(500_000)}`],
    ["spaces", `every${" ".repeat(1_000_000)}x`],
    ["spaces after a number", `5${" ".repeat(1_000_000)}x`],
    ["every", "every ".repeat(170_000)],
    ["every and a near miss", `${"every 5 ".repeat(120_000)}x`],
    ["in a a a", `in ${"a ".repeat(500_000)}`],
    ["at digits", `at ${"1".repeat(1_000_000)}`],
    ["dots", `check every 20m${".".repeat(1_000_000)}`],
    ["lone surrogates", "\ud800".repeat(1_000_000)],
    ["controls", `5m ${"\u0000\u001b\u200f".repeat(300_000)}x`],
  ])("a megabyte of %s is read within the time limit", (_name, input) => {
    const parsed = parse(input);
    expect(parsed.kind).toMatch(/^(recurring|invalid)$/);
    if (parsed.kind === "invalid") expect(parsed.message.length).toBeLessThan(150);
  });
});

function promptOf(parsed: ParsedWords): string {
  return "prompt" in parsed ? parsed.prompt : "";
}

function anyWords(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    ...[
      "at",
      "in",
      "auto",
      "every",
      "other",
      "hour",
      "5m",
      "0m",
      "1.5h",
      "90 minutes",
      "14:30",
      "9am",
      "soon",
    ],
    ...[" ", "  ", "\n", ".", "!", "/x", "確認", "\ud800", "\u0000"],
  );
  const near = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(" "));
  return fc.oneof(fc.string(), fc.string({ unit: "binary" }), near);
}
