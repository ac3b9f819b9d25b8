import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checksum } from "../../../src/store/journal/checksum.ts";
import { runs } from "../../support/runs.ts";

test("A13 the checksum is zlib's CRC-32 for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      expect(checksum(text)).toBe(crc32(text).toString(16).padStart(8, "0"));
    }),
    { numRuns: runs(500) },
  );
});
