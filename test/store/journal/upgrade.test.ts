/** Goals of format 1 had six flags in the place of a phase. Whatever they said, the phase is never a weaker one. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Notice } from "../../../src/core/base.ts";
import { decide } from "../../../src/core/decide.ts";
import { asksForEnd } from "../../../src/core/goal/change.ts";
import type { GateKind, Goal, JobKind } from "../../../src/core/goal/goal.ts";
import { isConfirmed, isPhase, type Stage, stageOf } from "../../../src/core/goal/phase.ts";
import { isProved } from "../../../src/core/goal/proof.ts";
import { decodeEntry } from "../../../src/store/journal/entry.ts";
import { upgradeLoop } from "../../../src/store/journal/upgrade.ts";
import { aGoal, aJob, anEvidence, aStep, START, TREE } from "../../support/goals/goals.ts";

const FLAGS = ["approved", "prechecked", "unchecked", "uncounted", "confirmed", "provedTree"] as const;
type Flags = { readonly [flag in (typeof FLAGS)[number]]: unknown };

const SETTLED: Flags = {
  approved: true,
  prechecked: true,
  unchecked: false,
  uncounted: false,
  confirmed: false,
  provedTree: null,
};

/** As a line of format 1 has it. */
function oldGoal(flags: Partial<Flags>, fields: Partial<Goal> = {}): Goal & Flags {
  const { phase: _, ...goal } = aGoal(fields);
  return { ...goal, ...SETTLED, ...flags } as Goal & Flags;
}

function upgraded(goal: Goal): Goal {
  const loop = upgradeLoop(goal);
  if (loop.kind !== "goal") throw new Error(loop.kind);
  return loop;
}

const WORKING = { kind: "working" };
const PROVED = { kind: "proved", tree: TREE };
const green = { evidence: { tests: anEvidence(), lint: anEvidence() }, receipts: [] };
const END = { reason: "r", at: START, verdict: null, notes: [] };
const gateOf = (kind: GateKind) => ({ kind, question: "?", details: [], askedAt: START, answerBy: null });
const round = (name: string, from: object) => ({ kind: "checking", round: name, from });

describe("A13 a goal of format 1", () => {
  test.each<[string, Partial<Flags>, Partial<Goal>, object]>([
    ["not surveyed", {}, { baseline: null }, { kind: "survey", next: "working" }],
    [
      "not surveyed nor approved",
      { approved: false },
      { baseline: null },
      { kind: "survey", next: "approval" },
    ],
    ["without a plan", {}, { needsPlan: true, steps: [] }, { kind: "planning" }],
    ["that nobody approved", { approved: false }, {}, { kind: "approval" }],
    ["before its pre-check", { prechecked: false }, {}, { kind: "pre-check" }],
    ["at work", {}, {}, WORKING],
    ["with files that were not checked", { unchecked: true }, {}, round("extra", WORKING)],
    [
      "rolled back before its approval",
      { approved: false, unchecked: true },
      {},
      round("extra", { kind: "approval" }),
    ],
    [
      "with a turn that was not checked",
      { unchecked: true, uncounted: true },
      {},
      round("iteration", WORKING),
    ],
    ["with a turn that was not counted", { uncounted: true }, {}, round("iteration", WORKING)],
    ["proved without a signal", { provedTree: TREE }, green, PROVED],
    ["proved on other files", { provedTree: "before" }, green, WORKING],
    ["said to be proved, without evidence", { provedTree: TREE }, {}, WORKING],
    ["asked at G3", {}, { ...green, gate: gateOf("G3") }, PROVED],
    ["confirmed at G3", { confirmed: true, unchecked: true }, green, round("final", PROVED)],
    ["confirmed, and at work again", { confirmed: true }, {}, WORKING],
    [
      "confirmed before it was approved",
      { approved: false, confirmed: true, unchecked: true },
      green,
      round("extra", { kind: "approval" }),
    ],
    [
      "confirmed, with a turn after it",
      { confirmed: true, unchecked: true, uncounted: true },
      {},
      round("iteration", WORKING),
    ],
  ])("%s has its phase", (_what, flags, fields, phase) => {
    expect(upgraded(oldGoal(flags, fields)).phase).toEqual(phase);
  });

  test("a question about the end that nothing allows is put again after a round of checks", () => {
    const goal = upgraded(oldGoal({}, { gate: gateOf("G3") }));
    expect(goal).toMatchObject({ gate: null, phase: round("extra", WORKING) });
  });

  test.each<[string, Partial<Goal>, string]>([
    ["a question", { gate: gateOf("G1") }, "asks"],
    ["a pause", { status: "paused" }, "paused"],
    ["an end", { status: "ended", end: { ...END, status: "done" } }, "done"],
    ["a failure", { status: "ended", end: { ...END, status: "failed" } }, "ended"],
    ["a wait", { waitUntil: START }, "waits"],
    ["a warning", {}, "near-limit"],
  ])("a notice of %s gets its kind", (_what, fields, kind) => {
    const notice = { title: "t", body: "b" } as Notice;
    expect(upgraded(oldGoal({}, { ...fields, notice })).notice).toEqual({ kind, title: "t", body: "b" });
  });

  test("a question that nobody answered in time is told from one that a person turned down", () => {
    const pauseOf = (reason: string) => {
      const pause = { code: "rejected", reason, evidence: [], goOn: "", at: START } as const;
      return upgraded(oldGoal({}, { status: "paused", pause })).pause?.unanswered;
    };
    expect(pauseOf("nobody answered in time, so the plan was turned down")).toBe(true);
    expect(pauseOf("a person said no to the plan")).toBeUndefined();
  });

  test("a goal that has a phase stays as it is", () => {
    const goal = aGoal({ phase: { kind: "approval" } });
    expect(upgradeLoop(goal)).toBe(goal);
  });
});

const odd = fc.constantFrom<unknown>(true, true, false, false, undefined, null, "yes", 1);
const oldGoals = fc
  .record({
    flags: fc.record({
      approved: odd,
      prechecked: odd,
      unchecked: odd,
      uncounted: odd,
      confirmed: odd,
      provedTree: fc.constantFrom<unknown>(null, TREE, "before", undefined, 3),
    }),
    isSurveyed: fc.boolean(),
    isGreen: fc.boolean(),
    hasSteps: fc.boolean(),
    needsPlan: fc.boolean(),
    tree: fc.constantFrom(TREE, TREE, "later", null),
    status: fc.constantFrom("active" as const, "paused" as const, "ended" as const),
    gate: fc.option(fc.constantFrom<GateKind>("G1", "G2", "G3", "pre-check", "proved")),
    job: fc.option(fc.constantFrom<JobKind>("survey", "plan", "precheck", "work", "checks")),
  })
  .map(({ flags, isSurveyed, isGreen, hasSteps, needsPlan, tree, status, gate, job }) =>
    oldGoal(flags, {
      needsPlan,
      tree,
      status,
      ...(isSurveyed ? {} : { baseline: null }),
      ...(isGreen ? green : {}),
      steps: hasSteps ? [aStep("one")] : [],
      gate: gate === null ? null : gateOf(gate),
      job: job === null ? null : aJob({ kind: job }),
    }),
  );

const ORDER: readonly Stage[] = ["planning", "approval", "pre-check", "working"];

test("A13 any flags of format 1, also impossible ones, give a phase that is no weaker", () => {
  fc.assert(
    fc.property(oldGoals, (old) => {
      const goal = upgraded(old);
      const { phase } = goal;
      expect(isPhase(phase)).toBe(true);
      for (const flag of FLAGS) expect(goal).not.toHaveProperty(flag);
      expect(upgraded(JSON.parse(JSON.stringify(goal)))).toEqual(JSON.parse(JSON.stringify(goal)));
      // no gate is skipped
      const allowed = old.approved !== true ? "approval" : old.prechecked !== true ? "pre-check" : "working";
      expect(ORDER.indexOf(stageOf(phase))).toBeLessThanOrEqual(ORDER.indexOf(allowed));
      if (old.baseline === null) expect(phase.kind).toBe("survey");
      // nothing counts as proved or confirmed that was not
      if (phase.kind === "proved") expect(isProved(goal) && phase.tree === goal.tree).toBe(true);
      if (asksForEnd(goal.gate)) expect(phase.kind).toBe("proved");
      if (isConfirmed(phase)) expect(old.confirmed).toBe(true);
      // no round of checks is forgotten
      if ((old.unchecked === true || old.uncounted === true) && old.baseline !== null)
        expect(phase.kind).toBe("checking");
      decide(goal, { type: "goal.due", token: 1, nonce: "n" }, START);
    }),
    { numRuns: 2_000 },
  );
});

test("A13 every goal in every line of the kept journals has a phase that its job agrees with", () => {
  const dir = join(import.meta.dirname, "..", "..", "journals");
  const lines = readdirSync(dir)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(dir, name), "utf8").trim().split("\n"));
  const goals = lines.flatMap((line) => {
    const entry = decodeEntry(line, null);
    return typeof entry === "object" && entry.type === "loop" && entry.loop.kind === "goal"
      ? [entry.loop]
      : [];
  });
  expect(goals.length).toBeGreaterThan(50);
  for (const { phase, job } of goals) {
    expect(isPhase(phase)).toBe(true);
    if (job?.kind === "checks") expect(phase.kind).toBe("checking");
    if (job?.kind === "work") expect(["working", "proved"]).toContain(phase.kind);
  }
});
