/** D9 A11 E1: what a status line is told of a project, and what it shows. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Goal, JobKind } from "../../../src/core/goal/goal.ts";
import type { LoopId, Task } from "../../../src/core/loop.ts";
import { renderStatusLine } from "../../../src/core/text/status-line.ts";
import { columnsOf } from "../../../src/core/text/width.ts";
import { type LeaseProgress, type Progress, progressOf } from "../../../src/core/views/progress.ts";
import { anyText } from "../../support/any-text.ts";
import {
  aDoneGoal,
  aGoal,
  aJob,
  anEvidence,
  aStep,
  NOTHING_SPENT,
  START,
} from "../../support/goals/goals.ts";
import { every, MINUTE, once, task } from "../../support/tasks.ts";

const NOW = START + 10 * MINUTE;
const OWNER: LeaseProgress = {
  owner: "session:abc",
  pid: 4711,
  procStart: "boot-1",
  host: "box",
  token: 3,
  acquiredAt: START,
};

const aTask = (id: string, overrides: Partial<Task> = {}): Task => ({
  ...task(every(5 * MINUTE), { id: id as LoopId }),
  ...overrides,
});

interface Parts {
  readonly tasks?: readonly Task[];
  readonly goals?: readonly Goal[];
  readonly lease?: LeaseProgress | null;
}

const progress = ({ tasks = [], goals = [], lease = OWNER }: Parts = {}): Progress =>
  progressOf([...tasks, ...goals], lease, NOW);
const line = (
  parts: Parts,
  {
    session = "abc",
    columns = 200,
    now = NOW,
  }: { session?: string | null; columns?: number; now?: number } = {},
) =>
  renderStatusLine(progress(parts), {
    ...(session === null ? {} : { session, commandName: "/loopwright:loop" }),
    now,
    columns,
  });

const working = (overrides: Partial<Goal> = {}): Goal =>
  aGoal({
    id: "3fa2b1c0" as LoopId,
    iteration: 2,
    job: aJob(),
    steps: [aStep("find it", "done"), aStep("guess", "replaced"), aStep("fix the parser"), aStep("verify")],
    evidence: { lint: anEvidence() },
    spent: { costUsd: 1.2, tokens: 22_800, timeMs: 99_200, unpriced: 0 },
    session: "session:abc",
    ...overrides,
  });
const asking = (question: string): Goal["gate"] => ({
  kind: "G1",
  question,
  details: [],
  askedAt: NOW,
  answerBy: null,
});
const pausedFor = (reason: string): Partial<Goal> => ({
  status: "paused",
  job: null,
  pause: { code: "budget", reason, evidence: [], goOn: "loop continue", at: NOW },
});

describe("the snapshot", () => {
  test("D9 counts the tasks that have not ended and names the one that fires next", () => {
    const tasks = [
      aTask("00000001", { cadence: every(30 * MINUTE) }),
      aTask("00000002"),
      aTask("00000003", { status: "paused" }),
      aTask("00000004", { cadence: once(START + MINUTE), status: "missed" }),
      aTask("00000005", { status: "ended" }),
    ];
    expect(progress({ tasks }).tasks).toEqual({
      live: 4,
      paused: 1,
      missed: 1,
      nextFireAt: "2026-01-05T10:05:00.000Z",
      nextId: "00000002",
    });
    expect(progress().tasks).toEqual({ live: 0, paused: 0, missed: 0, nextFireAt: null, nextId: null });
  });

  test("D9 tells of a goal what it does, how far it is and what it cost", () => {
    expect(progress({ goals: [working()] })).toMatchObject({
      version: 1,
      at: "2026-01-05T10:10:00.000Z",
      lease: OWNER,
      otherGoals: [],
      goal: {
        id: "3fa2b1c0",
        status: "active",
        phase: "working",
        step: "fix the parser",
        stepsDone: 1,
        stepsTotal: 3,
        iteration: 3,
        iterations: 10,
        criteriaMet: 1,
        criteriaTotal: 2,
        costUsd: 1.2,
        unpriced: 0,
        budgetUsd: 25,
        tokens: 22_800,
        pauseReason: null,
        gate: null,
        waitUntil: null,
        endedAt: null,
        session: "session:abc",
      },
    });
  });

  test.each<[JobKind, string, number]>([
    ["survey", "surveying", 2],
    ["plan", "planning", 2],
    ["precheck", "pre-checking", 2],
    ["work", "working", 3],
    // the turn before it has counted already
    ["checks", "checking", 2],
  ])("D9 a %s job is called %s", (kind, phase, iteration) => {
    expect(progress({ goals: [working({ job: aJob({ kind }) })] }).goal).toMatchObject({ phase, iteration });
  });

  test.each<[string, Partial<Goal>]>([
    ["ready", { job: null }],
    ["sleeping", { job: null, waitUntil: NOW + MINUTE }],
    ["waiting for you", { job: null, gate: asking("Go on?"), waitUntil: NOW + MINUTE }],
    ["paused", { ...pausedFor("stop"), gate: asking("Go on?") }],
    ["failed", { status: "ended", end: { status: "failed", reason: "", at: NOW, verdict: null, notes: [] } }],
  ])("D9 what stands still is %s", (phase, overrides) => {
    expect(progress({ goals: [working(overrides)] }).goal?.phase).toBe(phase);
  });

  test("D9 the newest goal that has not ended comes first, and ended ones only when there is no other", () => {
    const at = (id: string, minutes: number, overrides: Partial<Goal> = {}) =>
      aGoal({ id: id as LoopId, createdAt: START + minutes * MINUTE, ...overrides });
    const old = aDoneGoal({ id: "00000001" as LoopId });
    const [first, second] = [at("00000002", 1), at("00000003", 2, pausedFor("x"))];
    const idsOf = ({ goal, otherGoals }: Progress) => [goal?.id, ...otherGoals.map(({ id }) => id)];
    expect(idsOf(progress({ goals: [first, old, second] }))).toEqual(["00000003", "00000002"]);
    expect(idsOf(progress({ goals: [old] }))).toEqual(["00000001"]);
    expect(progress().goal).toBeNull();
  });

  test("D9 a cost that no turn told is not said to be zero", () => {
    const goals = [working({ spent: { ...NOTHING_SPENT, unpriced: 2 } })];
    expect(progress({ goals }).goal?.costUsd).toBeNull();
  });

  test("D9 H1 a moment that no calendar has is none", () => {
    const goals = [working({ job: null, waitUntil: 1e300 })];
    expect(progress({ goals }).goal).toMatchObject({ phase: "sleeping", waitUntil: null });
  });

  test("D9 H3 nothing but what is named goes into it", () => {
    const lease = { ...OWNER, secret: "s3cret" };
    const text = JSON.stringify(progress({ goals: [working()], lease }));
    expect(text).not.toMatch(/s3cret|n0nce|npm test/);
  });
});

describe("the line", () => {
  const two = [aTask("00000001"), aTask("00000002")];
  const other = { ...OWNER, owner: "runner:box:1" };

  test.each<[string, Parts, string]>([
    ["nothing at all", {}, ""],
    ["nothing and nobody", { lease: null }, ""],
    ["this conversation fires", { tasks: two }, "loop:2"],
    ["somebody else does", { tasks: two, lease: other }, "loop:2 (passive)"],
    ["nobody does", { tasks: two, lease: null }, "loop:2 (nobody runs it)"],
    [
      "nothing is to be run",
      { tasks: [aTask("00000001", { status: "paused" })], lease: null },
      "loop:1 · 1 paused",
    ],
    ["a person is asked", { tasks: [...two, aTask("00000003", { status: "missed" })] }, "loop:3 · 1 missed"],
    [
      "a goal works",
      { tasks: two, goals: [working()] },
      "loop:2 · 3fa2 working 3/10 · 1/2 ✓ · $1.20/$25 · next: fix the parser",
    ],
    [
      "a goal works elsewhere",
      { goals: [working()], lease: other },
      "loop (passive) · 3fa2 working 3/10 · 1/2 ✓ · $1.20/$25 · next: fix the parser",
    ],
    [
      "a goal waits for a runner",
      { goals: [working({ job: null, iteration: 0 })], lease: null },
      "loop (nobody runs it) · 3fa2 ready · 1/2 ✓ · $1.20/$25 · next: fix the parser",
    ],
    [
      "a part of the cost is told",
      { goals: [working({ spent: { costUsd: 1.2, tokens: 9, timeMs: 0, unpriced: 1 }, steps: [] })] },
      "loop: 3fa2 working 3/10 · 1/2 ✓ · $1.20+/$25",
    ],
    [
      "no cost is told",
      { goals: [working({ spent: { costUsd: 0, tokens: 22_800, timeMs: 0, unpriced: 1 }, steps: [] })] },
      "loop: 3fa2 working 3/10 · 1/2 ✓ · 23k tokens",
    ],
    [
      "it sleeps until later today",
      { goals: [working({ job: null, waitUntil: Date.UTC(2026, 0, 5, 14, 30), steps: [] })] },
      "loop: 3fa2 sleeping until 14:30 UTC 2/10 · 1/2 ✓ · $1.20/$25",
    ],
    [
      "it sleeps until tomorrow",
      { goals: [working({ job: null, waitUntil: Date.UTC(2026, 0, 6, 9), steps: [] })] },
      "loop: 3fa2 sleeping until 2026-01-06 09:00 UTC 2/10 · 1/2 ✓ · $1.20/$25",
    ],
    ["it is paused", { goals: [working(pausedFor("budget used up"))] }, "loop: 3fa2 ⏸ budget used up"],
    [
      "it is paused, and nobody has to run it",
      { goals: [working(pausedFor("budget used up"))], lease: null },
      "loop: 3fa2 ⏸ budget used up",
    ],
    [
      "it asks",
      { goals: [working({ job: null, gate: asking("Decomposed into 3 steps. Proceed?") })] },
      "loop: 3fa2 asks: Decomposed into 3 steps. Proceed? (/loopwright:loop approve)",
    ],
    ["it is done", { goals: [aDoneGoal({ createdAt: NOW })] }, "loop: b7c1 ✓ done · 2/2 ✓ · $0.00/$25"],
  ])("A11 E1 %s", (_name, parts, expected) => {
    expect(line(parts)).toBe(expected);
  });

  test("E1 a terminal is no conversation: nobody is passive there, and the command is another", () => {
    expect(line({ tasks: two, lease: other }, { session: null })).toBe("loop:2");
    const goals = [working({ job: null, gate: asking("Proceed?") })];
    expect(line({ goals }, { session: null })).toBe("loop: 3fa2 asks: Proceed? (loop approve)");
  });

  test("E1 the conversation's own goal is shown before a newer one of another", () => {
    const theirs = aGoal({ id: "99999999" as LoopId, createdAt: NOW, session: "session:xyz" });
    const own = working({ job: null, gate: asking("Proceed?") });
    expect(line({ goals: [theirs, own] })).toBe("loop: 3fa2 asks: Proceed? (/loopwright:loop approve 3fa2)");
    expect(line({ goals: [theirs, own] }, { session: "xyz" })).toMatch(/9999 ready/);
  });

  test("E1 an end is told for ten minutes", () => {
    const goals = [aDoneGoal()];
    const endedAt = START + 600_000;
    expect(line({ goals }, { now: endedAt + 9 * MINUTE })).toMatch(/done/);
    expect(line({ goals }, { now: endedAt + 10 * MINUTE })).toBe("");
    expect(line({ goals, tasks: two }, { now: endedAt + 10 * MINUTE })).toBe("loop:2");
  });

  test.each([
    [60, "loop:2 · 3fa2 working 3/10 · 1/2 ✓ · $1.20/$25 · next: fix …"],
    [20, "loop:2 · 3fa2 worki…"],
    [3, "lo…"],
  ])("E1 is cut to %i columns", (columns, expected) => {
    expect(line({ tasks: two, goals: [working()] }, { columns })).toBe(expected);
  });

  test("E1 of a question that is too long the command stays, as long as there is room for both", () => {
    const goals = [working({ job: null, gate: asking("Is it right that the parser takes both forms?") })];
    expect(line({ goals }, { columns: 60 })).toBe(
      "loop: 3fa2 asks: Is it right tha… (/loopwright:loop approve)",
    );
    expect(line({ goals }, { columns: 40 })).toBe("loop: 3fa2 asks: Is it right that the p…");
  });

  test("E1 H5 no text of a loop's can do anything to a terminal, or be wider than it", () => {
    const goalWith = (text: string): readonly Goal[] => [
      working({ steps: [aStep(text)] }),
      working(pausedFor(text)),
      working({ job: null, gate: asking(text) }),
    ];
    fc.assert(
      fc.property(anyText(40), fc.integer({ min: 1, max: 120 }), (text, columns) => {
        for (const goal of goalWith(text)) {
          const published = progress({ goals: [goal], tasks: two });
          // a file that somebody else wrote has the text as it is
          const forged = { ...published, goal: published.goal && { ...published.goal, ...rawTexts(text) } };
          for (const each of [published, forged]) {
            const shown = renderStatusLine(each, { session: text, now: NOW, columns });
            expect(shown).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
            expect(columnsOf(shown)).toBeLessThanOrEqual(columns);
          }
        }
      }),
    );
  });

  test("D9 H5 the file has no control character and no text without end", () => {
    const { goal } = progress({
      goals: [working({ steps: [aStep(`a\u001b[31m\u009b\u0007b${"x".repeat(1e6)}`)] })],
    });
    expect(goal?.step).toMatch(/^a[^\p{Cc}]{1,199}$/u);
  });
});

function rawTexts(text: string) {
  return { id: text, step: text, pauseReason: text, gate: text, session: `session:${text}` };
}
