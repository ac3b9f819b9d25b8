/** B5, B6, B7: what counts as proof, what takes its weight away, and who may give it back. */
import { describe, expect, test } from "vitest";
import type { GoalDraft } from "../../../src/core/goal/create.ts";
import { createGoal } from "../../../src/core/goal/create.ts";
import type { CheckRound, GoalEvent } from "../../../src/core/goal/event.ts";
import type { ProtectedChange } from "../../../src/core/goal/goal.ts";
import { movesBetween, verdictFor } from "../../../src/core/goal/proof.ts";
import {
  AFTER,
  aDraft,
  aRound,
  aTurn,
  BEFORE,
  Play,
  POLICY,
  signalled,
} from "../../support/goals/goal-play.ts";
import { aCriterion, aDoneGoal, aGoal, anEvidence, START } from "../../support/goals/goals.ts";

const CHANGE: ProtectedChange = {
  path: "test/api.test.ts",
  change: "changed",
  hash: "h1",
  criteria: ["tests"],
};
const CHANGED: Partial<CheckRound> = { protectedChanges: [CHANGE] };

function accepting(...changes: readonly { path: string; hash: string | null }[]): GoalEvent {
  return { type: "goal.accepted", changes: changes.map(({ path, hash }) => ({ path, hash })) };
}

/** Told once, and still changed: it waits for a person. */
function blocked(draft: Partial<GoalDraft> = {}): Play {
  const play = Play.begun(draft);
  play.work(signalled(), "all", CHANGED);
  play.work(signalled(), "all", CHANGED);
  return play;
}

describe("B7 a changed check", () => {
  test("is told once, then waits for a person; accepted, the checks run again and it is done", () => {
    const play = Play.begun();
    play.work(signalled(), "all", CHANGED);
    expect(play.goal).toMatchObject({ status: "active", protectedChanges: [CHANGE] });
    expect(play.goal.evidence.tests).toMatchObject({
      met: false,
      note: "files it depends on were changed: test/api.test.ts; see: loop accept b7c1d2e3",
    });
    expect(play.goal.evidence.lint?.met).toBe(true);
    expect(play.goal.remarks.join("\n")).toContain(
      "You changed files that the checks depend on: test/api.test.ts",
    );
    play.work(signalled(), "all", CHANGED);
    expect(play.goal.pause).toMatchObject({
      code: "integrity",
      evidence: ["test/api.test.ts"],
      goOn: "loop accept b7c1d2e3",
    });
    expect(play.refused({ type: "goal.continued", raise: {}, retryNow: false })).toContain(
      "loop accept b7c1d2e3",
    );
    play.apply(accepting(CHANGE));
    expect(play.goal).toMatchObject({ status: "active", pause: null, protectedChanges: [] });
    expect(play.goal.phase).toMatchObject({ kind: "checking", round: "extra" });
    expect(play.due()).toBe("checks");
    play.checked("all", CHANGED);
    expect(play.goal.end).toMatchObject({
      status: "done",
      verdict: "MONITOR",
      notes: ["a person accepted the change to test/api.test.ts"],
    });
  });

  test("put back by the agent: proved as if nothing had been", () => {
    const play = Play.begun();
    play.work(signalled(), "all", CHANGED);
    play.work(signalled(), "all");
    expect(play.goal.end).toMatchObject({ status: "done", notes: [] });
  });

  test("while something else is unmet too, it is told again and goes on", () => {
    const play = Play.begun();
    play.work(signalled(), ["tests"], CHANGED);
    play.work(signalled(), ["tests"], CHANGED);
    expect(play.goal.status).toBe("active");
  });

  test("what is accepted is the very content: another one blocks again", () => {
    const play = blocked();
    play.apply(accepting(CHANGE));
    play.due();
    const other = { ...CHANGE, hash: "h2" };
    play.checked("all", { protectedChanges: [other] });
    expect(play.goal).toMatchObject({ end: null, protectedChanges: [other] });
    expect(play.goal.evidence.tests?.met).toBe(false);
    play.work(signalled(), "all", { protectedChanges: [other] });
    expect(play.goal.pause?.code).toBe("integrity");
    play.apply(accepting(other));
    expect(play.goal.accepted).toEqual([{ path: CHANGE.path, hash: "h2" }]);
  });

  test.each<[string, GoalEvent]>([
    ["another content than was shown", accepting({ path: CHANGE.path, hash: "h9" })],
    ["a file that was not shown", accepting(CHANGE, { path: "test/b.test.ts", hash: "h1" })],
    ["a deletion instead of the content", accepting({ path: CHANGE.path, hash: null })],
    ["nothing", accepting()],
  ])("%s cannot be accepted", (_, event) => {
    const play = blocked();
    expect(play.refused(event)).toContain("run loop accept again");
    expect(play.goal).toMatchObject({ status: "paused", accepted: [] });
  });

  test("nothing is accepted or rolled back while something is under way", () => {
    const play = Play.begun();
    play.work(aTurn(), "all", CHANGED);
    play.due();
    expect(play.refused(accepting(CHANGE))).toContain("loop pause b7c1d2e3");
    const back: GoalEvent = { type: "goal.rolled-back", checkpoint: "c0ffee", tree: BEFORE };
    expect(play.refused(back)).toContain("loop pause b7c1d2e3");
  });

  test("accepting does not take a goal out of a pause that has another reason", () => {
    const play = Play.begun();
    play.work(aTurn(), "all", CHANGED);
    play.pause();
    play.apply(accepting(CHANGE));
    expect(play.goal).toMatchObject({
      status: "paused",
      phase: { kind: "checking" },
      pause: { code: "person" },
    });
  });

  test("a deleted file is accepted as its deletion", () => {
    const gone: ProtectedChange = { ...CHANGE, change: "deleted", hash: null };
    const play = Play.begun();
    play.work(signalled(), "all", { protectedChanges: [gone] });
    play.work(signalled(), "all", { protectedChanges: [gone] });
    play.apply(accepting(gone));
    play.due();
    play.checked("all", { protectedChanges: [gone] });
    expect(play.goal.end?.status).toBe("done");
  });

  test.each([[[]], [["of another goal"]]])(
    "one that belongs to no known criterion (%j) blocks them all",
    (criteria) => {
      const play = Play.begun();
      play.work(signalled(), "all", { protectedChanges: [{ ...CHANGE, criteria }] });
      expect(play.goal.end).toBeNull();
      expect(Object.values(play.goal.evidence).every(({ met }) => !met)).toBe(true);
    },
  );

  test("a person's yes to the end does not accept it", () => {
    const play = Play.begun();
    play.work(aTurn(), "all");
    play.work(aTurn(), "all");
    expect(play.goal.gate?.kind).toBe("proved");
    play.answer("approve");
    play.due();
    play.checked("all", CHANGED);
    expect(play.goal).toMatchObject({ status: "active", phase: { kind: "working" } });
  });
});

describe("B7 the record of the protected files", () => {
  test("tampered with: nothing counts, and only cancel or a rollback is left", () => {
    const play = Play.begun();
    play.work(signalled(), "all", { tampered: "its digest is another" });
    expect(play.goal.pause).toMatchObject({ code: "integrity", goOn: "loop cancel b7c1d2e3" });
    expect(play.goal.evidence.lint).toMatchObject({ met: false });
    expect(play.refused({ type: "goal.continued", raise: {}, retryNow: false })).toContain(
      "loop cancel b7c1d2e3",
    );
    play.refused(accepting(CHANGE));
    expect(play.tryDue().kind).toBe("none");
  });
});

describe("B4 rollback", () => {
  test("checks the files that are there now, forgets the conversation and tells the agent", () => {
    const play = blocked({ context: "continue" });
    play.apply({ type: "goal.rolled-back", checkpoint: "c0ffee1234567890", tree: BEFORE });
    expect(play.goal).toMatchObject({
      status: "active",
      pause: null,
      phase: { kind: "checking", round: "extra", from: { kind: "working" } },
      exitSignal: false,
      conversation: null,
    });
    expect(play.goal.remarks.at(-1)).toBe("A person put the files back to checkpoint c0ffee1234.");
    expect(play.due()).toBe("checks");
    play.checked([], { tree: BEFORE });
    expect(play.due()).toBe("work");
  });

  test("a paused goal stays paused", () => {
    const play = Play.begun();
    play.pause();
    play.apply({ type: "goal.rolled-back", checkpoint: "c0ffee", tree: BEFORE });
    expect(play.goal.status).toBe("paused");
    expect(play.tryDue().kind).toBe("none");
  });
});

describe("B6 evidence without weight", () => {
  test("an assumption blocks the end", () => {
    const quota = aCriterion("quota", { check: { kind: "assumption" } });
    const play = Play.begun({ criteria: [aCriterion("tests"), quota] });
    play.work(signalled(), "all");
    expect(play.goal.end).toBeNull();
    expect(play.goal.evidence.quota).toMatchObject({
      met: false,
      note: "no check proves it; an assumption blocks the end",
    });
  });

  test("a check that runs a changed file by its name says how that file is left free", () => {
    const product = {
      path: "src/sum.sh",
      change: "changed",
      hash: "h1",
      criteria: ["sum", "tests"],
    } as const;
    const sum = aCriterion("sum", {
      check: { kind: "command", command: "sh ./src/sum.sh 2 2 | grep -qx 4" },
    });
    const play = Play.begun({ criteria: [sum, aCriterion("tests")] });
    play.work(signalled(), "all", { protectedChanges: [product, { ...CHANGE, criteria: ["sum"] }] });
    expect(play.goal.evidence.sum?.note).toMatch(
      /accept b7c1d2e3; if this file is the product itself, start with --allow-changes 'src\/sum\.sh'$/,
    );
    expect(play.goal.evidence.tests?.note).toMatch(/src\/sum\.sh; see: loop accept b7c1d2e3$/);
  });

  test("checks that change the files each time prove nothing", () => {
    const play = Play.begun();
    play.work(signalled(), "all", { unstable: ["out.log", "b", "c", "d"] });
    expect(play.goal.end).toBeNull();
    expect(play.goal.evidence.tests?.note).toContain("out.log, b, c and 1 more changed while the checks ran");
  });

  test("a criterion that the round did not look at is unmet", () => {
    const play = Play.begun();
    play.due();
    play.turned(signalled());
    const round = { evidence: { tests: { ...anEvidence(), tree: AFTER } } };
    play.checked([], round);
    expect(play.goal.end).toBeNull();
    expect(play.goal.remarks.join()).toContain("not proved: lint");
  });
});

describe("B7 before any work", () => {
  test("what is green already is flagged, and named at the end", () => {
    const play = Play.begun({}, ["lint"]);
    expect(play.goal.baseline?.green).toEqual(["lint"]);
    expect(play.goal.evidence.lint?.note).toBe("green before any work");
    play.work(signalled(), "all");
    expect(play.goal.end).toMatchObject({ verdict: "SHIP", notes: ["green before any work: lint"] });
  });

  test("everything green at the start does not end it: work is done first, and the verdict is weaker", () => {
    const play = Play.begun({}, ["tests", "lint"]);
    expect(play.goal.status).toBe("active");
    play.work(signalled(), "all");
    expect(play.goal.end).toMatchObject({ status: "done", verdict: "MONITOR" });
  });

  const lie = signalled({ filesChanged: 0, files: [], tree: BEFORE, toolCalls: 0 });
  test.each<[string, Parameters<Play["work"]>, readonly string[], boolean]>([
    ["nothing at all", [lie, "all", { tree: BEFORE }], ["tests", "lint"], false],
    [
      "nothing, by an agent that tells no tools",
      [{ ...lie, toolCalls: null }, "all", { tree: BEFORE }],
      ["tests", "lint"],
      false,
    ],
    ["a file changed", [lie, "all", { tree: AFTER }], ["tests", "lint"], true],
    ["a tool used", [{ ...lie, toolCalls: 1 }, "all", { tree: BEFORE }], ["tests", "lint"], true],
    ["a check moved", [lie, "all", { tree: BEFORE }], ["tests"], true],
  ])("a claim of done counts with: %s", (_, work, green, counts) => {
    const play = Play.begun({}, green);
    play.work(...work);
    expect(play.goal.status === "ended").toBe(counts);
    if (!counts) expect(play.goal.remarks.join()).toContain("The end was refused");
  });

  test.each<[string, Partial<GoalDraft>]>([
    ["--exit-on proof", { policy: { ...POLICY, exitOn: "proof" } }],
    ["--yes", { policy: { ...POLICY, yes: true } }],
  ])("%s does not let a no-op end it either", (_, draft) => {
    const play = Play.begun(draft, ["tests", "lint"]);
    const idle = aTurn({ filesChanged: 0, files: [], tree: BEFORE, toolCalls: 0 });
    for (let n = 0; n < 3; n++) play.work(idle, "all", { tree: BEFORE });
    expect(play.due()).toBeNull();
    expect(play.goal.pause?.code).toBe("breaker");
  });
});

describe("B5 what must not be", () => {
  const TRUE = { mustNot: [{ name: "no secrets", tail: "scan\nfound AKIA…\n" }] };

  test("true before any work: pauses at once", () => {
    const play = Play.begun();
    const fresh = new Play({ ...play.goal, baseline: null, phase: { kind: "survey", next: "working" } });
    fresh.survey([], TRUE);
    expect(fresh.goal.pause).toMatchObject({
      code: "must-not",
      reason: "a must-not condition is true: no secrets",
      evidence: ["no secrets: found AKIA…"],
    });
    expect(fresh.goal.baseline).not.toBeNull();
  });

  test("true after a turn: pauses, also when everything is proved and signalled", () => {
    const play = Play.begun();
    play.work(signalled(), "all", TRUE);
    expect(play.goal).toMatchObject({ status: "paused", end: null, pause: { code: "must-not" } });
    // looked for again before a turn is paid for
    play.continue();
    expect(play.due()).toBe("checks");
    play.checked(["lint"]);
    expect(play.due()).toBe("work");
  });

  test("a confirmation from before is void", () => {
    const play = Play.begun({ shape: "colleague" });
    play.due();
    play.answer("approve");
    play.work(signalled(), "all");
    play.answer("approve");
    play.due();
    play.checked("all", TRUE);
    expect(play.goal).toMatchObject({ status: "paused", phase: { kind: "working" } });
  });
});

test.each([
  ["commands", [aCriterion("a")], {}, "SHIP"],
  ["a judge", [aCriterion("a", { check: { kind: "judge", question: "?" } })], {}, "SHIP"],
  [
    "a review",
    [aCriterion("a"), aCriterion("b", { check: { kind: "review", question: "?" } })],
    {},
    "MONITOR",
  ],
  ["irreversible", [aCriterion("a")], { reversibility: "1" as const }, "MONITOR"],
  ["accepted changes", [aCriterion("a")], { accepted: [{ path: "t", hash: "h" }] }, "MONITOR"],
  ["an assumption", [aCriterion("a", { check: { kind: "assumption" } })], {}, "RESEARCH"],
  ["no criteria", [], {}, "RESEARCH"],
  ["not proved", [aCriterion("a")], { tree: "another" }, "RESEARCH"],
] as const)("B15 the verdict with %s", (_, criteria, fields, verdict) => {
  expect(verdictFor(aDoneGoal({ criteria, ...fields }))).toBe(verdict);
});

test("B12 moves are told as people read them", () => {
  const goal = aGoal({ criteria: [aCriterion("a"), aCriterion("b"), aCriterion("c"), aCriterion("d")] });
  const before = {
    a: anEvidence({ met: false }),
    b: anEvidence(),
    c: anEvidence({ met: false, value: 71 }),
    d: anEvidence(),
  };
  const after = {
    a: anEvidence(),
    b: anEvidence({ met: false }),
    c: anEvidence({ value: 82 }),
    d: anEvidence(),
  };
  expect(movesBetween(goal, before, after)).toEqual(["a ✓", "b ✗", "c 71 → 82 ✓"]);
});

describe("B7 fewer tests than before any work", () => {
  const yes = { policy: { ...POLICY, yes: true } };
  const withTests = (play: Play, tests: number | undefined, green: "all" | readonly string[]) => {
    const round = aRound(play.goal, green);
    const evidence = Object.entries(round.evidence).map(([name, found]) => [
      name,
      name === "tests" && tests !== undefined ? { ...found, tests } : found,
    ]);
    return { evidence: Object.fromEntries(evidence) };
  };
  const begun = (tests: number | undefined) => {
    const play = new Play(createGoal(aDraft({ ...yes, criteria: [aCriterion("tests")] }), START).loop);
    play.due();
    play.survey([], { ...withTests(play, tests, []), tree: BEFORE });
    return play;
  };

  test.each([
    ["twelve before, twelve now", 12, 12, "done"],
    ["more than before", 12, 13, "done"],
    ["not told before", undefined, 3, "done"],
    ["eleven now", 12, 11, "asks"],
    ["not told any more", 12, undefined, "asks"],
  ] as const)("%s", (_, before, now, what) => {
    const play = begun(before);
    play.work(signalled(), "all", withTests(play, now, "all"));
    if (what === "done") {
      expect(play.goal.end?.status).toBe("done");
      return;
    }
    expect(play.goal).toMatchObject({ end: null, gate: { kind: "G3" } });
    expect(play.goal.gate?.details.join()).toContain("12 tests ran before any work");
    play.answer("approve");
    play.due();
    play.checked("all", withTests(play, now, "all"));
    expect(play.goal.end).toMatchObject({ status: "done", verdict: "MONITOR" });
    expect(play.goal.end?.notes.join()).toContain("fewer tests");
  });
});
