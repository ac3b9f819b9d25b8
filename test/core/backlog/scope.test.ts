import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ScopeBudget, type ScopeFacts, scopeOf } from "../../../src/core/backlog/scope.ts";

const BUDGET: ScopeBudget = { maxFilesToRead: 3, maxLinesToWrite: 10, maxFilesToModify: 2 };
const change = (path: string, linesWritten = 1) => ({ path, linesWritten });
const facts = (fields: Partial<ScopeFacts> = {}): ScopeFacts => ({ changes: [], filesRead: [], ...fields });

describe("C9 scope", () => {
  test("the budget is kept up to its last file and line, and nothing is said", () => {
    const scope = scopeOf(
      BUDGET,
      facts({ changes: [change("a", 4), change("b", 6)], filesRead: ["a", "b", "c"] }),
    );
    expect(scope).toEqual({
      kind: "kept",
      filesRead: { used: 3, max: 3 },
      filesChanged: { used: 2, max: 2 },
      linesWritten: { used: 10, max: 10 },
      text: "",
    });
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
  ])("over it by %s is said with the figures", (_, fields, part) => {
    expect(scopeOf(BUDGET, facts(fields))).toMatchObject({
      kind: "over",
      text: `Over the scope budget: ${part}.`,
    });
  });

  test("explore may change nothing at all", () => {
    const budget = { maxFilesToRead: 15, maxLinesToWrite: 0, maxFilesToModify: 0 };
    expect(scopeOf(budget, facts()).kind).toBe("kept");
    expect(scopeOf(budget, facts({ changes: [change("a")] })).text).toBe(
      "Over the scope budget: 1 file changed (none allowed), 1 line written (none allowed).",
    );
  });

  test("what is in a .loop does not count, but what only looks like it does", () => {
    const paths = [".loop/progress.md", "./.loop/prd.json", "packages/a/.loop/prd.json", ".loop"];
    const scope = scopeOf(
      BUDGET,
      facts({ changes: paths.map((path) => change(path, 99)), filesRead: paths }),
    );
    expect(scope).toMatchObject({ kind: "kept", filesRead: { used: 0 }, filesChanged: { used: 0 } });
    expect(scopeOf(BUDGET, facts({ changes: [change(".loopy/a", 99)] })).kind).toBe("over");
    expect(scopeOf(BUDGET, facts({ changes: [change(".loop/../src/a", 99)] })).kind).toBe("over");
  });

  test("a file that was read twice, or by another spelling, is one file", () => {
    const filesRead = ["src/a.ts", "./src/a.ts", "src//a.ts", "src/b/../a.ts", "../src/a.ts"];
    expect(scopeOf(BUDGET, facts({ filesRead })).filesRead.used).toBe(2);
  });

  test("what is unknown is said, and rejects nothing", () => {
    expect(scopeOf(BUDGET, { changes: null, filesRead: null })).toEqual({
      kind: "kept",
      filesRead: { used: null, max: 3 },
      filesChanged: { used: null, max: 2 },
      linesWritten: { used: null, max: 10 },
      text: "How much was changed is unknown: there is no diff. How many files were read is unknown: the agent does not tell.",
    });
    const over = scopeOf(BUDGET, { changes: [change("a", 11)], filesRead: null });
    expect(over.kind).toBe("over");
    expect(over.text).toMatch(/^Over the scope budget: 11 lines.*\. How many files were read is unknown/);
  });

  test("more work never turns over into kept", () => {
    const path = fc.stringMatching(/^[a-z]{1,2}(?:\/[a-z.]{1,2})?$/);
    const work = fc.array(fc.record({ path, linesWritten: fc.nat(6) }), { maxLength: 6 });
    fc.assert(
      fc.property(work, work, fc.array(path), fc.array(path), (some, more, read, further) => {
        const before = scopeOf(BUDGET, { changes: some, filesRead: read });
        const after = scopeOf(BUDGET, { changes: [...some, ...more], filesRead: [...read, ...further] });
        expect([before.kind, after.kind]).not.toEqual(["over", "kept"]);
      }),
    );
  });
});
