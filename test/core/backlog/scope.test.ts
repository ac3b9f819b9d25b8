import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ScopeBudget } from "../../../src/core/backlog/backlog.ts";
import { type ScopeFacts, whyOverScope } from "../../../src/core/backlog/scope.ts";

const BUDGET: ScopeBudget = { maxFilesToRead: 3, maxLinesToWrite: 10, maxFilesToModify: 2 };
const change = (path: string, linesWritten = 1) => ({ path, linesWritten });
const why = (fields: Partial<ScopeFacts> = {}, budget = BUDGET) =>
  whyOverScope(budget, { changes: [], filesRead: [], ...fields });

describe("C9 scope", () => {
  test("an attempt may use the budget up to its last file and line", () => {
    expect(why({ changes: [change("a", 4), change("b", 6)], filesRead: ["a", "b", "c"] })).toBeNull();
  });

  test.each<[string, Partial<ScopeFacts>, string]>([
    ["lines", { changes: [change("a", 11)] }, "11 lines written (at most 10 allowed)"],
    ["files", { changes: [change("a"), change("b"), change("c", 0)] }, "3 files changed (at most 2 allowed)"],
    ["reading", { filesRead: ["a", "b", "c", "d"] }, "4 files read (at most 3 allowed)"],
    [
      "all",
      { changes: [change("a", 9), change("b", 9), change("c", 9)], filesRead: ["a", "b", "c", "d"] },
      "3 files changed (at most 2 allowed), 27 lines written (at most 10 allowed), 4 files read (at most 3 allowed)",
    ],
  ])("the reason has the figures: %s", (_, fields, part) => {
    expect(why(fields)).toBe(`Over the scope budget: ${part}.`);
  });

  test("explore may change nothing at all", () => {
    const budget = { maxFilesToRead: 15, maxLinesToWrite: 0, maxFilesToModify: 0 };
    expect(why({}, budget)).toBeNull();
    expect(why({ changes: [change("a")] }, budget)).toBe(
      "Over the scope budget: 1 file changed (none allowed), 1 line written (none allowed).",
    );
  });

  test("files in a .loop folder do not count, but files that only look like it do", () => {
    const paths = [".loop/progress.md", "./.loop/prd.json", "packages/a/.loop/prd.json", ".loop"];
    expect(why({ changes: paths.map((path) => change(path, 99)), filesRead: paths })).toBeNull();
    expect(why({ changes: [change(".loopy/a", 99)] })).not.toBeNull();
    expect(why({ changes: [change(".loop/../src/a", 99)] })).not.toBeNull();
  });

  test("a file that was read twice, or by another spelling, is one file", () => {
    const filesRead = ["src/a.ts", "./src/a.ts", "src//a.ts", "src/b/../a.ts", "../src/a.ts"];
    expect(why({ filesRead })).toBeNull();
    expect(why({ filesRead }, { ...BUDGET, maxFilesToRead: 1 })).toContain("2 files read");
  });

  test("an unknown number of files read rejects nothing, and the reason names it", () => {
    expect(why({ filesRead: null })).toBeNull();
    expect(why({ changes: [change("a", 11)], filesRead: null })).toMatch(
      /^Over the scope budget: 11 lines.*\. The number of files read is unknown/,
    );
  });

  test("more work never gets back into the budget", () => {
    const path = fc.stringMatching(/^[a-z]{1,2}(?:\/[a-z.]{1,2})?$/);
    const work = fc.array(fc.record({ path, linesWritten: fc.nat(6) }), { maxLength: 6 });
    fc.assert(
      fc.property(work, work, fc.array(path), fc.array(path), (some, more, read, further) => {
        const before = why({ changes: some, filesRead: read });
        const after = why({ changes: [...some, ...more], filesRead: [...read, ...further] });
        expect(before !== null && after === null).toBe(false);
      }),
    );
  });
});
