/** A goal that is played through by hand: events in, decisions and effects to look at. */
import { expect } from "vitest";
import { decide } from "../../../src/core/decide.ts";
import type { Decision, Effect } from "../../../src/core/event.ts";
import { createGoal, type GoalDraft } from "../../../src/core/goal/create.ts";
import type { CheckRound, GoalEvent, TurnRecord } from "../../../src/core/goal/event.ts";
import type { Claims, Failure, FailureClass, Goal, JobId, JobKind } from "../../../src/core/goal/goal.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import { verificationOf } from "../../../src/core/spec/check-flag.ts";
import { aCriterion, LIMITS, START } from "./goals.ts";

export const ID = "b7c1d2e3" as LoopId;
/** The files before any work, and after it. */
export const BEFORE = "tree-0";
export const AFTER = "tree-1";

export function aDraft(overrides: Partial<GoalDraft> = {}): GoalDraft {
  return {
    id: ID,
    session: null,
    spec: "fix the flaky tests",
    score: 9,
    shape: "tool",
    workflow: "B",
    reversibility: "2A",
    criteria: [aCriterion("tests"), aCriterion("lint")],
    mustNot: [],
    steps: [],
    needsPlan: false,
    limits: LIMITS,
    context: "fresh",
    agent: { kind: "named", name: "claude" },
    policy: POLICY,
    ...overrides,
  };
}

export const POLICY: GoalDraft["policy"] = {
  yes: false,
  exitOn: "both",
  gateTimeoutMs: null,
  gateDefault: "reject",
  turnTimeoutMs: 1_800_000,
  checkTimeoutMs: 600_000,
  stillLimit: 6,
  protect: [],
  allowChanges: [],
};

export function claims(overrides: Partial<Claims> = {}): Claims {
  return {
    exitSignal: false,
    criteria: {},
    stuckCount: null,
    next: null,
    steps: null,
    checks: null,
    stepDone: true,
    ...overrides,
  };
}

export const EXIT = claims({ exitSignal: true });

/** A turn that changed one file, used tools and said how far it is. */
export function aTurn(overrides: Partial<TurnRecord> = {}): TurnRecord {
  return {
    failure: null,
    report: { kind: "valid", claims: claims() },
    verdict: null,
    usage: { costUsd: 0.5, inputTokens: 1_000, outputTokens: 200 },
    conversation: null,
    conversationCostUsd: null,
    filesChanged: 1,
    files: ["src/api.ts"],
    tree: AFTER,
    toolCalls: 3,
    mostEdited: null,
    denials: [],
    durationMs: 60_000,
    wroteState: false,
    nextNonce: "for the judges",
    ...overrides,
  };
}

export function signalled(overrides: Partial<TurnRecord> = {}): TurnRecord {
  return aTurn({ report: { kind: "valid", claims: EXIT }, ...overrides });
}

export function failed(kind: FailureClass, overrides: Partial<Failure> = {}): TurnRecord {
  const failure: Failure = { class: kind, reason: `it was a case of ${kind}`, resetsAt: null, ...overrides };
  return aTurn({
    failure,
    report: { kind: "none" },
    usage: null,
    filesChanged: 0,
    files: [],
    tree: BEFORE,
    toolCalls: null,
  });
}

/** All criteria in `green` are met on the tree of the round. */
export function aRound(
  goal: Goal,
  green: "all" | readonly string[],
  overrides: Partial<CheckRound> = {},
  at = START,
): CheckRound {
  const tree = overrides.tree ?? AFTER;
  const evidence = goal.criteria.map(({ name, check }) => {
    const met = green === "all" || green.includes(name);
    const found = {
      met,
      verification: verificationOf(check),
      exitCode: met ? 0 : 1,
      value: null,
      timedOut: false,
      tail: met ? "12 passed" : "1 failed",
      at,
      durationMs: 10,
      tree,
      note: null,
    };
    return [name, found] as const;
  });
  return {
    tree,
    unstable: [],
    evidence: Object.fromEntries(evidence),
    mustNot: [],
    protectedChanges: [],
    tampered: null,
    usage: null,
    failure: null,
    durationMs: 5_000,
    checkpoint: null,
    notes: [],
    ...overrides,
  };
}

export class Play {
  goal: Goal;
  now = START;
  effects: readonly Effect[] = [];

  constructor(goal: Goal) {
    this.goal = goal;
  }

  /** Created, and surveyed with nothing green. */
  static begun(draft: Partial<GoalDraft> = {}, green: readonly string[] = []): Play {
    const play = new Play(createGoal(aDraft(draft), START).loop);
    play.survey(green);
    return play;
  }

  /** Must change the goal. */
  apply(event: GoalEvent): Goal {
    const decision = this.try(event);
    expect(decision.kind, JSON.stringify({ event, decision })).toBe("change");
    return this.goal;
  }

  try(event: GoalEvent): Decision<Goal> {
    const decision = decide(this.goal, event, this.now);
    if (decision.kind === "change") {
      this.effects = decision.effects;
      expect(decision.loop.version).toBe(this.goal.version + 1);
      this.goal = decision.loop;
    }
    return decision;
  }

  refused(event: GoalEvent): string {
    const decision = this.try(event);
    expect(decision.kind, JSON.stringify(event)).toBe("refused");
    return decision.kind === "refused" ? decision.message : "";
  }

  tryDue(): Decision<Goal> {
    return this.try({ type: "goal.due", token: 1, nonce: `nonce-${this.goal.jobs + 1}` });
  }

  /** Looks until something is under way, asked, waited for or paused; says which job it is. */
  due(): JobKind | null {
    for (let looks = 0; looks < 10; looks++)
      if (this.tryDue().kind !== "change" || this.goal.job !== null) break;
    return this.goal.job?.kind ?? null;
  }

  get jobId(): JobId {
    const { job } = this.goal;
    if (job === null) throw new Error("nothing is under way");
    return job.id;
  }

  survey(green: readonly string[] = [], round: Partial<CheckRound> = {}): Goal {
    expect(this.due()).toBe("survey");
    const taken = aRound(this.goal, green, { tree: BEFORE, ...round });
    const baseline = { tree: taken.tree, protectedDigest: "d1", protectedCount: 3, isGit: true };
    return this.apply({ type: "job.surveyed", jobId: this.jobId, baseline, round: taken });
  }

  turned(turn: TurnRecord): Goal {
    this.now += turn.durationMs;
    return this.apply({ type: "job.turned", jobId: this.jobId, turn });
  }

  checked(green: "all" | readonly string[], round: Partial<CheckRound> = {}): Goal {
    expect(this.goal.job?.kind).toBe("checks");
    this.now += 5_000;
    return this.apply({
      type: "job.checked",
      jobId: this.jobId,
      round: aRound(this.goal, green, round, this.now),
    });
  }

  /** One work turn, and the round of checks that follows it at once. */
  work(turn: TurnRecord, green: "all" | readonly string[], round: Partial<CheckRound> = {}): Goal {
    expect(this.due()).toBe("work");
    this.turned(turn);
    return this.checked(green, round);
  }

  answer(answer: "approve" | "reject", note: string | null = null): Goal {
    const gate = this.goal.gate?.kind ?? "G1";
    return this.apply({ type: "goal.answered", gate, answer, note });
  }

  pause(): Goal {
    return this.apply({ type: "goal.paused", code: "person", reason: "a person paused it" });
  }

  continue(raise: Extract<GoalEvent, { type: "goal.continued" }>["raise"] = {}, retryNow = false): Goal {
    return this.apply({ type: "goal.continued", raise, retryNow });
  }

  /** What the last change asks the outside to do. */
  get kinds(): readonly Effect["kind"][] {
    return this.effects.map(({ kind }) => kind);
  }
}
