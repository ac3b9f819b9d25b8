/** The way of a goal from its survey to its end, and what people and late news do to it. */
import { describe, expect, test } from "vitest";
import { decide, loopWakeAt } from "../../../src/core/decide.ts";
import { createGoal, type GoalDraft } from "../../../src/core/goal/create.ts";
import type { GoalEvent, TurnRecord } from "../../../src/core/goal/event.ts";
import type { Goal, JobId } from "../../../src/core/goal/goal.ts";
import {
  AFTER,
  aDraft,
  aRound,
  aTurn,
  BEFORE,
  claims,
  EXIT,
  Play,
  POLICY,
  signalled,
} from "../../support/goals/goal-play.ts";
import { aCriterion, START } from "../../support/goals/goals.ts";
import { cron, task } from "../../support/tasks.ts";

const YES: Partial<GoalDraft> = { policy: { ...POLICY, yes: true } };
const PROOF: Partial<GoalDraft> = { policy: { ...POLICY, exitOn: "proof" } };
const COLLEAGUE: Partial<GoalDraft> = { shape: "colleague" };

describe("the way to the end", () => {
  test("B7 the first job is the survey, under the token and the nonce of the look", () => {
    const play = new Play(createGoal(aDraft(), START).loop);
    expect(play.due()).toBe("survey");
    expect(play.goal.job).toMatchObject({ id: "b7c1d2e3-1", token: 1, nonce: "nonce-1" });
    expect(play.effects).toEqual([{ kind: "work", jobId: "b7c1d2e3-1" }]);
    play.survey();
    expect(play.goal.baseline).toMatchObject({ tree: BEFORE, green: [] });
    expect(play.goal.tree).toBe(BEFORE);
  });

  test("B9 a tool works, is checked at once, and ends when everything is proved and signalled", () => {
    const play = Play.begun();
    expect(play.due()).toBe("work");
    play.turned(signalled());
    expect(play.goal.job).toMatchObject({ kind: "checks", nonce: "for the judges" });
    expect(play.goal.phase).toEqual({ kind: "checking", round: "iteration", from: { kind: "working" } });
    play.checked("all");
    expect(play.goal).toMatchObject({
      status: "ended",
      iteration: 1,
      job: null,
      end: { status: "done", verdict: "SHIP", notes: [] },
    });
    expect(play.kinds).toEqual(["notify"]);
    expect(play.goal.notice?.title).toBe("Goal b7c1d2e3 is done");
    play.apply({ type: "goal.notified" });
    expect(play.goal.notice).toBeNull();
    expect(play.try({ type: "goal.notified" }).kind).toBe("none");
  });

  test("B21 a spec of several steps is planned first; the steps are kept and done one by one", () => {
    const play = Play.begun({ needsPlan: true });
    expect(play.due()).toBe("plan");
    play.turned(aTurn({ report: { kind: "valid", claims: claims({ steps: ["find it", "fix it"] }) } }));
    expect(play.goal.iteration).toBe(0);
    expect(play.goal.steps.map(({ name }) => name)).toEqual(["find it", "fix it"]);
    play.work(aTurn(), []);
    expect(play.goal.steps.map(({ status }) => status)).toEqual(["done", "open"]);
    expect(play.goal.receipts.map(({ kind, step }) => [kind, step])).toEqual([
      ["plan", null],
      ["work", "find it"],
    ]);
    play.work(aTurn({ report: { kind: "valid", claims: claims({ stepDone: false }) } }), []);
    expect(play.goal.steps.map(({ status }) => status)).toEqual(["done", "open"]);
  });

  test("B21 a plan that cannot be read makes the spec itself the step", () => {
    const play = Play.begun({ needsPlan: true, spec: "fix the tests\nall of them" });
    play.due();
    play.turned(aTurn({ report: { kind: "none" } }));
    expect(play.goal.steps).toEqual([{ name: "fix the tests", status: "open" }]);
    expect(play.due()).toBe("work");
  });

  test.each([
    ["other steps", ["c", "d"], ["a:done", "b:replaced", "c:open", "d:open"]],
    ["the same steps", ["b"], ["a:done", "b:open"]],
    ["no list", null, ["a:done", "b:open"]],
    ["an empty list", [], ["a:done", "b:open"]],
  ])("B21 steps are replaced and never dropped: %s", (_, steps, expected) => {
    const play = Play.begun({ steps: ["a", "b"] });
    play.work(aTurn({ report: { kind: "valid", claims: claims({ steps }) } }), []);
    expect(play.goal.steps.map(({ name, status }) => `${name}:${status}`)).toEqual(expected);
  });

  test("B21 steps given by hand need no planning turn", () => {
    expect(Play.begun({ needsPlan: true, steps: ["a", "b"] }).due()).toBe("work");
  });

  test("B4 what cannot be taken back needs a second agent and a person, also with --yes", () => {
    const play = Play.begun({ reversibility: "1", ...YES });
    expect(play.due()).toBe("precheck");
    play.turned(aTurn({ verdict: { kind: "reject", reason: "it drops a table" } }));
    expect(play.goal.gate).toMatchObject({ kind: "pre-check" });
    expect(play.goal.gate?.details[0]).toBe("A second agent objects: it drops a table");
    expect(play.goal.iteration).toBe(0);
    expect(play.due()).toBeNull();
    play.answer("approve");
    play.work(signalled(), "all");
    expect(play.goal.end).toMatchObject({ status: "done", verdict: "MONITOR" });
  });

  test.each([
    [{ kind: "pass", reason: null }, "A second agent looked for risks and has no objection."],
    [{ kind: "none", reason: null }, "A second agent objects: it gave no verdict"],
  ] as const)("B4 the pre-check's word %o is shown", (verdict, words) => {
    const play = Play.begun({ reversibility: "1" });
    play.due();
    play.turned(aTurn({ verdict }));
    expect(play.goal.gate?.details[0]).toBe(words);
  });
});

describe("B9 dual exit", () => {
  test("proved but not signalled: one more turn that says so; proved again on the same tree: asks", () => {
    const play = Play.begun();
    play.work(aTurn(), "all");
    expect(play.goal).toMatchObject({ status: "active", phase: { kind: "proved", tree: AFTER }, gate: null });
    expect(play.goal.remarks.join()).toContain("Every criterion is proved now");
    play.work(aTurn({ filesChanged: 0 }), "all");
    expect(play.goal.gate?.kind).toBe("proved");
    expect(play.due()).toBeNull();
    play.answer("approve");
    expect(play.goal.phase).toEqual({
      kind: "checking",
      round: "final",
      from: { kind: "proved", tree: AFTER },
    });
    expect(play.due()).toBe("checks");
    play.checked("all");
    expect(play.goal.end).toMatchObject({
      status: "done",
      notes: ["the agent never signalled the end; a person confirmed it"],
    });
  });

  test("proved, not signalled, and the tree changes: one more turn each time", () => {
    const play = Play.begun();
    play.work(aTurn(), "all");
    play.work(aTurn({ tree: "tree-2" }), "all", { tree: "tree-2" });
    expect(play.goal).toMatchObject({ gate: null, phase: { kind: "proved", tree: "tree-2" } });
  });

  test("proved twice without a signal ends with --yes, and says so", () => {
    const play = Play.begun(YES);
    play.work(aTurn(), "all");
    play.work(aTurn(), "all");
    expect(play.goal.end).toMatchObject({ status: "done", notes: ["the agent never signalled the end"] });
  });

  test("--exit-on proof needs no signal", () => {
    const play = Play.begun(PROOF);
    play.work(aTurn(), "all");
    expect(play.goal.end?.status).toBe("done");
  });

  test("signalled but unproved: goes on, with what failed in the next prompt", () => {
    const play = Play.begun();
    play.work(signalled(), ["lint"]);
    expect(play.goal).toMatchObject({ status: "active", job: null, gate: null });
    expect(play.goal.remarks).toContain("You signalled the end, but these criteria are not proved: tests.");
    expect(play.due()).toBe("work");
  });

  test("a signal counts for its own turn: what is proved later needs a new one", () => {
    const play = Play.begun();
    play.work(signalled(), []);
    play.work(aTurn(), "all");
    expect(play.goal).toMatchObject({
      status: "active",
      exitSignal: false,
      phase: { kind: "proved", tree: AFTER },
    });
  });

  test("neither proved nor signalled: goes on", () => {
    const play = Play.begun();
    play.work(aTurn(), []);
    expect(play.goal.remarks).toEqual([]);
    expect(play.due()).toBe("work");
  });

  test("a person's no to the end makes it go on, with their words in the prompt", () => {
    const play = Play.begun(COLLEAGUE);
    play.due();
    play.answer("approve");
    play.work(signalled(), "all");
    expect(play.goal.gate?.kind).toBe("G3");
    play.answer("reject", "the docs are missing");
    expect(play.goal).toMatchObject({ status: "active", exitSignal: false, phase: { kind: "working" } });
    expect(play.goal.remarks).toContain("A person said no: the docs are missing");
    expect(play.due()).toBe("work");
  });

  test("the checks have the last word after a person confirmed", () => {
    const play = Play.begun(COLLEAGUE);
    play.due();
    play.answer("approve");
    play.work(signalled(), "all");
    play.answer("approve");
    expect(play.due()).toBe("checks");
    play.checked(["lint"]);
    expect(play.goal).toMatchObject({ status: "active", phase: { kind: "working" }, end: null });
    expect(play.due()).toBe("work");
  });

  test("without criteria nothing is ever proved", () => {
    const play = Play.begun({ criteria: [], ...PROOF });
    expect(play.due()).toBeNull();
    expect(play.goal.pause).toMatchObject({ code: "person" });
    play.continue();
    const forced: Goal = { ...play.goal, phase: { kind: "working" } };
    const other = new Play(forced);
    other.work(signalled(), "all");
    expect(other.goal.status).toBe("active");
  });

  test("evidence of another tree proves nothing", () => {
    const play = Play.begun();
    play.due();
    play.turned(signalled());
    const round = { ...aRound(play.goal, "all"), tree: "a later tree" };
    play.apply({ type: "job.checked", jobId: play.jobId, round });
    expect(play.goal.status).toBe("active");
  });
});

describe("B10 claims", () => {
  test("the tool's report counts with the nonce of the turn, and before the status block", () => {
    const play = Play.begun();
    play.due();
    const { jobId } = play;
    const reported: GoalEvent = { type: "job.reported", jobId, nonce: "nonce-2", claims: EXIT };
    expect(play.refused({ ...reported, nonce: "guessed" })).toContain("does not count");
    expect(play.goal.job?.reported).toBeNull();
    play.apply(reported);
    expect(play.try(reported).kind).toBe("none");
    play.turned(aTurn({ report: { kind: "none" } }));
    play.checked("all");
    expect(play.goal.end?.status).toBe("done");
    expect(play.goal.receipts[0]).toMatchObject({ claimedExit: true, notes: [] });
  });

  test.each<[string, Partial<TurnRecord>, string]>([
    ["a void block", { report: { kind: "void", reason: "It has another nonce." } }, "It has another nonce."],
    ["no block", { report: { kind: "none" } }, "no status block"],
    ["a written state.json (B8)", { wroteState: true }, "state.json were ignored"],
    ["a denied tool", { denials: ["Bash(rm)"] }, "not allowed to use Bash(rm)"],
  ])("%s is told in the next prompt", (_, turn, words) => {
    const play = Play.begun();
    play.work(aTurn(turn), []);
    expect(play.goal.remarks.join("\n")).toContain(words);
  });

  test("a void block is no signal, and is on the receipt", () => {
    const play = Play.begun();
    play.work(aTurn({ report: { kind: "void", reason: "wrong nonce" } }), "all");
    expect(play.goal).toMatchObject({ status: "active", exitSignal: false });
    expect(play.goal.receipts[0]?.notes).toEqual(["claim ignored: wrong nonce"]);
  });

  test("claimed criteria are not evidence", () => {
    const play = Play.begun();
    const said = { ...EXIT, criteria: { tests: true, lint: true } };
    play.work(aTurn({ report: { kind: "valid", claims: said } }), []);
    expect(play.goal.status).toBe("active");
    expect(play.goal.evidence.tests?.met).toBe(false);
  });
});

describe("B19 pause and cancel", () => {
  test("a paused goal starts nothing, and goes on with continue", () => {
    const play = Play.begun();
    play.pause();
    expect(play.goal.pause).toMatchObject({ code: "person", goOn: "loop continue b7c1d2e3" });
    expect(loopWakeAt(play.goal)).toBeNull();
    expect(play.tryDue().kind).toBe("none");
    expect(play.try({ type: "goal.paused", code: "person", reason: "again" }).kind).toBe("none");
    play.continue();
    expect(play.due()).toBe("work");
  });

  test.each<[string, GoalEvent]>([
    ["pause", { type: "goal.paused", code: "person", reason: "a person paused it" }],
    ["cancel", { type: "goal.cancelled", reason: "a person cancelled it" }],
  ])("%s while a turn runs stops it; its late result is recorded and nothing follows", (_, event) => {
    const play = Play.begun();
    play.due();
    play.apply(event);
    expect(play.effects).toContainEqual({
      kind: "cancel",
      fireId: "b7c1d2e3-2",
      reason: "reason" in event ? event.reason : "",
    });
    const { status } = play.goal;
    play.turned(signalled());
    expect(play.goal).toMatchObject({ status, job: null, iteration: 1, spent: { costUsd: 0.5 } });
    expect(play.goal.receipts).toHaveLength(1);
    expect(play.kinds).toEqual([]);
    expect(play.tryDue().kind).toBe("none");
  });

  test("the late result of a paused turn is checked when it goes on, and counted then", () => {
    const play = Play.begun(COLLEAGUE);
    play.due();
    play.answer("approve");
    play.due();
    play.pause();
    play.turned(aTurn());
    play.continue();
    expect(play.due()).toBe("checks");
    play.checked(["lint"]);
    expect(play.goal.breakers.stuckCount).toBe(1);
    expect(play.goal.gate?.kind).toBe("G2");
  });

  test("a round of checks that comes back while paused proves nothing; it is taken again, and counted once", () => {
    const play = Play.begun();
    play.due();
    play.turned(signalled());
    play.pause();
    play.checked("all");
    expect(play.goal).toMatchObject({ status: "paused", end: null, phase: { kind: "checking" } });
    expect(play.goal.breakers.stillCount).toBe(0);
    play.continue();
    expect(play.due()).toBe("checks");
    play.checked("all");
    expect(play.goal.end?.status).toBe("done");
  });

  test("a round that was interrupted is taken again for the same turn: breakers and G2 miss nothing", () => {
    const play = Play.begun(COLLEAGUE);
    play.due();
    play.answer("approve");
    play.due();
    play.turned(aTurn());
    play.apply({ type: "job.interrupted", jobId: play.jobId, reason: "the runner ended" });
    expect(play.due()).toBe("checks");
    expect(play.goal.phase).toMatchObject({ round: "iteration" });
    play.checked([]);
    expect(play.goal.breakers.stuckCount).toBe(1);
    expect(play.goal.gate?.kind).toBe("G2");
    play.answer("approve");
    expect(play.due()).toBe("work");
  });

  test("an ended goal takes nothing more", () => {
    const play = Play.begun();
    play.apply({ type: "goal.cancelled", reason: "a person cancelled it" });
    expect(play.goal).toMatchObject({ status: "ended", end: { status: "cancelled", verdict: null } });
    expect(play.kinds).toEqual([]);
    const events: GoalEvent[] = [
      { type: "goal.cancelled", reason: "again" },
      { type: "goal.paused", code: "person", reason: "again" },
      { type: "goal.continued", raise: {}, retryNow: true },
      { type: "goal.raised", raise: { budgetUsd: 1 } },
      { type: "goal.accepted", changes: [] },
      { type: "goal.rolled-back", checkpoint: "c0ffee", tree: BEFORE },
      { type: "goal.answered", gate: "G1", answer: "approve", note: null },
    ];
    for (const event of events) play.refused(event);
    expect(play.tryDue().kind).toBe("none");
    expect(loopWakeAt(play.goal)).toBeNull();
  });

  test("a turn that was stopped has a receipt, costs no iteration, and what it left is checked", () => {
    const play = Play.begun();
    play.due();
    play.apply({ type: "job.started", jobId: play.jobId, process: { pid: 7, start: "s" } });
    expect(play.goal.job).toMatchObject({ startedAt: START, process: { pid: 7 } });
    play.now += 30_000;
    play.apply({ type: "job.interrupted", jobId: play.jobId, reason: "the runner was stopped" });
    expect(play.goal).toMatchObject({
      job: null,
      iteration: 0,
      phase: { kind: "checking" },
      spent: { unpriced: 1 },
    });
    expect(play.goal.receipts[0]).toMatchObject({
      kind: "work",
      agentMs: 30_000,
      charged: false,
      notes: ["stopped: the runner was stopped"],
    });
    expect(play.due()).toBe("checks");
    expect(play.goal.phase).toMatchObject({ round: "extra" });
    play.checked([]);
    expect(play.goal.breakers.stuckCount).toBe(0);
  });

  test("a turn that the agent never saw is as if it had not been intended", () => {
    const play = Play.begun();
    play.due();
    play.apply({ type: "job.withdrawn", jobId: play.jobId, reason: "never started" });
    expect(play.goal).toMatchObject({ job: null, receipts: [], phase: { kind: "working" } });
    expect(play.due()).toBe("work");
    expect(play.jobId).toBe("b7c1d2e3-3");
  });

  test("broken surroundings pause it and leave no job behind, whoever paused it before", () => {
    const broken: GoalEvent = {
      type: "goal.paused",
      code: "surroundings",
      reason: "no space left on device",
    };
    const active = Play.begun();
    active.due();
    active.apply(broken);
    expect(active.goal).toMatchObject({
      status: "paused",
      job: null,
      phase: { kind: "checking", round: "extra" },
      pause: { code: "surroundings" },
    });
    expect(active.goal.receipts).toHaveLength(1);
    expect(active.kinds).toEqual(["notify"]);
    const paused = Play.begun();
    paused.due();
    paused.pause();
    paused.apply(broken);
    expect(paused.goal).toMatchObject({ status: "paused", job: null, pause: { code: "person" } });
    const ended = Play.begun();
    ended.due();
    ended.apply({ type: "goal.cancelled", reason: "enough" });
    ended.apply(broken);
    expect(ended.goal).toMatchObject({ status: "ended", job: null });
  });
});

describe("a forged line", () => {
  const forged: GoalEvent = {
    type: "goal.paused",
    code: "forged",
    reason: "somebody wrote into the journal",
  };

  test("pauses a goal that was active, and one that was paused already", () => {
    const play = Play.begun();
    play.due();
    play.apply(forged);
    expect(play.goal.pause?.code).toBe("forged");
    expect(play.kinds).toEqual(["cancel", "notify"]);
    const paused = Play.begun();
    paused.pause();
    paused.apply(forged);
    expect(paused.goal).toMatchObject({ status: "paused", pause: { code: "forged" } });
  });

  test("of a goal that has ended is undone by writing it once more, as it was", () => {
    const play = Play.begun();
    play.work(signalled(), "all");
    const before = play.goal;
    expect(play.apply(forged)).toEqual({ ...before, version: before.version + 1 });
  });
});

describe("late and foreign news", () => {
  test("news of a job that is over change nothing", () => {
    const play = Play.begun();
    play.due();
    const jobId = play.jobId;
    play.turned(aTurn());
    const round = aRound(play.goal, "all");
    const baseline = { tree: BEFORE, protectedDigest: "d", protectedCount: 0, isGit: true };
    const late: GoalEvent[] = [
      { type: "job.started", jobId, process: null },
      { type: "job.reported", jobId, nonce: "nonce-2", claims: EXIT },
      { type: "job.turned", jobId, turn: signalled() },
      { type: "job.checked", jobId, round },
      { type: "job.surveyed", jobId, baseline, round },
      { type: "job.interrupted", jobId, reason: "late" },
      { type: "job.withdrawn", jobId, reason: "late" },
      { type: "job.checked", jobId: "b7c1d2e3-99" as JobId, round },
      { type: "goal.created" },
    ];
    for (const event of late) expect(play.try(event), event.type).toEqual({ kind: "none" });
  });

  test("events of another kind of loop change nothing", () => {
    expect(decide(Play.begun().goal, { type: "task.paused" }, START)).toEqual({ kind: "none" });
    const loop = task(cron("*/5 * * * *"));
    expect(decide(loop, { type: "goal.cancelled", reason: "x" }, START)).toEqual({ kind: "none" });
  });

  test("H1 a clock that was set back to before its creation does not stop it", () => {
    const play = Play.begun();
    play.now = START - 86_400_000;
    expect(play.due()).toBe("work");
  });
});

describe("receipts", () => {
  test("B12 receipts and what was spent add up, judges included", () => {
    const judged = aCriterion("ui", { check: { kind: "judge", question: "Is it blue?" } });
    const play = Play.begun({ criteria: [aCriterion("tests"), judged] });
    play.work(aTurn(), ["tests"], { usage: { costUsd: 0.25, inputTokens: 100, outputTokens: 10 } });
    play.work(aTurn({ usage: null }), ["tests"], {
      usage: { costUsd: 0.125, inputTokens: 50, outputTokens: 5 },
    });
    const { receipts, spent } = play.goal;
    const total = (of: (receipt: (typeof receipts)[number]) => number | null) =>
      receipts.reduce((sum, receipt) => sum + (of(receipt) ?? 0), 0);
    expect(spent.costUsd).toBeCloseTo(0.875);
    expect(total(({ costUsd }) => costUsd)).toBeCloseTo(spent.costUsd);
    expect(total(({ inputTokens, outputTokens }) => (inputTokens ?? 0) + (outputTokens ?? 0))).toBe(
      spent.tokens,
    );
    expect(spent.tokens).toBe(1_365);
    expect(spent.unpriced).toBe(1);
    // The survey took 5 s, and belongs to no turn.
    expect(total(({ agentMs, checksMs }) => agentMs + checksMs)).toBe(spent.timeMs - 5_000);
  });

  test("what moved, the checkpoint and the notes of the round are on the receipt", () => {
    const play = Play.begun();
    play.work(aTurn(), ["lint"], { checkpoint: 3, notes: ["no git here"] });
    expect(play.goal.receipts[0]).toMatchObject({
      iteration: 1,
      charged: true,
      moved: ["lint ✓"],
      checkpoint: 3,
      notes: ["no git here"],
      files: ["src/api.ts"],
    });
    play.work(aTurn(), []);
    expect(play.goal.receipts[1]?.moved).toEqual(["lint ✗"]);
  });

  test("a conversation goes on where the goal wants that, and its running total with it", () => {
    const turn = aTurn({ conversation: "conv-1", conversationCostUsd: 1.5 });
    const kept = Play.begun({ context: "continue" });
    kept.work(turn, []);
    expect(kept.goal).toMatchObject({ conversation: "conv-1", conversationCostUsd: 1.5 });
    kept.work(aTurn(), []);
    expect(kept.goal.conversation).toBe("conv-1");
    const fresh = Play.begun();
    fresh.work(turn, []);
    expect(fresh.goal.conversation).toBeNull();
  });
});
