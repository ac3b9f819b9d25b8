/** B7 a diff says what the package diff says. Ours stays, because it bounds the time on texts with nothing in common. */
import { applyPatch, structuredPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { renderDiff } from "../../../src/checks/protection/line-diff.ts";

/** Few different lines, so that texts have much in common. Some texts lack the final newline. */
const texts = fc
  .tuple(
    fc.array(fc.constantFrom("a", "b", "c", "", " a", "-a", "+a", "@@ -1 +1 @@"), { maxLength: 40 }),
    fc.boolean(),
  )
  .map(([lines, isEnded]) => lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : ""));

function changedLines(before: string, after: string): number {
  const { hunks } = structuredPatch("f", "f", before, after);
  return hunks.flatMap(({ lines }) => lines).filter((line) => /^[-+]/.test(line)).length;
}

test("B7 the package turns the old text into the new text by our diff, which is as short as its own", () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const patch = renderDiff("f", before, after, Number.POSITIVE_INFINITY);
      if (before === after) {
        expect(patch).toBe("");
        return;
      }
      expect(applyPatch(before, patch)).toBe(after);
      const [, , ...body] = patch.split("\n");
      expect(body.filter((line) => /^[-+]/.test(line)).length).toBe(changedLines(before, after));
    }),
    { numRuns: 2_000 },
  );
});
