/**
 * Any order of events keeps the invariants of goals. What is checked at every step:
 *
 * (1) Done means proved: every criterion met on the very tree of the last round, none an assumption, at least one,
 *     no change of a protected file unaccepted, nothing true that must not be.
 * (2) Work begins only for an active goal with nothing under way; a turn only within the limits, after the survey,
 *     with no question open and nothing unchecked. No job has the id of an earlier one.
 * (3) Every turn has one receipt, unless the agent never saw it; iterations are the receipts that were charged, and
 *     never more than allowed. What was spent never falls, and the receipts never say more than that.
 * (4) An ended goal stays as it ended. A question stands only while active.
 * (5) The same events give the same states, and news of a job come once.
 * (6) Versions rise by one. A goal survives JSON. Steps are never dropped by an agent.
 * (7) An active goal is never silent: it works, asks, or knows when to be looked at, and that look changes something.
 * (8) The phase is one of the union's, and the rest of the goal agrees with it: the baseline, the job, the question.
 *     `proved` has evidence for each criterion. No work begins before the questions that come first were answered
 *     with yes, and no last round before the end was confirmed.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { limitReached } from "../../../src/core/cost/limits.ts";
import { decide, loopWakeAt } from "../../../src/core/decide.ts";
import type { Decision } from "../../../src/core/event.ts";
import { asksForEnd } from "../../../src/core/goal/change.ts";
import { createGoal, type GoalDraft } from "../../../src/core/goal/create.ts";
import type { CheckRound, GoalEvent, TurnRecord } from "../../../src/core/goal/event.ts";
import type {
  Claims,
  FailureClass,
  GateKind,
  Goal,
  JobId,
  JobKind,
  ProtectedChange,
} from "../../../src/core/goal/goal.ts";
import { isConfirmed, isPhase, type Phase, type Stage, stageOf } from "../../../src/core/goal/phase.ts";
import { asksForPlan } from "../../../src/core/goal/stages.ts";
import { aDraft, aRound, aTurn, claims, POLICY } from "../../support/goals/goal-play.ts";
import { aCriterion, START } from "../../support/goals/goals.ts";
import { runs } from "../../support/runs.ts";

const HOUR = 3_600_000;
const CLASSES: FailureClass[] = ["quota", "auth", "outage", "timeout", "denied", "overflow", "fault"];
const GATES: GateKind[] = ["G1", "G2", "G3", "pre-check", "proved"];
const TREES = ["tree-0", "tree-1", "tree-2"];
const FILES: ProtectedChange[] = [
  { path: "test/a.test.ts", change: "changed", hash: "h1", criteria: ["a"] },
  { path: "test/a.test.ts", change: "changed", hash: "h2", criteria: ["a"] },
  { path: "vitest.config.ts", change: "deleted", hash: null, criteria: ["a", "b"] },
  { path: "secret", change: "added", hash: "h3", criteria: [] },
];

const criteria = [
  aCriterion("a"),
  aCriterion("b"),
  aCriterion("c", { check: { kind: "judge", question: "?" } }),
  aCriterion("d", { check: { kind: "assumption" } }),
];

const drafts: fc.Arbitrary<GoalDraft> = fc
  .record({
    shape: fc.constantFrom("tool" as const, "colleague" as const),
    reversibility: fc.constantFrom("2A" as const, "2B" as const, "1" as const),
    criteria: fc.constantFrom(criteria.slice(0, 2), criteria.slice(0, 1), criteria.slice(0, 3), criteria, []),
    steps: fc.constantFrom<string[]>([], ["s1", "s2"]),
    needsPlan: fc.boolean(),
    context: fc.constantFrom("fresh" as const, "continue" as const),
    limits: fc.record({
      budgetUsd: fc.constantFrom(3, 25),
      iterations: fc.constantFrom(1, 3, 10),
      timeMs: fc.constantFrom(null, HOUR),
      tokens: fc.constantFrom(null, 5_000),
    }),
    yes: fc.boolean(),
    exitOn: fc.constantFrom("both" as const, "proof" as const),
    gateTimeoutMs: fc.constantFrom(null, HOUR),
    gateDefault: fc.constantFrom("approve" as const, "reject" as const),
    stillLimit: fc.constantFrom(2, 6),
  })
  .map(({ yes, exitOn, gateTimeoutMs, gateDefault, stillLimit, ...draft }) =>
    aDraft({ ...draft, policy: { ...POLICY, yes, exitOn, gateTimeoutMs, gateDefault, stillLimit } }),
  );

const money = fc.option(fc.constantFrom(0, 0.25, 1, 2.5), { freq: 6 });
const usages = fc.option(
  fc.record({ costUsd: money, inputTokens: fc.nat(900), outputTokens: fc.option(fc.nat(90)) }),
  { freq: 5 },
);
const failures = fc.record({
  class: fc.constantFrom(...CLASSES),
  reason: fc.constantFrom("exit 1", "exit 2", "it broke"),
  resetsAt: fc.constantFrom(null, START, START + 2 * HOUR),
});
const someClaims: fc.Arbitrary<Claims> = fc
  .record({
    exitSignal: fc.constantFrom(true, true, false),
    steps: fc.constantFrom(null, null, [], ["s2"], ["x", "y"]),
    checks: fc.constantFrom(null, ["e=true"], ["a=true", "nonsense"]),
    stepDone: fc.boolean(),
  })
  .map((fields) => claims(fields));
const turns: fc.Arbitrary<TurnRecord> = fc
  .record({
    failure: fc.option(failures, { freq: 2, nil: null }).map((failure) => failure),
    isFailing: fc.integer({ min: 0, max: 3 }),
    report: fc.oneof(
      { weight: 4, arbitrary: someClaims.map((said) => ({ kind: "valid" as const, claims: said })) },
      { weight: 1, arbitrary: fc.constant({ kind: "void" as const, reason: "wrong nonce" }) },
      { weight: 1, arbitrary: fc.constant({ kind: "none" as const }) },
    ),
    verdict: fc.constantFrom(null, { kind: "pass" as const, reason: null }),
    usage: usages,
    filesChanged: fc.nat(2),
    toolCalls: fc.constantFrom(null, 0, 3),
    mostEdited: fc.constantFrom(null, null, { path: "x", count: 2 }, { path: "x", count: 5 }),
    conversation: fc.constantFrom(null, "c1"),
    durationMs: fc.nat(10 * 60_000),
    wroteState: fc.boolean(),
  })
  .map(({ isFailing, failure, ...fields }) =>
    aTurn({ ...fields, failure: isFailing === 0 ? failure : null }),
  );

interface RoundWish {
  readonly red: readonly string[];
  readonly tree: string;
  readonly other: boolean;
  readonly extra: Partial<CheckRound>;
}
const rounds: fc.Arbitrary<RoundWish> = fc.record({
  red: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray(["a", "b", "c", "e"]) },
  ),
  tree: fc.constantFrom(...TREES),
  other: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  extra: fc.oneof(
    { weight: 14, arbitrary: fc.constant<Partial<CheckRound>>({}) },
    usages.map((usage) => ({ usage })),
    fc.subarray(FILES, { minLength: 1, maxLength: 2 }).map((protectedChanges) => ({ protectedChanges })),
    fc.constant({ tampered: "gone" }),
    fc.constant({ unstable: ["out.log"] }),
    fc.constant({ mustNot: [{ name: "never", tail: "" }] }),
    failures.map((failure) => ({ failure })),
  ),
});

type Make = (goal: Goal, lastId: JobId) => GoalEvent;
type Action =
  | { readonly do: "go"; readonly turn: TurnRecord; readonly round: RoundWish; readonly yes: boolean }
  | { readonly do: "clock"; readonly ms: number }
  | { readonly do: "event"; readonly make: Make };

const raises = fc.record(
  {
    budgetUsd: fc.constantFrom(1, 50),
    iterations: fc.constantFrom(1, 30),
    timeMs: fc.constantFrom(1, HOUR),
    tokens: fc.constantFrom(1, 50_000),
  },
  { requiredKeys: [] },
);
const always = <T>(value: T) => fc.constant(value);
const someEvents: fc.Arbitrary<Make> = fc.oneof(
  fc.nat(5).map(
    (token): Make =>
      () => ({ type: "goal.due", token, nonce: `n${token}` }),
  ),
  always<Make>((_, jobId) => ({ type: "job.started", jobId, process: null })),
  fc.tuple(someClaims, fc.boolean()).map(
    ([said, isRight]): Make =>
      (goal, jobId) => ({
        type: "job.reported",
        jobId,
        nonce: isRight ? (goal.job?.nonce ?? "") : "guessed",
        claims: said,
      }),
  ),
  turns.map(
    (turn): Make =>
      (_, jobId) => ({ type: "job.turned", jobId, turn }),
  ),
  rounds.map(
    (wish): Make =>
      (goal, jobId) => ({ type: "job.checked", jobId, round: roundOf(goal, wish) }),
  ),
  rounds.map(
    (wish): Make =>
      (goal, jobId) =>
        surveyed(goal, jobId, wish),
  ),
  always<Make>((_, jobId) => ({ type: "job.interrupted", jobId, reason: "stopped" })),
  always<Make>((_, jobId) => ({ type: "job.withdrawn", jobId, reason: "never started" })),
  fc.constantFrom("person" as const, "interrupted" as const, "surroundings" as const, "forged" as const).map(
    (code): Make =>
      () => ({ type: "goal.paused", code, reason: "it was told to" }),
  ),
  fc.tuple(raises, fc.boolean()).map(
    ([raise, retryNow]): Make =>
      () => ({ type: "goal.continued", raise, retryNow }),
  ),
  raises.map(
    (raise): Make =>
      () => ({ type: "goal.raised", raise }),
  ),
  fc.subarray(FILES).map(
    (files): Make =>
      () => ({ type: "goal.accepted", changes: files }),
  ),
  always<Make>(({ protectedChanges }) => ({ type: "goal.accepted", changes: protectedChanges })),
  fc.tuple(fc.constantFrom(...GATES), fc.boolean(), fc.option(fc.constant("because"))).map(
    ([gate, isYes, note]): Make =>
      () => ({ type: "goal.answered", gate, answer: isYes ? "approve" : "reject", note }),
  ),
  fc.constantFrom(...TREES).map(
    (tree): Make =>
      () => ({ type: "goal.rolled-back", checkpoint: "c0ffee", tree }),
  ),
  fc.constantFrom<GoalEvent>({ type: "goal.created" }, { type: "goal.notified" }).map(
    (event): Make =>
      () =>
        event,
  ),
);

const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record({
      do: always("go" as const),
      turn: turns,
      round: rounds,
      yes: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: always("clock" as const), ms: fc.integer({ min: -9 * HOUR, max: 9 * HOUR }) }),
  },
  { weight: 7, arbitrary: fc.record({ do: always("event" as const), make: someEvents }) },
  {
    weight: 1,
    arbitrary: always<Action>({
      do: "event",
      make: ({ version }) =>
        version % 5 === 0 ? { type: "goal.cancelled", reason: "enough" } : { type: "goal.notified" },
    }),
  },
);

const RUNS = runs(400, 10_000);

test("B9 B11 B12 B19 H1 invariants of goals hold in any order of events", { timeout: 600_000 }, () => {
  const ends = new Map<string, number>();
  fc.assert(
    fc.property(drafts, fc.array(actions, { minLength: 12, maxLength: 70 }), (draft, script) => {
      const first = createGoal(draft, START).loop;
      const run = new Run(first);
      for (const action of script) run.act(action);
      expect(replay(first, run.history)).toEqual(run.goal);
      const how = run.goal.end?.status ?? run.goal.status;
      ends.set(how, (ends.get(how) ?? 0) + 1);
    }),
    { numRuns: RUNS },
  );
  // The scripts must get somewhere, or nothing of this means anything.
  for (const how of ["done", "cancelled", "paused", "active"])
    expect(ends.get(how) ?? 0, how).toBeGreaterThan(RUNS / 100);
});

interface Seen {
  readonly event: GoalEvent;
  readonly now: number;
}

class Run {
  goal: Goal;
  now = START;
  readonly history: Seen[] = [];
  readonly #ids = new Set<JobId>();
  #lastId = "none" as JobId;
  #turns = 0;
  readonly #first: Goal;
  readonly #yes = new Set<GateKind>();

  constructor(goal: Goal) {
    this.goal = goal;
    this.#first = goal;
  }

  act(action: Action): void {
    switch (action.do) {
      case "clock":
        this.now += action.ms;
        return;
      case "event":
        this.#apply(action.make(this.goal, this.goal.job?.id ?? this.#lastId));
        return;
      case "go":
        this.#go(action);
    }
  }

  /** What would happen if nobody interfered. */
  #go({ turn, round, yes }: Extract<Action, { do: "go" }>): void {
    const { job, gate, status } = this.goal;
    if (job !== null) {
      const jobId = job.id;
      if (job.kind === "survey") this.#apply(surveyed(this.goal, jobId, round));
      else if (job.kind === "checks")
        this.#apply({ type: "job.checked", jobId, round: roundOf(this.goal, round) });
      else this.#apply({ type: "job.turned", jobId, turn });
    } else if (status === "paused") {
      this.#apply({ type: "goal.accepted", changes: this.goal.protectedChanges });
      this.#apply({ type: "goal.continued", raise: yes ? { iterations: 2 } : {}, retryNow: true });
    } else if (gate !== null && yes) {
      this.#apply({ type: "goal.answered", gate: gate.kind, answer: "approve", note: null });
    } else {
      const at = loopWakeAt(this.goal);
      if (at === null) return;
      this.now = Math.max(this.now, at);
      const decision = this.#apply({ type: "goal.due", token: 1, nonce: `n${this.goal.jobs}` });
      must(decision.kind === "change", "a look at the moment that it asked for changes nothing");
    }
  }

  #apply(event: GoalEvent): Decision<Goal> {
    const before = deepFreeze(this.goal);
    const decision = decide(before, event, this.now);
    const again = decide(JSON.parse(JSON.stringify(before)), event, this.now);
    must(JSON.stringify(again) === JSON.stringify(decision), "decided otherwise on the same");
    if (decision.kind !== "change") return decision;
    const after = decision.loop;
    must(lostInJson(after) === null, `not JSON: ${lostInJson(after)}`);
    must(after.version === before.version + 1, "the version rises by one");
    this.#checkWork(before, decision, event);
    this.#checkAccounts(before, after);
    checkStatus(before, after);
    checkPhase(after);
    this.#checkYes(before, after, event);
    if (before.status !== "ended" && after.end?.status === "done") checkDone(after, event);
    if (event.type === "job.turned") {
      const names = new Set(after.steps.map(({ name }) => name));
      must(
        before.steps.every(({ name }) => names.has(name)),
        "a step was dropped",
      );
    }
    if (event.type.startsWith("job."))
      must(decide(after, event, this.now).kind === "none", `${event.type} twice`);
    this.goal = after;
    this.#lastId = before.job?.id ?? this.#lastId;
    this.history.push({ event, now: this.now });
    return decision;
  }

  #checkWork(
    before: Goal,
    { loop, effects }: Extract<Decision<Goal>, { kind: "change" }>,
    event: GoalEvent,
  ): void {
    const works = effects.flatMap((effect) => (effect.kind === "work" ? [effect.jobId] : []));
    const isNew = loop.job !== null && loop.job.id !== before.job?.id;
    must(works.length === Number(isNew), "work that is not the job, or a job without work");
    if (event.type === "job.withdrawn" && before.job !== null && isTurn(before.job.kind)) this.#turns -= 1;
    if (!isNew || loop.job === null) return;
    const { job } = loop;
    must(works[0] === job.id, "the work of another job");
    must(before.status === "active" && loop.status === "active", "work for a goal that stands still");
    must(before.job === null || event.type === "job.turned", "two jobs at once");
    must(!this.#ids.has(job.id), `${job.id} again`);
    this.#ids.add(job.id);
    if (!isTurn(job.kind)) return;
    this.#turns += 1;
    must(limitReached(before) === null, "a turn over the limit");
    must(
      before.gate === null && before.phase.kind !== "checking" && before.baseline !== null,
      "a turn too early",
    );
    must((before.waitUntil ?? 0) <= this.now, "a turn before the wait is over");
    must(job.kind !== "work" || stageOf(before.phase) === "working", "work that nobody approved");
  }

  /** What a person said yes to, by the events alone and not by the phase. */
  #checkYes(before: Goal, after: Goal, event: GoalEvent): void {
    const isTimeout = event.type === "goal.due" && before.policy.gateDefault === "approve";
    const isYes = (event.type === "goal.answered" && event.answer === "approve") || isTimeout;
    if (isYes && before.gate !== null) this.#yes.add(before.gate.kind);
    const isWork = after.job?.kind === "work";
    if (isWork && asksForPlan(this.#first)) must(this.#yes.has("G1"), "work without an approved plan");
    if (isWork && after.reversibility === "1") must(this.#yes.has("pre-check"), "work without a pre-check");
    if (event.type === "goal.rolled-back") must(isUnsettled(after.phase), "proved on files that are gone");
    if (!isConfirmed(after.phase) || isConfirmed(before.phase)) return;
    const isAtLimit = event.type === "goal.due" && before.policy.yes && limitReached(before) !== null;
    must(isAtLimit || (isYes && asksForEnd(before.gate)), "an end that nobody confirmed");
    must(before.phase.kind === "proved", "an end confirmed of what is not proved");
  }

  #checkAccounts(before: Goal, after: Goal): void {
    const { receipts, spent, iteration, limits, job } = after;
    const isOpen = job !== null && isTurn(job.kind);
    must(receipts.length === this.#turns - Number(isOpen), "a turn without a receipt, or two");
    must(receipts.filter(({ charged }) => charged).length === iteration, "iterations that no receipt tells");
    must(iteration <= limits.iterations, "too many iterations");
    for (const key of ["costUsd", "tokens", "timeMs", "unpriced"] as const)
      must(spent[key] >= before.spent[key], `${key} fell`);
    const told = receipts.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
    must(told <= spent.costUsd + 1e-9, "receipts of more than was spent");
    must(new Set(receipts.map(({ jobId }) => jobId)).size === receipts.length, "two receipts of one turn");
  }
}

function checkStatus(before: Goal, after: Goal): void {
  must(after.status === "active" || after.gate === null, "a question of a goal that stands still");
  must((after.pause === null) === (after.status !== "paused"), "a pause without its reason");
  must((after.end === null) === (after.status !== "ended"), "an end without its reason");
  const isIdle = after.status === "active" && after.job === null && after.gate === null;
  must(!isIdle || loopWakeAt(after) !== null, "silent");
  if (before.status !== "ended") return;
  expect(after.end).toEqual(before.end);
  if (before.end?.status === "done")
    expect(after).toEqual({ ...before, version: after.version, notice: after.notice });
}

const JOB_OF: Readonly<Record<Phase["kind"], JobKind | null>> = {
  survey: "survey",
  planning: "plan",
  approval: null,
  "pre-check": "precheck",
  working: "work",
  checking: "checks",
  proved: "work",
};

const STAGE_OF: Readonly<Record<GateKind, Stage>> = {
  G1: "approval",
  "pre-check": "pre-check",
  G2: "working",
  G3: "working",
  proved: "working",
};

function checkPhase(goal: Goal): void {
  const { phase, baseline, job, gate, criteria, evidence, tree } = goal;
  must(isPhase(phase), `no phase: ${JSON.stringify(phase)}`);
  must((phase.kind === "survey") === (baseline === null), "a baseline without a survey, or the other way");
  must(job === null || job.kind === JOB_OF[phase.kind], `${job?.kind} while ${phase.kind}`);
  if (gate !== null) must(STAGE_OF[gate.kind] === stageOf(phase), `${gate.kind} while ${phase.kind}`);
  must(!asksForEnd(gate) || phase.kind === "proved", "asks for the end of what is not proved");
  if (phase.kind !== "proved") return;
  must(phase.tree === tree && criteria.length > 0, "proved on other files, or nothing");
  for (const { name, check } of criteria)
    must(
      check.kind !== "assumption" && evidence[name]?.met === true && evidence[name].tree === tree,
      `proved without evidence for ${name}`,
    );
}

/** Nothing is known of the files as they are. */
function isUnsettled(phase: Phase): boolean {
  return phase.kind === "survey" || (phase.kind === "checking" && phase.from.kind !== "proved");
}

function checkDone(after: Goal, event: GoalEvent): void {
  expect(event.type).toBe("job.checked");
  if (event.type !== "job.checked") return;
  expect(event.round).toMatchObject({ mustNot: [], tampered: null, unstable: [], failure: null });
  expect(after).toMatchObject({ job: null, protectedChanges: [], tree: event.round.tree });
  expect(after.criteria.length).toBeGreaterThan(0);
  for (const { name, check } of after.criteria) {
    expect(check.kind).not.toBe("assumption");
    expect(after.evidence[name]).toMatchObject({ met: true, tree: after.tree });
    expect(event.round.evidence[name]?.met).toBe(true);
  }
  const unaccepted = event.round.protectedChanges.filter(
    ({ path, hash }) => !after.accepted.some((known) => known.path === path && known.hash === hash),
  );
  expect(unaccepted).toEqual([]);
  if (after.policy.exitOn === "both" && !after.policy.yes)
    expect(after.exitSignal || isConfirmed(after.phase), "nobody wanted the end").toBe(true);
  if (after.shape === "colleague" && !after.policy.yes) expect(isConfirmed(after.phase)).toBe(true);
}

/** As `expect`, for what is looked at a million times. */
function must(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

function isTurn(kind: string): boolean {
  return kind === "work" || kind === "plan" || kind === "precheck";
}

function roundOf(goal: Goal, { red, tree, other, extra }: RoundWish): CheckRound {
  const green = goal.criteria.map(({ name }) => name).filter((name) => !red.includes(name));
  const round = aRound(goal, green, { tree, ...extra });
  return other ? { ...round, tree: "another" } : round;
}

function surveyed(goal: Goal, jobId: JobId, wish: RoundWish): GoalEvent {
  const round = roundOf(goal, wish);
  const baseline = { tree: round.tree, protectedDigest: "d", protectedCount: 1, isGit: true };
  return { type: "job.surveyed", jobId, baseline, round };
}

function replay(first: Goal, history: readonly Seen[]): Goal {
  let goal = first;
  for (const { event, now } of history) {
    const decision = decide(goal, event, now);
    if (decision.kind === "change") goal = decision.loop;
  }
  return goal;
}

/** What JSON would drop or change. */
function lostInJson(value: unknown, path = "goal"): string | null {
  if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      const lost = lostInJson(inner, `${path}.${key}`);
      if (lost !== null) return lost;
    }
    return null;
  }
  const isKept = typeof value === "number" ? Number.isFinite(value) : value !== undefined;
  return isKept ? null : `${path}: ${value}`;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
