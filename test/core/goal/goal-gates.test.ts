import { describe, expect, test } from "vitest";
import { loopWakeAt } from "../../../src/core/decide.ts";
import type { GoalDraft } from "../../../src/core/goal/create.ts";
import { viewGoal } from "../../../src/core/views/goal-view.ts";
import { aTurn, claims, Play, POLICY, signalled } from "../../support/goals/goal-play.ts";
import { aCriterion, START } from "../../support/goals/goals.ts";

const COLLEAGUE: Partial<GoalDraft> = { shape: "colleague" };
const HOUR = 3_600_000;

function timed(gateDefault: "approve" | "reject"): Partial<GoalDraft> {
  return { shape: "colleague", policy: { ...POLICY, gateTimeoutMs: HOUR, gateDefault } };
}

/** A plan with these checks, at its G1. */
function planned(draft: Partial<GoalDraft>, checks: readonly string[]): Play {
  const play = Play.begun({ needsPlan: true, ...draft });
  expect(play.due()).toBe("plan");
  const report = { kind: "valid", claims: claims({ steps: ["find it", "fix it"], checks }) } as const;
  play.turned(aTurn({ report, filesChanged: 0, files: [] }));
  play.due();
  return play;
}

describe("B14 G1, after the plan", () => {
  test("shows steps and checks, holds nothing, and work begins with a yes", () => {
    const play = planned(COLLEAGUE, []);
    expect(play.goal.gate).toMatchObject({
      kind: "G1",
      question: "Decomposed into 2 steps. Proceed?",
      answerBy: null,
    });
    expect(play.goal.gate?.details).toEqual([
      "1. find it",
      "2. fix it",
      "check tests: `npm test` exits 0",
      "check lint: `npm test` exits 0",
    ]);
    expect(play.kinds).toEqual(["notify"]);
    expect(loopWakeAt(play.goal)).toBeNull();
    expect(play.goal.notice?.body).toContain("loop approve b7c1d2e3");
    play.answer("approve", "only touch src");
    expect(play.goal.remarks).toEqual(["A person said yes: only touch src"]);
    expect(play.due()).toBe("work");
  });

  test("a spec of one step is asked as one; what is green already is said", () => {
    const play = Play.begun(COLLEAGUE, ["lint"]);
    play.due();
    expect(play.goal.gate).toMatchObject({ kind: "G1", question: "This is one step. Proceed?" });
    expect(play.goal.gate?.details).toContain("lint is green already, before any work");
  });

  test("a no pauses; the plan is made anew, with the person's words", () => {
    const play = planned(COLLEAGUE, []);
    play.answer("reject", "too many steps");
    expect(play.goal).toMatchObject({
      status: "paused",
      steps: [],
      pause: { code: "rejected", reason: "a person said no to the plan: too many steps" },
    });
    play.continue();
    expect(play.due()).toBe("plan");
    expect(play.goal.remarks).toEqual(["A person said no: too many steps"]);
  });

  test.each([
    ["a colleague with --yes", { shape: "colleague", policy: { ...POLICY, yes: true } }],
    ["a tool", { shape: "tool" }],
  ] as const)("is skipped for %s", (_, draft) => {
    expect(Play.begun(draft).due()).toBe("work");
  });

  test("B6 checks that a plan proposes need a person even with --yes, and the survey sees them before any work", () => {
    const policy = { ...POLICY, yes: true };
    const play = planned({ criteria: [], policy }, ["types=tsc --noEmit", "no equals sign", "types=true"]);
    expect(play.goal.gate?.kind).toBe("G1");
    expect(play.goal.gate?.details).toContain("check proposed by the agent: types: `tsc --noEmit` exits 0");
    expect(play.goal.criteria).toEqual([]);
    play.answer("approve");
    expect(play.goal.criteria).toMatchObject([{ name: "types", source: "plan" }]);
    expect(play.goal.proposed).toEqual([]);
    play.survey(["types"]);
    expect(play.goal.baseline?.green).toEqual(["types"]);
    expect(play.due()).toBe("work");
  });

  test("B6 proposals of a plan that nobody has to approve are not taken", () => {
    const play = planned({}, ["types=true"]);
    expect(play.goal.gate).toBeNull();
    expect(play.goal.proposed).toEqual([]);
    expect(play.goal.criteria.map(({ name }) => name)).toEqual(["tests", "lint"]);
  });

  test("B6 a proposal cannot take the place of a person's check", () => {
    const play = planned(COLLEAGUE, ["tests=true", "types=tsc"]);
    expect(play.goal.proposed.map(({ name }) => name)).toEqual(["types"]);
  });

  test("B7 files that were changed while it planned are shown before they become the start", () => {
    const play = Play.begun({ needsPlan: true, ...COLLEAGUE });
    play.due();
    play.turned(aTurn({ files: ["test/api.test.ts"] }));
    play.due();
    expect(play.goal.gate?.details).toContain("changed during planning: test/api.test.ts");
  });

  test("B9 no criterion and no proposal: pauses, because nothing can prove the end", () => {
    const play = planned({ criteria: [] }, []);
    expect(play.goal).toMatchObject({ status: "paused", gate: null });
    expect(play.goal.pause?.goOn).toContain("--check");
  });
});

describe("B14 G2, after each iteration", () => {
  function atG2(draft: Partial<GoalDraft> = COLLEAGUE): Play {
    const play = Play.begun({ steps: ["find it", "fix it"], ...draft });
    if (play.due() === null) play.answer("approve");
    play.work(aTurn(), ["lint"]);
    return play;
  }

  test("asks with the evidence; yes goes on", () => {
    const play = atG2();
    expect(play.goal.gate).toMatchObject({
      kind: "G2",
      question: "find it complete. Continue?",
      details: ["✗ tests (execution output)", "✓ lint (execution output)"],
    });
    expect(play.due()).toBeNull();
    play.answer("approve");
    expect(play.due()).toBe("work");
  });

  test("no pauses, and continue goes on", () => {
    const play = atG2();
    play.answer("reject");
    expect(play.goal.pause).toMatchObject({ code: "rejected", reason: "a person said no to continuing" });
    play.continue();
    expect(play.due()).toBe("work");
  });

  test("is not asked with --yes or of a tool", () => {
    expect(atG2({ shape: "colleague", policy: { ...POLICY, yes: true } }).goal.gate).toBeNull();
    expect(atG2({ shape: "tool" }).goal.gate).toBeNull();
  });

  test("an answer to another question is refused and names the one that stands", () => {
    const play = atG2();
    const wrong = { type: "goal.answered", gate: "G3", answer: "approve", note: null } as const;
    expect(play.refused(wrong)).toBe(
      "Goal b7c1d2e3 does not ask this question. It asks: find it complete. Continue?",
    );
    play.answer("approve");
    expect(play.refused({ ...wrong, gate: "G2" })).toBe("Goal b7c1d2e3 does not ask this question.");
  });
});

describe("B14 G3, before the end is claimed", () => {
  function atG3(draft: Partial<GoalDraft> = COLLEAGUE): Play {
    const play = Play.begun(draft);
    play.due();
    play.answer("approve");
    play.work(signalled(), "all");
    expect(play.goal.gate).toMatchObject({ kind: "G3", question: "All criteria met. Confirm done?" });
    return play;
  }

  test("ends only with a yes, after one more look", () => {
    const play = atG3();
    expect(play.goal.status).toBe("active");
    play.answer("approve");
    expect(play.goal.status).toBe("active");
    expect(play.due()).toBe("checks");
    play.checked("all");
    expect(play.goal.end).toMatchObject({ status: "done", notes: [] });
  });

  test("a no without words says that a person looked", () => {
    const play = atG3();
    play.answer("reject");
    expect(play.goal.remarks.at(-1)).toBe("A person reviewed the work and says that it is not done.");
  });

  test("pause and continue put the question again, with no turn in between", () => {
    const play = atG3();
    play.pause();
    expect(play.goal.gate).toBeNull();
    play.continue();
    expect(play.due()).toBe("checks");
    play.checked("all");
    expect(play.goal.gate?.kind).toBe("G3");
    expect(play.goal.iteration).toBe(1);
  });

  test("a rollback takes the question back: it was about other files", () => {
    const play = atG3();
    play.apply({ type: "goal.rolled-back", checkpoint: "c0ffee1234567", tree: "tree-0" });
    expect(play.goal.gate).toBeNull();
    expect(play.due()).toBe("checks");
    play.checked([], { tree: "tree-0" });
    expect(play.goal).toMatchObject({ status: "active", phase: { kind: "working" } });
  });
});

describe("B14 the default answer", () => {
  test("is taken when its time has come, and not before", () => {
    const play = Play.begun(timed("approve"));
    play.due();
    expect(play.goal.gate?.answerBy).toBe(START + HOUR);
    expect(loopWakeAt(play.goal)).toBe(START + HOUR);
    play.now = START + HOUR - 1;
    expect(play.tryDue().kind).toBe("none");
    play.now = START + HOUR;
    expect(play.due()).toBe("work");
    expect(play.goal.remarks).toEqual([]);
  });

  test("reject pauses, and does not say that it was a person", () => {
    const play = Play.begun(timed("reject"));
    play.due();
    play.now = START + HOUR;
    play.due();
    expect(play.goal.pause).toMatchObject({
      code: "rejected",
      reason: "nobody answered in time, so the plan was rejected",
      unanswered: true,
    });
    expect(viewGoal(play.goal).pause).not.toHaveProperty("unanswered");
  });

  test("a person who says these very words has answered", () => {
    const play = Play.begun({ shape: "colleague" });
    play.due();
    play.answer("reject", "nobody answered in time");
    expect(play.goal.pause).toMatchObject({
      code: "rejected",
      reason: "a person said no to the plan: nobody answered in time",
    });
    expect(play.goal.pause).not.toHaveProperty("unanswered");
  });

  test("an answer that comes later finds no question", () => {
    const play = Play.begun(timed("approve"));
    play.due();
    play.now = START + HOUR;
    play.tryDue();
    play.refused({ type: "goal.answered", gate: "G1", answer: "reject", note: null });
  });
});

describe("B4 the pre-check", () => {
  test("a no pauses; going on asks a second agent again", () => {
    const play = Play.begun({ reversibility: "1", criteria: [aCriterion("tests")] });
    play.due();
    play.turned(aTurn({ verdict: { kind: "pass", reason: null } }));
    play.answer("reject", "not today");
    expect(play.goal.pause?.reason).toBe("a person said no to an irreversible change: not today");
    play.continue();
    expect(play.due()).toBe("precheck");
  });
});
