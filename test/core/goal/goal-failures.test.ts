/** B13: the class of a failure decides what it costs and what comes next. */
import { describe, expect, test } from "vitest";
import { loopWakeAt } from "../../../src/core/decide.ts";
import { remedyFor } from "../../../src/core/failures.ts";
import type { FailureClass } from "../../../src/core/goal/goal.ts";
import { aRound, aTurn, failed, Play, signalled } from "../../support/goals/goal-play.ts";
import { aCriterion, START } from "../../support/goals/goals.ts";

const MINUTE = 60_000;

/** The work turn fails like this; no round of checks is under way unless one was asked for. */
function failing(kind: FailureClass, times = 1, resetsAt: number | null = null): Play {
  const play = Play.begun();
  for (let n = 0; n < times; n++) {
    if (n > 0) {
      play.now = Math.max(play.now, loopWakeAt(play.goal) ?? play.now);
      if (play.due() === "checks") {
        play.checked([]);
        play.due();
      }
    } else play.due();
    expect(play.goal.job?.kind, `failure ${n + 1}`).toBe("work");
    play.turned(failed(kind, { resetsAt }));
  }
  return play;
}

describe("B13 what a failure costs", () => {
  test.each<[FailureClass, boolean]>([
    ["quota", false],
    ["auth", false],
    ["outage", false],
    ["timeout", false],
    ["denied", false],
    ["overflow", false],
    ["fault", true],
  ])("%s: an iteration and a step towards a breaker: %s", (kind, costs) => {
    const { goal } = failing(kind);
    expect(goal.iteration).toBe(Number(costs));
    expect(goal.breakers.errorCount).toBe(Number(costs));
    expect(goal.receipts).toHaveLength(1);
    expect(goal.receipts[0]).toMatchObject({ charged: costs, failure: { class: kind } });
  });

  test.each<[FailureClass, number]>([
    ["quota", 0],
    ["outage", 0],
    ["auth", 0],
    ["overflow", 0],
    ["timeout", 1],
    ["fault", 1],
  ])("%s without a price is %i of unknown price", (kind, unpriced) => {
    expect(failing(kind).goal.spent.unpriced).toBe(unpriced);
  });

  test("what it did cost is charged, whatever the class", () => {
    const play = Play.begun();
    play.due();
    play.turned({ ...failed("timeout"), usage: { costUsd: 2, inputTokens: 10, outputTokens: 5 } });
    expect(play.goal.spent).toMatchObject({ costUsd: 2, tokens: 15, unpriced: 0, timeMs: MINUTE + 5_000 });
  });
});

describe("B13 what comes next", () => {
  test("quota sleeps until the named time and a second, says so, and then works", () => {
    const resetsAt = START + 3 * 60 * MINUTE;
    const play = failing("quota", 1, resetsAt);
    expect(play.goal).toMatchObject({ status: "active", waitUntil: resetsAt + 1_000 });
    expect(play.kinds).toEqual(["notify"]);
    expect(loopWakeAt(play.goal)).toBe(resetsAt + 1_000);
    play.now = resetsAt;
    expect(play.tryDue().kind).toBe("none");
    play.now = resetsAt + 1_000;
    expect(play.due()).toBe("work");
    expect(play.goal).toMatchObject({ waitUntil: null, waitReason: null });
  });

  test("continue --now does not wait; a plain continue leaves it asleep", () => {
    const play = failing("quota", 1, START + 60 * MINUTE);
    expect(play.try({ type: "goal.continued", raise: {}, retryNow: false }).kind).toBe("none");
    play.continue({}, true);
    expect(play.goal).toMatchObject({ waitUntil: null, waitReason: null });
    expect(play.due()).toBe("work");
  });

  test("what is added while it sleeps does not wake it", () => {
    const play = failing("quota", 1, START + 60 * MINUTE);
    play.continue({ budgetUsd: 5 });
    expect(play.goal.waitUntil).toBe(START + 60 * MINUTE + 1_000);
  });

  test("outage backs off from 5 s, doubled each time, with jitter, to 10 minutes", () => {
    const failure = { class: "outage", reason: "503", resetsAt: null } as const;
    const waits = [0, 1, 2, 6, 7, 19].map((earlier) => {
      const [none, most] = [0, 1].map((spread) => remedyFor(failure, earlier, spread, 0));
      return none?.kind === "wait" && most?.kind === "wait" ? [none.until, most.until] : null;
    });
    expect(waits).toEqual([
      [5_000, 6_250],
      [10_000, 12_500],
      [20_000, 25_000],
      [320_000, 400_000],
      [600_000, 750_000],
      [600_000, 750_000],
    ]);
  });

  test.each<[string, number | null, number, number]>([
    ["named and ahead", 1_000_000, 0, 1_001_000],
    ["named and past: soon", -1, 0, MINUTE],
    ["named and past again: later", -1, 1, 2 * MINUTE],
    ["not named", null, 0, 5 * MINUTE],
    ["not named, many times: an hour", null, 9, 60 * MINUTE],
  ])("quota, %s", (_, resetsAt, earlier, until) => {
    expect(remedyFor({ class: "quota", reason: "limit", resetsAt }, earlier, 0.5, 0)).toMatchObject({
      kind: "wait",
      until,
    });
  });

  test.each<[FailureClass, number, string]>([
    ["auth", 1, "auth"],
    ["denied", 1, "denied"],
    ["timeout", 3, "failures"],
    ["overflow", 2, "failures"],
    ["outage", 21, "failures"],
    ["quota", 49, "failures"],
  ])("%s: patience ends with the %i. in a row", (kind, times, code) => {
    expect(failing(kind, times).goal).toMatchObject({ status: "paused", iteration: 0, pause: { code } });
    if (times > 1) expect(failing(kind, times - 1).goal.status).toBe("active");
  });

  test("another class, a success and a person's word each start the patience anew", () => {
    const play = failing("timeout", 2);
    play.due();
    play.checked([]);
    play.due();
    play.turned(failed("overflow"));
    expect(play.goal.breakers).toMatchObject({ freeClass: "overflow", freeFailures: 1 });
    expect(play.goal.status).toBe("active");
    const calm = failing("timeout", 2);
    calm.due();
    calm.checked([]);
    calm.work(aTurn(), []);
    expect(calm.goal.breakers).toMatchObject({ freeClass: null, freeFailures: 0 });
    const paused = failing("timeout", 3);
    paused.continue();
    expect(paused.goal.breakers.freeFailures).toBe(0);
  });

  test("timeout: what it left behind is checked, it cannot end by its word, and it is told", () => {
    const play = failing("timeout");
    expect(play.goal).toMatchObject({ phase: { kind: "checking" }, exitSignal: false });
    expect(play.goal.remarks[0]).toContain("The last turn was stopped");
    expect(play.due()).toBe("checks");
    expect(play.goal.phase).toMatchObject({ round: "extra" });
  });

  test("overflow: a new conversation", () => {
    const play = Play.begun({ context: "continue" });
    play.work(aTurn({ conversation: "c1", conversationCostUsd: 1 }), []);
    play.due();
    play.turned(failed("overflow"));
    expect(play.goal).toMatchObject({ conversation: null, conversationCostUsd: 0 });
    expect(play.due()).toBe("work");
  });

  test("fault: counts, is checked at once, and its signal is nothing", () => {
    const play = Play.begun();
    play.due();
    play.turned({ ...signalled(), failure: { class: "fault", reason: "exit 1", resetsAt: null } });
    expect(play.goal).toMatchObject({ exitSignal: false, job: { kind: "checks" } });
    expect(play.goal.phase).toMatchObject({ kind: "checking", round: "iteration" });
    expect(play.goal.remarks).toEqual(["The last turn failed: exit 1."]);
    play.checked("all");
    expect(play.goal.status).toBe("active");
  });

  test.each<FailureClass>(["quota", "outage", "overflow", "auth"])(
    "%s after files were changed: they are checked before anything else is done",
    (kind) => {
      const play = Play.begun();
      play.due();
      play.turned({ ...failed(kind), filesChanged: 2 });
      if (play.goal.status === "paused") play.continue();
      play.now = Math.max(play.now, loopWakeAt(play.goal) ?? 0);
      expect(play.due()).toBe("checks");
    },
  );

  test("a plan that fails is planned again; its faults count", () => {
    const play = Play.begun({ needsPlan: true });
    play.due();
    play.turned(failed("fault"));
    expect(play.goal).toMatchObject({ iteration: 1, job: null, steps: [], phase: { kind: "planning" } });
    expect(play.due()).toBe("plan");
    play.turned(failed("outage"));
    expect(play.goal.iteration).toBe(1);
    play.now = play.goal.waitUntil ?? 0;
    expect(play.due()).toBe("plan");
  });

  test("a short wait is not worth a notice", () => {
    expect(failing("outage").kinds).toEqual([]);
  });
});

describe("B6 a judge that could not be asked", () => {
  function judged(): Play {
    const ui = aCriterion("ui", { check: { kind: "judge", question: "Is it blue?" } });
    const play = Play.begun({ criteria: [aCriterion("tests"), ui], shape: "colleague" });
    play.due();
    play.answer("approve");
    play.due();
    play.turned(signalled());
    return play;
  }

  test("the round is taken again for the same turn, and no turn is spent on it", () => {
    const play = judged();
    const failure = { class: "quota", reason: "limit", resetsAt: play.now + 60 * MINUTE } as const;
    play.checked(["tests"], { failure });
    expect(play.goal).toMatchObject({
      status: "active",
      phase: { kind: "checking" },
      gate: null,
      iteration: 1,
    });
    expect(play.goal.waitUntil).toBe(failure.resetsAt + 1_000);
    expect(play.goal.breakers.stuckCount).toBe(0);
    play.now = failure.resetsAt + 1_000;
    expect(play.due()).toBe("checks");
    expect(play.goal.phase).toMatchObject({ round: "iteration" });
    play.checked("all");
    expect(play.goal.gate?.kind).toBe("G3");
  });

  test("its patience ends too", () => {
    const play = judged();
    play.checked(["tests"], { failure: { class: "auth", reason: "signed out", resetsAt: null } });
    expect(play.goal).toMatchObject({
      status: "paused",
      phase: { kind: "checking" },
      pause: { code: "auth" },
    });
  });

  test("what the judges of a failed round cost is charged", () => {
    const play = judged();
    const usage = { costUsd: 0.25, inputTokens: 1, outputTokens: 1 };
    const failure = { class: "outage", reason: "503", resetsAt: null } as const;
    const round = { ...aRound(play.goal, ["tests"]), usage, failure };
    play.apply({ type: "job.checked", jobId: play.jobId, round });
    expect(play.goal.spent.costUsd).toBeCloseTo(0.75);
  });
});
