import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMask, labelOf } from "../../../src/core/secrets/mask.ts";
import { createMaskStream, type MaskStream } from "../../../src/core/secrets/mask-stream.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { runs } from "../../support/runs.ts";
import { ENV_SECRETS, KNOWN, surroundings } from "../../support/secrets.ts";

/** Cuts the text at these places. */
function pieces(text: string, cuts: readonly number[]): readonly string[] {
  const places = cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b);
  return [...places, text.length].map((place, index) => text.slice(places[index - 1] ?? 0, place));
}

function maskPieces(stream: MaskStream, all: readonly string[]): string {
  return all.map((piece) => stream.push(piece)).join("") + stream.end();
}

const cutsOf = fc.array(fc.nat(), { maxLength: 12 });

describe("J7 a text that arrives in pieces is masked like the whole", () => {
  test.each(KNOWN)("$name, cut anywhere", ({ text }) => {
    const mask = createMask([]);
    const all = `before ${text} after\nnext line\n`;
    const masked = mask.text(all);
    const stream = createMaskStream(mask);
    for (let cut = 0; cut <= all.length; cut++) expect(maskPieces(stream, pieces(all, [cut]))).toBe(masked);
    expect(maskPieces(stream, [...all])).toBe(masked);
  });

  test("any text, in any pieces", () => {
    fc.assert(
      fc.property(ENV_SECRETS, fc.array(surroundings, { maxLength: 8 }), cutsOf, (secrets, parts, cuts) => {
        const mask = createMask(secrets);
        const text = parts
          .map((part, index) => part + (secrets[index % secrets.length]?.value ?? ""))
          .join("");
        const masked = maskPieces(createMaskStream(mask), pieces(text, cuts));
        expect(masked).toBe(mask.text(text));
        for (const { value } of secrets) expect(masked).not.toContain(value);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test("also a line that is longer than what the stream holds", () => {
    const long = fc.array(surroundings, { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(ENV_SECRETS, long, cutsOf, (secrets, parts, cuts) => {
        const mask = createMask(secrets);
        const text = parts.join(` ${secrets[0]?.value ?? ""} `).replaceAll("\n", " ");
        // more than any token of the test
        const masked = maskPieces(createMaskStream(mask, labelOf, 700), pieces(text, cuts));
        for (const { value } of secrets) expect(masked).not.toContain(value);
        expect(masked).toBe(mask.text(text));
      }),
      { numRuns: runs(400) },
    );
  });

  test("a complete line comes out at once, and a stream can be used again", () => {
    const stream = createMaskStream(createMask([{ name: "T", value: "q8Zr41xW" }]));
    expect(stream.push("one q8Zr41xW\n")).toBe("one [masked: T]\n");
    expect(stream.push("half q8Zr")).toBe("");
    expect(stream.push("41xW")).toBe("");
    expect(stream.push("\n")).toBe("half [masked: T]\n");
    expect([stream.push("rest q8Zr41xW"), stream.end()]).toEqual(["", "rest [masked: T]"]);
    expect(stream.push("again\n")).toBe("again\n");
  });

  test("a text after the begin of a key that is no key comes out", () => {
    const stream = createMaskStream(createMask([]));
    expect(stream.push(`${"-----BEGIN PRIVATE"} KEY-----\n`)).toBe("");
    expect(stream.push("It must not be in the repository.\n")).toBe(
      "[masked: private key]\nIt must not be in the repository.\n",
    );
  });

  test("takes time in proportion to the text, in pieces of any length", () => {
    const key = `${"-----BEGIN PRIVATE"} KEY-----\n${`${"A".repeat(64)}\n`.repeat(150)}`;
    for (const text of ["a".repeat(300_000), key.repeat(30), "word ".repeat(60_000), "a\n".repeat(150_000)]) {
      for (const size of [1, 7, 4096]) {
        const stream = createMaskStream(createMask([{ name: "T", value: "aaaaaaab1" }]));
        const all = Array.from({ length: Math.ceil(text.length / size) }, (_, n) =>
          text.slice(n * size, (n + 1) * size),
        );
        expect(cpuMs(() => maskPieces(stream, all))).toBeLessThan(1_500);
      }
    }
  });
});
