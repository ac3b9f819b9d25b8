import { expect, test } from "vitest";
import { objectLines } from "../../../src/agents/stream/stream-events.ts";

test("the lines that start an object, wherever they are", () => {
  expect(objectLines('{"a":1}\nnoise\n{"b":2}\n\n [1]\n{"c":3}')).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  expect(objectLines("")).toEqual([]);
  expect(objectLines("{")).toEqual(["{"]);
});

test("J4 of far too many lines the first and the last ones, in their order and quickly", () => {
  const stream = `{"first":1}\n${"{}\n".repeat(20_000_000)}{"last":1}\n`;
  const before = performance.now();
  const lines = objectLines(stream);
  expect(performance.now() - before).toBeLessThan(1_000);
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([100_000, '{"first":1}', '{"last":1}']);
});

test("no line is told twice when the first and the last ones meet", () => {
  const all = Array.from({ length: 60_000 }, (_, number) => `{"n":${number}}`);
  expect(objectLines(all.join("\n"))).toEqual(all);
});
