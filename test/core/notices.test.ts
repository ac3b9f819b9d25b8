/** Surfaces decide by the kind of a notice, never by its words. */
import { expect, test } from "vitest";
import { type Notice, tellsStand } from "../../src/core/base.ts";
import type { GoalDraft } from "../../src/core/goal/create.ts";
import { aTurn, failed, Play, signalled } from "../support/goals/goal-play.ts";
import { LIMITS } from "../support/goals/goals.ts";

const HOUR = 3_600_000;

/** The notice that the last event left behind. */
function noticeAfter(act: (play: Play) => void, draft: Partial<GoalDraft> = {}): Notice | null {
  const play = Play.begun(draft);
  act(play);
  return play.goal.notice;
}

test.each<[string, Notice["kind"], Notice | null]>([
  ["a question", "asks", noticeAfter((play) => void play.due(), { shape: "colleague" })],
  ["the end", "done", noticeAfter((play) => void play.work(signalled(), "all"))],
  [
    "a limit that is reached",
    "paused",
    noticeAfter(
      (play) => {
        play.work(aTurn(), []);
        play.due();
      },
      { limits: { ...LIMITS, iterations: 1 } },
    ),
  ],
  [
    "a limit that is near",
    "near-limit",
    noticeAfter(
      (play) => {
        for (let turns = 0; turns < 4; turns++) play.work(aTurn(), []);
        play.tryDue();
      },
      { limits: { ...LIMITS, iterations: 5 } },
    ),
  ],
  [
    "a long wait",
    "waits",
    noticeAfter((play) => {
      play.due();
      play.turned(failed("quota", { resetsAt: play.now + HOUR }));
    }),
  ],
])("%s has a notice of its kind", (_what, kind, notice) => {
  expect(notice).toMatchObject({ kind, title: expect.stringMatching(/^Goal b7c1d2e3 /) });
});

test("a conversation leaves out only what it says anyway: how its loop stands", () => {
  const kinds = [
    "asks",
    "paused",
    "done",
    "ended",
    "waits",
    "near-limit",
    "missed",
    "failing",
    "stopped",
  ] as const;
  expect(kinds.filter(tellsStand)).toEqual(["asks", "paused", "done", "ended"]);
});
