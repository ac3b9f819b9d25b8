import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineSplitter } from "../../../src/agents/process/lines.ts";

function split(bytes: Uint8Array, cuts: readonly number[], maxBytes = 1_000, midLine = false): string[] {
  const splitter = createLineSplitter(maxBytes, midLine);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  // a Buffer, as readers use it: its `slice` is no copy
  const block = Buffer.alloc(bytes.length);
  let from = 0;
  const lines = ends.flatMap((end) => {
    // the same bytes again and again, as a reader with one block does
    block.set(bytes.subarray(from, end));
    const found = splitter.push(block.subarray(0, end - from));
    from = end;
    return found;
  });
  const rest = splitter.rest();
  return rest === null ? lines : [...lines, rest];
}

test("wherever the bytes are cut, the lines are the same", () => {
  const text = fc
    .array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("\n")))
    .map((parts) => parts.join(""));
  const property = fc.property(text, fc.array(fc.nat()), (written, cuts) => {
    const expected = written.split("\n").map((line) => line.replace(/\r$/, ""));
    // what ends in a newline has no further line
    if (expected.at(-1) === "") expected.pop();
    expect(split(Buffer.from(written), cuts, 100_000)).toEqual(expected);
  });
  fc.assert(property);
});

test("a line that is too long is skipped, and its neighbours are kept", () => {
  const bytes = Buffer.from(`one\n${"x".repeat(11)}\n${"y".repeat(10)}\n${"z".repeat(50)}`);
  const property = fc.property(fc.array(fc.nat()), (cuts) => {
    expect(split(bytes, cuts, 10)).toEqual(["one", "y".repeat(10)]);
  });
  fc.assert(property);
});

test("of more lines than are wanted the rest is skipped, up to the last line that is not complete", () => {
  const splitter = createLineSplitter(1_000);
  expect(splitter.push(Buffer.from("1\n2\n3\n4\nfi"), 2)).toEqual(["1", "2"]);
  expect(splitter.push(Buffer.from("ve\nsix\nse"), 0)).toEqual([]);
  expect(splitter.push(Buffer.from("ven\n8\n"), 2)).toEqual(["seven", "8"]);
  expect(splitter.rest()).toBeNull();
});

test("a reader that starts in the middle of a line starts with the next line", () => {
  expect(split(Buffer.from("half\nwhole\n"), [2], 1_000, true)).toEqual(["whole"]);
  expect(split(Buffer.from("\nwhole\n"), [], 1_000, true)).toEqual(["whole"]);
  expect(split(Buffer.from("half"), [], 1_000, true)).toEqual([]);
});
