/** B7 globs mean what the package picomatch says they mean. Ours stays, because picomatch can take exponential time. */

import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesGlob } from "../../src/core/glob.ts";

// the package has no types
const picomatch = createRequire(import.meta.url)("picomatch") as (
  glob: string,
  options: object,
) => (path: string) => boolean;

const name = fc.constantFrom("a", "b", "ab", "src", ".hid", "x.ts", "y");
const nameGlob = fc.oneof(
  name,
  fc.constantFrom("*", "a*", "*b", "?", "[ab]", "[!a]", "{a,b}", "{src,ab}", "**"),
);
/** The last part has a wildcard: a plain name at the end also means all in that folder, which is a rule of our own. */
const last = fc.constantFrom("*.ts", "?.ts", "*", "{x,y}.t?", "[xy]*");
const globs = fc
  .tuple(fc.array(nameGlob, { minLength: 1, maxLength: 4 }), last)
  .map(([parts, end]) => [...parts, end].join("/"));
const paths = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));

test("B7 any glob matches the paths that picomatch matches", () => {
  let matched = 0;
  fc.assert(
    fc.property(globs, fc.array(paths, { minLength: 5, maxLength: 20 }), (glob, candidates) => {
      const isMatch = picomatch(glob, { dot: true, posix: true });
      for (const path of candidates) {
        if (isMatch(path)) matched++;
        expect([glob, path, matchesGlob(path, glob)]).toEqual([glob, path, isMatch(path)]);
      }
    }),
    { numRuns: 500 },
  );
  expect(matched).toBeGreaterThan(50);
});
