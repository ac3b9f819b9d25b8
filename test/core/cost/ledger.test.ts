import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  EMPTY_FOLD,
  foldLedger,
  forgetSegments,
  type LedgerEntry,
  type LedgerFold,
  NOTHING_USED,
  recallIds,
  type ToolEntry,
  type UsageEntry,
  viewLedger,
} from "../../../src/core/cost/ledger.ts";
import { totalsOf } from "../../support/ledger.ts";

function usage(id: string, more: Partial<UsageEntry> = {}): UsageEntry {
  return {
    kind: "usage",
    id,
    at: 1,
    session: "s1",
    model: "m",
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: 100,
    cacheWriteTokens: 20,
    ...more,
  };
}

function tool(id: string, more: Partial<ToolEntry> = {}): ToolEntry {
  return { kind: "tool", id, at: 1, session: "s1", tool: "Bash", ok: true, ...more };
}

function fold(entries: readonly LedgerEntry[], before: LedgerFold = EMPTY_FOLD, segment = 1): LedgerFold {
  return foldLedger(before, [{ segment, entries }]);
}

describe("D7 what was used", () => {
  test("D7 is told per session, per loop and per story of a loop", () => {
    const view = viewLedger(
      fold([
        usage("a", { loop: "l1", story: "US-1", costUsd: 0.5 }),
        usage("b", { loop: "l2", story: "US-1" }),
        usage("c", { session: "s2", loop: "l1" }),
        usage("d", { session: "s2" }),
        tool("t1", { loop: "l1", story: "US-1" }),
        tool("t2", { loop: "l1", story: "US-1", ok: false }),
      ]),
    );
    const one = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 20, turns: 1 };
    const story = {
      ...NOTHING_USED,
      ...one,
      addedTokens: 35,
      costUsd: 0.5,
      toolCalls: 2,
      failedToolCalls: 1,
    };
    expect(view.stories).toEqual([
      { loop: "l1", story: "US-1", ...story },
      { loop: "l2", story: "US-1", ...NOTHING_USED, ...one, addedTokens: 35 },
    ]);
    expect(view.loops.l1).toMatchObject({ turns: 2, toolCalls: 2, inputTokens: 20, costUsd: 0.5 });
    expect(view.sessions.s1).toMatchObject({ turns: 2, toolCalls: 2 });
    expect(view.sessions.s2).toMatchObject({ turns: 2, toolCalls: 0, costUsd: null });
  });

  test("D7 of an id that comes again the larger figures stand, where it was first counted", () => {
    const all = fold([
      usage("a", { outputTokens: 1, loop: "l1" }),
      usage("a", { outputTokens: 90, session: "fork", loop: "l2" }),
      usage("a", { outputTokens: 4, inputTokens: 3 }),
    ]);
    expect(totalsOf(all, { loop: "l1" })).toMatchObject({ outputTokens: 90, inputTokens: 10, turns: 1 });
    expect(totalsOf(all, { session: "fork" })).toEqual(NOTHING_USED);
  });

  test("D7 counts a text when it comes in, not when it is read again or put into the cache again", () => {
    const all = fold([
      usage("a", { addedTokens: 300, cacheReadTokens: 50_000 }),
      usage("b", { addedTokens: 200, cacheWriteTokens: 60_000 }),
    ]);
    expect(totalsOf(all).addedTokens).toBe(500);
  });

  test("D7 a name that objects have of their own is a name like any other", () => {
    const view = viewLedger(fold([usage("a", { session: "__proto__", loop: "constructor" })]));
    expect(Object.keys(view.sessions)).toEqual(["__proto__"]);
    expect(view.loops.constructor).toMatchObject({ turns: 1 });
  });
});

/** Amounts of one id grow; its owner stays. Cost in quarters, so that sums are exact. */
const entries = fc.array(
  fc.oneof(
    fc
      .record({
        n: fc.nat(5),
        outputTokens: fc.nat(50),
        cacheWriteTokens: fc.nat(9),
        quarters: fc.nat(8),
        priced: fc.boolean(),
      })
      .map(({ n, quarters, priced, ...amounts }) =>
        usage(`u${n}`, {
          session: `s${n % 3}`,
          loop: `l${n % 2}`,
          ...amounts,
          ...(priced ? { costUsd: quarters / 4 } : {}),
        }),
      ),
    fc.nat(5).map((n) => tool(`t${n}`, { loop: `l${n % 2}`, ok: n % 2 === 0 })),
  ),
  { maxLength: 40 },
);

describe("D7 H1 the order of lines", () => {
  test("D7 H1 makes no difference, nor do repetitions", () => {
    fc.assert(
      fc.property(entries, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (list, random) => {
        const keyed = [...list, ...list].map((entry) => [random.next().value, entry] as const);
        const mixed = keyed.sort(([a], [b]) => a - b).map(([, entry]) => entry);
        expect(totals(fold(mixed))).toEqual(totals(fold(list)));
      }),
    );
  });

  test("D7 H1 makes no difference when it is folded in parts, or what was forgotten is recalled", () => {
    fc.assert(
      fc.property(entries, entries, (early, late) => {
        const before = forgetSegments(fold(early), 2);
        expect(before.counted.size).toBe(0);
        const ids = new Set(late.map(({ id }) => id));
        const known = recallIds(
          before,
          early.filter(({ id }) => ids.has(id)),
          2,
        );
        const whole = totals(fold([...early, ...late]));
        expect(totals(fold(late, known, 2))).toEqual(whole);
        expect(totals(fold(late, fold(early)))).toEqual(whole);
      }),
    );
  });

  function totals(all: LedgerFold) {
    return ["s0", "s1", "s2"].flatMap((session) =>
      ["l0", "l1"].map((loop) => totalsOf(all, { session, loop })),
    );
  }
});
