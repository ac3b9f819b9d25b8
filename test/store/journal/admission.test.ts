import { describe, expect, test } from "vitest";
import { type LoopEvent, OWNERS_EVENTS } from "../../../src/core/event.ts";
import type { GoalEvent } from "../../../src/core/goal/event.ts";
import type { Goal, JobId } from "../../../src/core/goal/goal.ts";
import type { Fire, FireId, Loop, Task } from "../../../src/core/loop.ts";
import type { Lease } from "../../../src/ports/store.ts";
import {
  admit,
  emptyState,
  type JournalState,
  judge,
  startSegment,
} from "../../../src/store/journal/admission.ts";
import type { Decoded, Entry, LoopEntry } from "../../../src/store/journal/entry.ts";
import { NONCE, TREE } from "../../support/goals/goals.ts";
import { CLAIMS, endedGoal, goalCreation, newGoal, ROUND, TURN } from "../fixtures/goals.ts";
import { creation, idOf, NOW, newTask, wantedLease } from "../fixtures/tasks.ts";

const COMMON = { v: 1, w: "w.1", at: NOW };
const A = idOf(1);
const B = idOf(2);
const G = idOf(3);

function line(ver: number, fields: Partial<LoopEntry> = {}, task: Partial<Task> = {}): LoopEntry {
  const { loop, event, effects, outcomes, token } = creation(
    newTask(fields.id ?? A, { version: ver, ...task }),
  );
  return { ...COMMON, type: "loop", id: loop.id, ver, token, event, effects, outcomes, loop, ...fields };
}

function goalLine(ver: number, fields: Partial<LoopEntry> = {}, goal: Partial<Goal> = {}): LoopEntry {
  return lineOfGoal(newGoal(fields.id ?? G, { version: ver, ...goal }), fields);
}

const endedGoalLine = (ver: number): LoopEntry => lineOfGoal(endedGoal(G, { version: ver }));

function lineOfGoal(goal: Goal, fields: Partial<LoopEntry> = {}): LoopEntry {
  const { loop, event, effects, outcomes, token } = goalCreation(goal);
  return {
    ...COMMON,
    type: "loop",
    id: loop.id,
    ver: loop.version,
    token,
    event,
    effects,
    outcomes,
    loop,
    ...fields,
  };
}

const ended = (ver: number, fields: Partial<Task> = {}): LoopEntry =>
  line(ver, {}, { status: "ended", ...fields });
const seal: Entry = { ...COMMON, type: "seal" };
const release = (token: number): Entry => ({ ...COMMON, type: "release", token });
function lease(token: number): Entry {
  return { ...COMMON, type: "lease", lease: { ...wantedLease(), token } };
}
function snapshot(loops: readonly Loop[], lastToken = 0, held: Lease | null = null): Entry {
  return { ...COMMON, type: "snapshot", loops, lastToken, lease: held };
}

function fold(...entries: Decoded[]): { state: JournalState; kinds: string[] } {
  const state = emptyState();
  const kinds = entries.map((entry) => admit(state, entry).kind);
  return { state, kinds };
}

const fire: Fire = {
  id: "f" as FireId,
  slot: NOW,
  dueAt: NOW,
  kind: "scheduled",
  token: 1,
  intendedAt: NOW,
  startedAt: null,
  process: null,
  wakeup: null,
};

describe("which lines count", () => {
  test.each<[string, Decoded[], string[]]>([
    ["versions rise by one", [line(1), line(2), line(3)], ["committed", "committed", "committed"]],
    ["the second of two on one version", [line(1), line(2), line(2)], ["committed", "committed", "conflict"]],
    ["a version whose earlier lines are gone", [line(2)], ["committed"]],
    ["a version after a hole", [line(1), line(3), line(2)], ["committed", "committed", "conflict"]],
    ["an old version", [line(1), line(2), line(1)], ["committed", "committed", "conflict"]],
    [
      "loops do not disturb each other",
      [line(1), line(1, { id: B }), line(2)],
      ["committed", "committed", "committed"],
    ],
    [
      "an ended loop is not revived",
      [line(1), ended(2), line(2), line(1)],
      ["committed", "committed", "conflict", "conflict"],
    ],
    [
      "an ended loop that still fires goes on",
      [line(1), ended(2, { fire }), ended(3), line(4)],
      ["committed", "committed", "committed", "committed"],
    ],
    ["the first lease", [lease(1)], ["committed"]],
    ["of two leases with one token the first", [lease(1), lease(1)], ["committed", "fenced"]],
    ["a token whose earlier leases are gone", [lease(2), lease(1)], ["committed", "fenced"]],
    [
      "tokens rise past a release",
      [lease(1), release(1), lease(1), lease(2)],
      ["committed", "committed", "fenced", "committed"],
    ],
    ["a release whose lease is gone", [release(1), lease(1)], ["committed", "fenced"]],
    ["a release by the one before", [lease(1), lease(2), release(1)], ["committed", "committed", "fenced"]],
    ["the owner's line", [lease(1), line(1, { token: 1 })], ["committed", "committed"]],
    [
      "a line with an old token",
      [lease(1), lease(2), line(1, { token: 1 })],
      ["committed", "committed", "fenced"],
    ],
    ["a line whose lease is gone", [lease(1), line(1, { token: 2 })], ["committed", "committed"]],
    [
      "a line after the release",
      [lease(1), release(1), line(1, { token: 1 })],
      ["committed", "committed", "fenced"],
    ],
    ["a person needs no token", [lease(1), line(1, { token: null })], ["committed", "committed"]],
    [
      "behind the seal nothing counts",
      [line(1), seal, line(2), "damaged", lease(1)],
      ["committed", "sealed", "sealed", "sealed", "sealed"],
    ],
    ["a snapshot counts as first line only", [line(1), snapshot([])], ["committed", "conflict"]],
  ])("D6 A12 %s", (_, entries, kinds) => {
    expect(fold(...entries).kinds).toEqual(kinds);
  });

  test.each<[LoopEvent, string]>([
    [{ type: "task.due", token: 1, awakeSince: 0 }, "fenced"],
    [{ type: "fire.started", fireId: fire.id, process: null }, "fenced"],
    [{ type: "fire.finished", fireId: fire.id, outcome: "ok", reason: null }, "fenced"],
    [{ type: "fire.interrupted", fireId: fire.id, reason: "" }, "fenced"],
    [{ type: "fire.withdrawn", fireId: fire.id, reason: "" }, "fenced"],
    [{ type: "fire.wakeup", fireId: fire.id, wakeup: { kind: "stop", reason: "" } }, "committed"],
    [{ type: "task.paused" }, "committed"],
    [{ type: "task.run-requested" }, "committed"],
  ])("D6 without a token: $type", (event, kind) => {
    expect(fold(line(1, { event })).kinds).toEqual([kind]);
  });

  test("A8 the limit counts living loops, and says how many", () => {
    const state = emptyState();
    const create = (n: number) => admit(state, line(1, { id: idOf(n), max: 2 }));
    expect(create(1).kind).toBe("committed");
    expect(create(2).kind).toBe("committed");
    expect(create(3)).toEqual({ kind: "full", live: 2 });
    expect(state.loops.has(idOf(3))).toBe(false);
    expect(admit(state, ended(2)).kind).toBe("committed");
    expect(state.live).toBe(1);
    expect(create(4).kind).toBe("committed");
  });

  test("A8 a loop that ended while it fires is not alive", () => {
    const { state } = fold(line(1), line(1, { id: B }), ended(2, { fire }));
    expect(state.live).toBe(1);
    expect([...state.loops.keys()]).toEqual([A, B]);
  });

  test("a refused line leaves no trace", () => {
    const { state } = fold(line(1), lease(1));
    const before = structuredClone(state);
    for (const entry of [line(1), lease(1), snapshot([]), "foreign" as const]) {
      expect(admit(state, entry).kind).not.toBe("committed");
    }
    expect(state).toEqual({ ...before, foreign: 1 });
  });

  test("a snapshot stands for all lines before it", () => {
    const held = { ...wantedLease(), token: 7 };
    const state = emptyState();
    admit(state, snapshot([newTask(A, { version: 5 }), newTask(B, { status: "ended", fire })], 7, held));
    expect(state).toMatchObject({ live: 1, lastToken: 7, lease: held });
    expect(admit(state, line(6, { token: 7 })).kind).toBe("committed");
    expect(admit(state, lease(8)).kind).toBe("committed");
  });
});

describe("goals", () => {
  const jobId = `${G}-2` as JobId;
  const owners: readonly GoalEvent[] = [
    { type: "goal.due", token: 1, nonce: NONCE },
    { type: "goal.notified" },
    { type: "job.started", jobId, process: null },
    {
      type: "job.surveyed",
      jobId,
      baseline: { tree: TREE, protectedDigest: "d", protectedCount: 0, isGit: true },
      round: ROUND,
    },
    { type: "job.turned", jobId, turn: TURN },
    { type: "job.checked", jobId, round: ROUND },
    { type: "job.interrupted", jobId, reason: "stopped" },
    { type: "job.withdrawn", jobId, reason: "never started" },
  ];
  const others: readonly GoalEvent[] = [
    { type: "job.reported", jobId, nonce: NONCE, claims: CLAIMS },
    { type: "goal.paused", code: "person", reason: "" },
    { type: "goal.continued", raise: {}, retryNow: false },
    { type: "goal.raised", raise: { budgetUsd: 1 } },
    { type: "goal.cancelled", reason: "" },
    { type: "goal.accepted", changes: [] },
    { type: "goal.answered", gate: "G1", answer: "approve", note: null },
    { type: "goal.rolled-back", checkpoint: "c", tree: TREE },
  ];

  test.each(owners)("D6 without the lease nobody says how a job went: $type", (event) => {
    expect(fold(goalLine(1), goalLine(2, { event })).kinds).toEqual(["committed", "fenced"]);
    expect(fold(lease(1), goalLine(1), goalLine(2, { event, token: 1 })).kinds.at(-1)).toBe("committed");
    expect(fold(lease(1), lease(2), goalLine(1), goalLine(2, { event, token: 1 })).kinds.at(-1)).toBe(
      "fenced",
    );
  });

  test.each(others)("B10 B16 a person and an agent need no token: $type", (event) => {
    expect(fold(lease(1), goalLine(1), goalLine(2, { event })).kinds.at(-1)).toBe("committed");
  });

  test("D6 what is the owner's of goals is all in this list", () => {
    const ofGoals = [...OWNERS_EVENTS].filter((type) => /^(goal|job)\./.test(type));
    expect(ofGoals.sort()).toEqual(owners.map(({ type }) => type).sort());
  });

  test("B16 a goal that has ended stays, for its report, and is not started over", () => {
    const { state, kinds } = fold(goalLine(1), endedGoalLine(2), goalLine(1), goalLine(2), endedGoalLine(3));
    expect(kinds).toEqual(["committed", "committed", "conflict", "conflict", "committed"]);
    expect(state.loops.get(G)).toEqual(endedGoal(G, { version: 3 }));
    expect(state.ended.size).toBe(0);
  });

  test("A8 goals do not count towards the limit of living tasks, whatever becomes of them", () => {
    const { state } = fold(goalLine(1), goalLine(1, { id: idOf(4) }), goalLine(1, { id: idOf(5) }));
    expect(state.live).toBe(0);
    expect(admit(state, line(1, { max: 1 })).kind).toBe("committed");
    expect(admit(state, goalLine(2, {}, { status: "paused" })).kind).toBe("committed");
    expect(admit(state, endedGoalLine(3)).kind).toBe("committed");
    expect(admit(state, line(1, { id: B, max: 1 }))).toEqual({ kind: "full", live: 1 });
    expect(admit(state, ended(2)).kind).toBe("committed");
    expect(state.live).toBe(0);
    expect(admit(state, line(1, { id: B, max: 1 })).kind).toBe("committed");
  });

  test("A8 nor do they in a snapshot, which keeps those that have ended", () => {
    const loops = [newTask(A), newGoal(G), endedGoal(idOf(4), { version: 7 })];
    const { state } = fold(snapshot(loops));
    expect(state.live).toBe(1);
    expect([...state.loops.values()]).toEqual(loops);
    expect(admit(state, lineOfGoal(endedGoal(idOf(4), { version: 8 }))).kind).toBe("committed");
  });
});

describe("H1 after a damaged line", () => {
  test.each<[string, Decoded[], string[]]>([
    [
      "the next version heals the gap",
      [line(1), "damaged", line(3), line(4)],
      ["committed", "conflict", "committed", "committed"],
    ],
    [
      "the next version of a goal heals the gap",
      [goalLine(1), "damaged", goalLine(3), goalLine(3), goalLine(4)],
      ["committed", "conflict", "committed", "conflict", "committed"],
    ],
    ["a goal whose creation is lost comes back", ["damaged", goalLine(2)], ["conflict", "committed"]],
    [
      "a goal that has ended does not go back",
      [goalLine(1), endedGoalLine(2), "damaged", goalLine(2)],
      ["committed", "committed", "conflict", "conflict"],
    ],
    ["a loop whose creation is lost comes back", ["damaged", line(2)], ["conflict", "committed"]],
    [
      "an old version does not count all the same",
      [line(1), line(2), "damaged", line(2)],
      ["committed", "committed", "conflict", "conflict"],
    ],
    [
      "an ended loop stays ended",
      [line(1), ended(2), "damaged", line(4)],
      ["committed", "committed", "conflict", "conflict"],
    ],
    [
      "a lost lease is known by the owner's lines",
      [lease(1), "damaged", line(1, { token: 2 }), line(2, { token: 1 })],
      ["committed", "conflict", "committed", "fenced"],
    ],
    [
      "and the next lease counts",
      [lease(1), "damaged", lease(3), lease(3), lease(4)],
      ["committed", "conflict", "committed", "fenced", "committed"],
    ],
    [
      "and so does the release of a lost lease",
      [lease(1), "damaged", release(2), lease(2), lease(3)],
      ["committed", "conflict", "committed", "fenced", "committed"],
    ],
  ])("%s", (_, entries, kinds) => {
    expect(fold(...entries).kinds).toEqual(kinds);
  });

  test("the holder of a lost lease is judged by its heartbeat, not by a pid", () => {
    const { state } = fold("damaged", line(1, { token: 3 }));
    expect(state.lease).toMatchObject({ token: 3, host: "", acquiredAt: NOW });
    expect(state.lastToken).toBe(3);
  });

  test("H1 missing versions are counted, also where no damaged line shows that there were any", () => {
    expect(fold(line(1), line(4), line(5)).state).toMatchObject({ missing: 2, damaged: 0 });
    expect(fold(line(1), line(2)).state).toMatchObject({ missing: 0, damaged: 0 });
  });

  test("H2 a foreign line is counted and changes nothing, not even before a snapshot", () => {
    const { state, kinds } = fold("foreign", snapshot([newTask(A)]), "foreign", line(2));
    expect(kinds).toEqual(["conflict", "committed", "conflict", "committed"]);
    expect(state.foreign).toBe(2);
  });

  test("a damaged snapshot hides nothing from a process that read the segment before", () => {
    const { state } = fold(line(1), seal);
    startSegment(state, true);
    expect(admit(state, "damaged").kind).toBe("conflict");
    expect(admit(state, line(1)).kind).toBe("conflict");
    expect(admit(state, line(2)).kind).toBe("committed");
  });

  test("a writer does not heal: it must have seen what it builds on", () => {
    const { state } = fold(line(1), "damaged");
    expect(judge(state, line(3), false).kind).toBe("conflict");
    expect(judge(state, lease(2), false).kind).toBe("fenced");
    expect(judge(state, line(2), false).kind).toBe("committed");
  });
});
