import { describe, expect, test } from "vitest";
import {
  countPattern,
  EDIT_LIMIT,
  ERROR_LIMIT,
  NO_BREAKERS,
  NOOP_LIMIT,
  STILL_LIMIT,
  STUCK_LIMIT,
  signatureOf,
  unmetLine,
} from "../../../src/core/goal/breakers.ts";
import { aRound, aTurn, BEFORE, failed, Play, POLICY, signalled } from "../../support/goals/goal-play.ts";
import { aCriterion, aGoal, anEvidence } from "../../support/goals/goals.ts";

/** The next look pauses it with this reason, and `continue` makes it work again with nothing counted. */
function expectTripped(play: Play, reason: string): void {
  expect(play.due()).toBeNull();
  expect(play.goal).toMatchObject({ status: "paused", pause: { code: "breaker", reason } });
  expect(play.goal.pause?.evidence).not.toEqual([]);
  expect(play.goal.pause?.goOn).toBe("loop continue b7c1d2e3");
  expect(play.kinds).toEqual(["notify"]);
  const { patterns } = play.goal.breakers;
  play.continue();
  expect(play.goal.breakers).toEqual({ ...NO_BREAKERS, patterns });
  expect(play.due()).toBe("work");
}

describe("B11 breakers pause at their threshold and not before", () => {
  test("the thresholds are those of the spec", () => {
    expect([STUCK_LIMIT, ERROR_LIMIT, EDIT_LIMIT]).toEqual([5, 3, 5]);
    expect(STILL_LIMIT).toBeGreaterThan(STUCK_LIMIT);
  });

  test("the same criteria unmet 5 times", () => {
    const play = Play.begun();
    play.work(aTurn(), ["lint"]);
    for (let n = 2; n <= STUCK_LIMIT; n++) {
      expect(play.due(), `turn ${n}`).toBe("work");
      play.turned(aTurn());
      play.checked(["lint"]);
    }
    expect(play.goal.breakers.stuckCount).toBe(5);
    expectTripped(play, "the same criteria were unmet 5 times in a row");
  });

  test("other criteria unmet, or a measurement that moves, start it anew", () => {
    const play = Play.begun();
    for (let n = 0; n < 4; n++) play.work(aTurn(), ["lint"]);
    play.work(aTurn(), ["tests"]);
    expect(play.goal.breakers).toMatchObject({ stuckCount: 1, lastUnmet: ["lint"] });
    const coverage = aCriterion("coverage", {
      check: { kind: "measure", command: "cov", comparison: ">=", target: 80 },
    });
    const measured = Play.begun({ criteria: [coverage] });
    for (let n = 0; n < 7; n++) {
      measured.due();
      measured.turned(aTurn());
      const round = aRound(measured.goal, []);
      const evidence = { coverage: { ...anEvidence({ met: false }), tree: round.tree, value: 70 + n } };
      measured.apply({ type: "job.checked", jobId: measured.jobId, round: { ...round, evidence } });
    }
    expect(measured.goal.breakers).toMatchObject({ stuckCount: 1, stillCount: 0 });
    expect(measured.goal.receipts.at(-1)?.moved).toEqual(["coverage 75 → 76"]);
  });

  test("the same error 3 times, whatever its numbers and paths", () => {
    const play = Play.begun();
    for (let n = 1; n <= ERROR_LIMIT; n++) {
      expect(play.due(), `turn ${n}`).toBe("work");
      play.turned(failed("fault", { reason: `exit ${n} in /tmp/run-${n}/log after ${n}00 ms` }));
      play.checked(n % 2 === 0 ? [] : ["lint"]);
    }
    expectTripped(play, "the same error 3 times in a row");
  });

  test("another error, or a turn that succeeds, starts it anew", () => {
    const play = Play.begun();
    const fail = (reason: string) => play.work(failed("fault", { reason }), []);
    fail("broken pipe");
    fail("broken pipe");
    fail("out of memory");
    expect(play.goal.breakers.errorCount).toBe(1);
    play.work(aTurn(), ["lint"]);
    expect(play.goal.breakers).toMatchObject({ errorCount: 0, lastError: null });
  });

  test("the same file edited 5 times in one iteration", () => {
    const edited = (count: number) => aTurn({ mostEdited: { path: "src/api.ts", count } });
    const play = Play.begun();
    play.work(edited(EDIT_LIMIT - 1), []);
    play.work(edited(EDIT_LIMIT), []);
    expectTripped(play, "one file was edited 5 times in one iteration");
  });

  test("no check moved in N iterations", () => {
    const play = Play.begun({ policy: { ...POLICY, stillLimit: 3 } });
    for (let n = 1; n <= 3; n++) {
      expect(play.due(), `turn ${n}`).toBe("work");
      play.turned(aTurn());
      play.checked([]);
    }
    expectTripped(play, "no check moved in 3 iterations");
  });

  test("B7 a claim of done without having done anything, three times", () => {
    const play = Play.begun({}, ["tests", "lint"]);
    const lie = signalled({ filesChanged: 0, files: [], tree: BEFORE, toolCalls: 0 });
    for (let n = 1; n <= NOOP_LIMIT; n++) {
      expect(play.due(), `claim ${n}`).toBe("work");
      play.turned(lie);
      play.checked("all", { tree: BEFORE });
      expect(play.goal.breakers.noopCount).toBe(n);
    }
    expectTripped(play, "the agent claimed to be done 3 times without doing anything");
  });

  test("a tripped breaker never takes away the look at the last turn: it can still be the end", () => {
    const play = Play.begun();
    play.work(signalled({ mostEdited: { path: "a", count: 99 } }), "all");
    expect(play.goal.end?.status).toBe("done");
  });
});

test.each([
  ["Error at /a/b/c.ts:12:5", "error at /x/y.ts:99:1", true],
  ["commit deadbeef1 failed", "commit 0badc0de failed", true],
  ["connection  refused", "Connection refused\n", true],
  ["connection refused", "connection reset", false],
])("B11 %j and %j are one error: %s", (a, b, same) => {
  expect(signatureOf(a) === signatureOf(b)).toBe(same);
});

test.each([
  ["never checked", undefined, "tests: never checked"],
  ["a note", anEvidence({ met: false, note: "it printed no number" }), "tests: it printed no number"],
  ["out of time", anEvidence({ met: false, timedOut: true }), "tests: ran out of time"],
  ["a signal", anEvidence({ met: false, exitCode: null, tail: "" }), "tests: exit by a signal"],
  ["its last line", anEvidence({ met: false, tail: "a\n1 failed\n" }), "tests: exit 1: 1 failed"],
  ["its value", anEvidence({ met: false, value: 71, tail: "71" }), "tests: 71: 71"],
] as const)("B11 the evidence of a breaker says why: %s", (_, found, line) => {
  expect(unmetLine(aGoal({ evidence: found === undefined ? {} : { tests: found } }), "tests")).toBe(line);
});

test("B18 the same few files again are a pattern, whatever their order; many files are none", () => {
  let breakers = NO_BREAKERS;
  for (const files of [["b", "a"], ["a", "b"], [], ["a", "b", "c", "d"]])
    breakers = countPattern(breakers, files);
  expect(breakers.patterns).toEqual({ "a, b": 2 });
});
