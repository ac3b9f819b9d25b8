import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LoopId } from "../../../src/core/loop.ts";
import { Schedule } from "../../../src/engine/time/schedule.ts";

type Action = { readonly id: LoopId; readonly at: number | null } | { readonly popAt: number };

const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      id: fc.constantFrom(..."abcdefgh").map((id) => id as LoopId),
      at: fc.option(fc.nat(30), { freq: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ popAt: fc.nat(30) }) },
);

/** The same without a heap: look through all of them. */
class Naive {
  readonly armed = new Map<LoopId, number>();

  first(): [LoopId, number] | null {
    const sorted = [...this.armed].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
    return sorted[0] ?? null;
  }
}

describe("A5 which task is next", () => {
  test("any arming and taking answers as a search through all would: longest waiting first, ties by id", () => {
    fc.assert(
      fc.property(fc.array(actions, { maxLength: 300 }), (script) => {
        const schedule = new Schedule();
        const naive = new Naive();
        for (const action of script) {
          if ("id" in action) {
            schedule.arm(action.id, action.at);
            if (action.at === null) naive.armed.delete(action.id);
            else naive.armed.set(action.id, action.at);
            expect(schedule.armedAt(action.id)).toBe(action.at);
          } else {
            const first = naive.first();
            const expected = first !== null && first[1] <= action.popAt ? first[0] : null;
            expect(schedule.popDue(action.popAt)).toBe(expected);
            if (expected !== null) naive.armed.delete(expected);
          }
          expect(schedule.nextAt()).toBe(naive.first()?.[1] ?? null);
          expect(schedule.size).toBe(naive.armed.size);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a task that is armed again and again does not grow the heap for ever", () => {
    const schedule = new Schedule();
    schedule.arm("z" as LoopId, 1e9);
    const before = process.memoryUsage().heapUsed;
    for (let at = 200_000; at > 0; at--) schedule.arm("a" as LoopId, at);
    expect(schedule.size).toBe(2);
    expect(schedule.popDue(1)).toBe("a");
    expect(schedule.nextAt()).toBe(1e9);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30e6);
  });
});
