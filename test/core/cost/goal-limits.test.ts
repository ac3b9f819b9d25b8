import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, limitReached, nearLimits } from "../../../src/core/cost/limits.ts";
import type { Raise } from "../../../src/core/goal/event.ts";
import type { Goal, Limits } from "../../../src/core/goal/goal.ts";
import { aTurn, Play, signalled } from "../../support/goals/goal-play.ts";
import { aGoal, aReceipt, LIMITS, NOTHING_SPENT } from "../../support/goals/goals.ts";

const costing = (costUsd: number) => aTurn({ usage: { costUsd, inputTokens: 0, outputTokens: 0 } });

function limited(limits: Partial<Limits>): Play {
  return Play.begun({ limits: { ...LIMITS, ...limits } });
}

describe("B12 a turn that would pass the cap is not started", () => {
  test("the defaults are those of the spec", () => {
    expect(DEFAULT_LIMITS).toEqual({ budgetUsd: 25, iterations: 10, timeMs: null, tokens: null });
  });

  const last = (costUsd: number, tokens = 0) => aReceipt({ costUsd, inputTokens: tokens, outputTokens: 0 });
  test.each<[string, Partial<Goal>, string | null]>([
    ["nothing used", {}, null],
    ["9 of 10 iterations", { iteration: 9 }, null],
    ["10 of 10 iterations", { iteration: 10 }, "iterations"],
    ["$24.99 of $25, unknown turns", { spent: { ...NOTHING_SPENT, costUsd: 24.99 } }, null],
    ["$25 of $25", { spent: { ...NOTHING_SPENT, costUsd: 25 } }, "budget"],
    ["$20, a turn takes $5", { spent: { ...NOTHING_SPENT, costUsd: 20 }, receipts: [last(5)] }, null],
    [
      "$20.01, a turn takes $5",
      { spent: { ...NOTHING_SPENT, costUsd: 20.01 }, receipts: [last(5)] },
      "budget",
    ],
    [
      "the dear turn is four turns ago",
      { spent: { ...NOTHING_SPENT, costUsd: 21 }, receipts: [last(9), last(1), last(1), last(1)] },
      null,
    ],
    ["tokens without a limit", { spent: { ...NOTHING_SPENT, tokens: 9e9 } }, null],
    ["tokens below", { limits: { ...LIMITS, tokens: 100 }, spent: { ...NOTHING_SPENT, tokens: 99 } }, null],
    [
      "tokens reached",
      { limits: { ...LIMITS, tokens: 100 }, spent: { ...NOTHING_SPENT, tokens: 100 } },
      "tokens",
    ],
    [
      "tokens that a turn would pass",
      {
        limits: { ...LIMITS, tokens: 100 },
        spent: { ...NOTHING_SPENT, tokens: 60 },
        receipts: [last(0, 41)],
      },
      "tokens",
    ],
    [
      "time below",
      { limits: { ...LIMITS, timeMs: 60_000 }, spent: { ...NOTHING_SPENT, timeMs: 59_999 } },
      null,
    ],
    [
      "time reached",
      { limits: { ...LIMITS, timeMs: 60_000 }, spent: { ...NOTHING_SPENT, timeMs: 60_000 } },
      "time",
    ],
  ])("%s: %s", (_, fields, code) => {
    expect(limitReached(aGoal(fields))?.code ?? null).toBe(code);
    const play = new Play(aGoal({ ...fields, warned: ["budget", "iterations", "tokens", "time"] }));
    expect(play.due()).toBe(code === null ? "work" : null);
    if (code !== null) {
      expect(play.goal).toMatchObject({ status: "paused", pause: { code } });
      expect(play.goal.pause?.goOn).toContain("loop continue b7c1d2e3 --");
    }
  });

  test("the last turn that is allowed is checked all the same, and can be the end", () => {
    const play = limited({ iterations: 1 });
    play.work(signalled(), "all");
    expect(play.goal.end?.status).toBe("done");
  });

  test("iterations: exactly that many turns", () => {
    const play = limited({ iterations: 2 });
    play.work(aTurn(), []);
    play.work(aTurn(), ["lint"]);
    expect(play.due()).toBeNull();
    expect(play.goal).toMatchObject({
      iteration: 2,
      pause: { code: "iterations", reason: "2 of 2 iterations are used" },
    });
  });

  test("a plan and a pre-check are turns too: none is started over the budget", () => {
    const spent = { ...NOTHING_SPENT, costUsd: 25 };
    for (const kind of ["planning", "pre-check"] as const)
      expect(new Play(aGoal({ phase: { kind }, spent })).due()).toBeNull();
  });
});

describe("B12 continue adds", () => {
  test.each<[Raise, Partial<Limits>]>([
    [{ budgetUsd: 25 }, { budgetUsd: 50 }],
    [{ iterations: 5 }, { iterations: 15 }],
    [
      { timeMs: 1_000, tokens: 10 },
      { timeMs: 61_000, tokens: 110 },
    ],
    [
      { budgetUsd: 75, iterations: 40 },
      { budgetUsd: 100, iterations: 50 },
    ],
  ])("%o", (raise, expected) => {
    const limits = { ...LIMITS, timeMs: 60_000, tokens: 100 };
    for (const type of ["goal.continued", "goal.raised"] as const) {
      const play = new Play(aGoal({ limits }));
      play.apply(type === "goal.raised" ? { type, raise } : { type, raise, retryNow: false });
      expect(play.goal.limits).toEqual({ ...limits, ...expected });
    }
  });

  test("where there was no limit it is added to what is used", () => {
    const play = new Play(aGoal({ spent: { ...NOTHING_SPENT, tokens: 500, timeMs: 7_000 } }));
    play.continue({ tokens: 100, timeMs: 1_000 });
    expect(play.goal.limits).toMatchObject({ tokens: 600, timeMs: 8_000 });
    expect(play.due()).toBe("work");
  });

  test.each<[Raise, string]>([
    [{ budgetUsd: 75.01 }, "at most $100.00"],
    [{ iterations: 41 }, "at most 50"],
  ])("%o is refused, and changes nothing", (raise, words) => {
    const play = new Play(aGoal());
    const before = play.goal;
    expect(play.refused({ type: "goal.continued", raise, retryNow: false })).toContain(words);
    expect(play.refused({ type: "goal.raised", raise })).toContain(words);
    expect(play.goal).toBe(before);
  });

  test("going on at a limit without adding is refused, with the flag; with enough it goes on", () => {
    const play = limited({ iterations: 1 });
    play.work(aTurn(), []);
    play.due();
    expect(play.goal.pause?.goOn).toBe("loop continue b7c1d2e3 --iterations=5");
    expect(play.refused({ type: "goal.continued", raise: {}, retryNow: false })).toContain("--iterations=5");
    play.continue({ iterations: 1 });
    expect(play.due()).toBe("work");
  });

  test("a goal that runs and is given nothing more is left alone", () => {
    const play = Play.begun();
    expect(play.try({ type: "goal.continued", raise: {}, retryNow: false }).kind).toBe("none");
  });

  test("what is raised while a turn runs does not touch the turn", () => {
    const play = Play.begun();
    play.due();
    const { job } = play.goal;
    play.continue({ budgetUsd: 1 });
    expect(play.goal.job).toEqual(job);
    expect(play.kinds).toEqual([]);
  });
});

describe("B12 warned at 80 %", () => {
  test.each<[string, Partial<Goal>, string[]]>([
    ["below", { iteration: 7, spent: { ...NOTHING_SPENT, costUsd: 19.99 } }, []],
    ["iterations", { iteration: 8 }, ["iterations"]],
    ["budget", { spent: { ...NOTHING_SPENT, costUsd: 20 } }, ["budget"]],
    [
      "tokens and time",
      {
        limits: { ...LIMITS, tokens: 10, timeMs: 1_000 },
        spent: { ...NOTHING_SPENT, tokens: 8, timeMs: 800 },
      },
      ["tokens", "time"],
    ],
    ["said already", { iteration: 8, warned: ["iterations"] }, []],
  ])("%s", (_, fields, names) => {
    expect(nearLimits(aGoal(fields)).map(({ name }) => name)).toEqual(names);
  });

  test("is said once, and the work goes on; raised, it can be said again", () => {
    const play = limited({ budgetUsd: 10 });
    for (const green of [[], ["lint"], [], ["lint"]]) play.work(costing(2), green);
    expect(play.tryDue().kind).toBe("change");
    expect(play.effects).toMatchObject([
      { kind: "notify", notice: { kind: "near-limit", body: "$8.00 of $10.00 used." } },
    ]);
    expect(play.goal).toMatchObject({ job: null, warned: ["budget"] });
    expect(play.tryDue().kind).toBe("change");
    expect(play.goal.job?.kind).toBe("work");
    play.continue({ budgetUsd: 2 });
    expect(play.goal.warned).toEqual([]);
    play.turned(costing(2));
    play.checked([]);
    play.tryDue();
    expect(play.effects).toMatchObject([{ notice: { kind: "near-limit", body: "$10.00 of $12.00 used." } }]);
  });
});
