/** H1 which lines have to be on disk before anything follows from them. */
import { describe, expect, test } from "vitest";
import type { GoalEvent } from "../../../src/core/goal/event.ts";
import type { JobId } from "../../../src/core/goal/goal.ts";
import { mayWait } from "../../../src/store/journal/durability.ts";
import { Play, signalled } from "../../support/goals/goal-play.ts";
import { goalCreation, newGoal } from "../fixtures/goals.ts";
import { creation, idOf, newTask } from "../fixtures/tasks.ts";

/** The commit of the last event of a played goal. */
function commitOf(play: Play, event: GoalEvent) {
  return { ...goalCreation(play.goal), event, effects: play.effects };
}

describe("H1 a line may wait for the next only when nothing follows from it that could not be done again", () => {
  test("the result of a turn, and of a round after which it goes on", () => {
    const play = Play.begun();
    play.due();
    const started: GoalEvent = { type: "job.started", jobId: play.jobId, process: null };
    play.apply(started);
    expect(mayWait(commitOf(play, started))).toBe(true);
    const { jobId } = play;
    play.turned(signalled());
    expect(mayWait(commitOf(play, { type: "job.turned", jobId, turn: signalled() }))).toBe(true);
    const checks = play.jobId;
    play.checked(["lint"]);
    expect(mayWait({ ...commitOf(play, { type: "goal.notified" }), event: checkedEvent(checks) })).toBe(true);
  });

  test("not what begins a turn, ends, pauses or asks", () => {
    const play = Play.begun();
    play.due();
    expect(mayWait(commitOf(play, { type: "goal.due", token: 1, nonce: "n" }))).toBe(false);
    play.turned(signalled());
    const checks = play.jobId;
    play.checked("all");
    expect(play.goal.end?.status).toBe("done");
    expect(mayWait({ ...commitOf(play, { type: "goal.notified" }), event: checkedEvent(checks) })).toBe(
      false,
    );
    const asks = Play.begun({ shape: "colleague" });
    asks.due();
    expect(asks.goal.gate?.kind).toBe("G1");
    expect(mayWait(commitOf(asks, { type: "goal.notified" }))).toBe(false);
  });

  test("nothing of a person's, and nothing of a task", () => {
    expect(mayWait(goalCreation(newGoal(idOf(1))))).toBe(false);
    expect(mayWait(creation(newTask(idOf(2))))).toBe(false);
  });
});

function checkedEvent(jobId: JobId): GoalEvent {
  return { type: "job.checked", jobId, round: {} as never };
}
