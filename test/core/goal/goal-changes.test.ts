/** B15: what surfaces are told of a goal, from one look to the next. */
import { describe, expect, test } from "vitest";
import { createGoal } from "../../../src/core/goal/create.ts";
import type { Goal } from "../../../src/core/goal/goal.ts";
import { changesOf, type GoalChange } from "../../../src/core/views/goal-changes.ts";
import { aDraft, aTurn, claims, failed, Play, signalled } from "../../support/goals/goal-play.ts";
import { LIMITS, START } from "../../support/goals/goals.ts";

/** Everything that is told from here on, in words. */
function watch(play: Play): { told: () => string[] } {
  let before: Goal = play.goal;
  return {
    told: () => {
      const changes = changesOf(before, play.goal);
      before = play.goal;
      return changes.map(inWords);
    },
  };
}

function inWords(change: GoalChange): string {
  switch (change.type) {
    case "survey":
      return `survey: ${change.green.join(", ")}`;
    case "turn":
      return `turn: ${change.job.kind}`;
    case "turn.end":
      return `turn.end: ${change.receipt.kind} ${change.receipt.iteration}`;
    case "checks":
      return `checks: ${change.moved.join(", ")}`;
    case "gate":
      return `gate: ${change.gate.kind}`;
    case "warning":
      return `warning: ${change.limit}`;
    case "wait":
      return `wait: ${change.until - START}`;
    default:
      return change.type;
  }
}

describe("what is told", () => {
  test("who sees it for the first time is told how it stands, not what it did before", () => {
    const fresh = createGoal(aDraft(), START).loop;
    expect(changesOf(null, fresh).map(inWords)).toEqual(["start"]);
    const play = Play.begun();
    play.work(aTurn(), []);
    expect(changesOf(null, play.goal).map(inWords)).toEqual(["start", "survey: "]);
    play.pause();
    expect(changesOf(null, play.goal).map(inWords)).toEqual(["start", "survey: ", "pause"]);
  });

  test("nothing twice", () => {
    const play = Play.begun();
    play.work(aTurn(), []);
    expect(changesOf(play.goal, play.goal)).toEqual([]);
  });

  test("survey, plan, question, turn, checks, end, in their order", () => {
    const play = new Play(createGoal(aDraft({ needsPlan: true, shape: "colleague" }), START).loop);
    const { told } = watch(play);
    play.survey(["lint"]);
    expect(told()).toEqual(["survey: lint"]);
    play.due();
    expect(told()).toEqual(["turn: plan"]);
    play.turned(aTurn({ report: { kind: "valid", claims: claims({ steps: ["a"] }) } }));
    expect(told()).toEqual(["turn.end: plan 0", "plan"]);
    play.due();
    expect(told()).toEqual(["gate: G1"]);
    play.answer("approve");
    expect(told()).toEqual([]);
    play.due();
    expect(told()).toEqual(["turn: work"]);
    play.turned(signalled());
    expect(told()).toEqual(["turn.end: work 1"]);
    play.checked("all");
    expect(told()).toEqual(["checks: tests ✓", "gate: G3"]);
    play.answer("approve");
    play.due();
    play.checked("all");
    expect(told()).toContain("end");
  });

  test("waits, warnings, pauses and going on", () => {
    const play = Play.begun({ limits: { ...LIMITS, iterations: 1 } });
    const { told } = watch(play);
    play.due();
    play.turned(failed("quota", { resetsAt: START + 600_000 }));
    expect(told()).toEqual(["turn.end: work 0", "wait: 601000"]);
    play.continue({ iterations: 9 }, true);
    expect(told()).toEqual([]);
    play.pause();
    expect(told()).toEqual(["pause"]);
    play.continue();
    expect(told()).toEqual(["go-on"]);
    const near = new Play({ ...play.goal, iteration: 8 });
    const { told: nearTold } = watch(near);
    near.tryDue();
    expect(nearTold()).toEqual(["warning: iterations"]);
  });
});
