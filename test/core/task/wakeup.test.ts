import { describe, expect, test } from "vitest";
import { parseWakeup, parseWakeupLine } from "../../../src/core/task/wakeup.ts";
import { wakeIn } from "../../support/tasks.ts";

describe("A17 the last line of an answer", () => {
  test.each<[string, unknown]>([
    ['{"wakeup":{"delaySeconds":300,"reason":"CI"}}', wakeIn(300_000, "CI")],
    ['All well.\n\n  {"wakeup":{"delaySeconds":90.5}}\r\n\n', wakeIn(90_500, "no reason given")],
    ['{ "wakeup": { "delaySeconds": 60, "reason": " x " } }', wakeIn(60_000, "x")],
    ['done\n{"wakeup":{"stop":true,"reason":"merged"}}', { kind: "stop", reason: "merged" }],
    ['{"wakeup":{"stop":true}}', { kind: "stop", reason: "no reason given" }],
  ])("%j", (answer, expected) => {
    expect(parseWakeupLine(answer)).toEqual(expected);
  });

  test.each([
    "",
    "wake me in 5 minutes",
    '{"wakeup":{"delaySeconds":300}} is what I would say',
    'I say {"wakeup":{"delaySeconds":300}}',
    '`{"wakeup":{"delaySeconds":300}}`',
    '> {"wakeup":{"delaySeconds":300}}',
    '```json\n{"wakeup":{"delaySeconds":300}}\n```',
    '{"wakeup":{"delaySeconds":300}}\nThat was it.',
    '{"wakeup":{"delaySeconds":300}',
    '{"wakeup":{"delaySeconds":"300"}}',
    '{"wakeup":{"delaySeconds":null}}',
    '{"wakeup":{"stop":"true"}}',
    '{"wakeup":300}',
    '{"wakeup":null}',
    '["wakeup"]',
    "null",
    "{",
  ])("is nothing else: %j", (answer) => {
    expect(parseWakeupLine(answer)).toBeNull();
  });
});

test.each([
  undefined,
  null,
  5,
  "5m",
  [],
  {},
  { delaySeconds: Number.NaN },
  { delaySeconds: Number.POSITIVE_INFINITY },
])("A17 %j is no wake-up", (value) => {
  expect(parseWakeup(value)).toBeNull();
});
