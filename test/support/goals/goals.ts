/** Goals for tests: whole and valid, with as little as possible to say. */
import { NO_BREAKERS } from "../../../src/core/goal/breakers.ts";
import type {
  Criterion,
  Evidence,
  Goal,
  Job,
  JobId,
  Limits,
  Receipt,
  Spent,
  Step,
} from "../../../src/core/goal/goal.ts";
import type { LoopId } from "../../../src/core/loop.ts";

/** The moment at which the world of memory-ports.ts starts too. */
export const START = Date.UTC(2026, 0, 5, 10, 0, 0);
export const NONCE = "n0nce-4f2a";
export const TREE = "3f9a2b7c41d85e60";

/** A goal that has been created and surveyed: two criteria, three steps, nothing done and nothing under way. */
export function aGoal(overrides: Partial<Goal> = {}): Goal {
  return {
    kind: "goal",
    id: "b7c1d2e3" as LoopId,
    version: 3,
    session: null,
    status: "active",
    createdAt: START,
    spec: "Fix the flaky tests in test/api so that npm test passes. No new dependencies.",
    score: 9,
    shape: "tool",
    workflow: "B",
    reversibility: "2A",
    criteria: [
      aCriterion("tests"),
      aCriterion("lint", { check: { kind: "command", command: "npm run lint" } }),
    ],
    mustNot: [],
    steps: [aStep("Find the failing test"), aStep("Fix the root cause"), aStep("Verify")],
    needsPlan: false,
    proposed: [],
    limits: LIMITS,
    warned: [],
    spent: NOTHING_SPENT,
    iteration: 0,
    jobs: 1,
    context: "continue",
    conversation: null,
    conversationCostUsd: 0,
    agent: { kind: "named", name: "claude" },
    policy: {
      yes: false,
      exitOn: "both",
      gateTimeoutMs: null,
      gateDefault: "reject",
      turnTimeoutMs: 1_800_000,
      checkTimeoutMs: 600_000,
      stillLimit: 5,
      protect: [],
      allowChanges: [],
    },
    baseline: { tree: TREE, protectedDigest: "d1ge57", protectedCount: 12, green: [], isGit: true },
    accepted: [],
    protectedChanges: [],
    evidence: {},
    tree: TREE,
    phase: { kind: "working" },
    exitSignal: false,
    next: null,
    job: null,
    gate: null,
    waitUntil: null,
    waitReason: null,
    pause: null,
    end: null,
    breakers: NO_BREAKERS,
    receipts: [],
    remarks: [],
    notice: null,
    ...overrides,
  };
}

/** The work turn that is under way. */
export function aJob(overrides: Partial<Job> = {}): Job {
  return {
    id: "b7c1d2e3-2" as JobId,
    kind: "work",
    token: 1,
    nonce: NONCE,
    intendedAt: START + 60_000,
    startedAt: START + 60_100,
    process: null,
    reported: null,
    ...overrides,
  };
}

/** A command that a person named with `--check`. */
export function aCriterion(name: string, overrides: Partial<Criterion> = {}): Criterion {
  return { name, check: { kind: "command", command: "npm test" }, source: "flag", ...overrides };
}

/** Green output of a command, on the tree of `aGoal`. */
export function anEvidence(overrides: Partial<Evidence> = {}): Evidence {
  const met = overrides.met ?? true;
  return {
    met,
    verification: "execution output",
    exitCode: met ? 0 : 1,
    value: null,
    timedOut: false,
    tail: met ? "12 passed" : "1 failed: expected 200, got 500",
    at: START + 120_000,
    durationMs: 4_200,
    tree: TREE,
    note: null,
    ...overrides,
  };
}

export function aStep(name: string, status: Step["status"] = "open"): Step {
  return { name, status };
}

export function aReceipt(overrides: Partial<Receipt> = {}): Receipt {
  return {
    iteration: 1,
    kind: "work",
    jobId: "b7c1d2e3-2" as JobId,
    step: "Find the failing test",
    startedAt: START + 60_000,
    agentMs: 95_000,
    checksMs: 4_200,
    costUsd: 0.42,
    inputTokens: 21_000,
    outputTokens: 1_800,
    filesChanged: 2,
    files: ["src/api/token.ts", "src/api/clock.ts"],
    toolCalls: 9,
    moved: ["lint ✓"],
    failure: null,
    charged: true,
    claimedExit: false,
    notes: [],
    checkpoint: null,
    ...overrides,
  };
}

/** Every criterion proved on the current tree, every step done, ended as done. */
export function aDoneGoal(overrides: Partial<Goal> = {}): Goal {
  const goal = aGoal(overrides);
  const evidence = Object.fromEntries(goal.criteria.map(({ name }) => [name, anEvidence()]));
  return aGoal({
    status: "ended",
    iteration: 3,
    steps: goal.steps.map((step) => ({ ...step, status: "done" })),
    evidence,
    exitSignal: true,
    phase: { kind: "proved", tree: TREE },
    end: {
      status: "done",
      reason: "every criterion is proved and the agent signalled the end",
      at: START + 600_000,
      verdict: null,
      notes: [],
    },
    ...overrides,
  });
}

export const LIMITS: Limits = { budgetUsd: 25, iterations: 10, timeMs: null, tokens: null };

export const NOTHING_SPENT: Spent = { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 };
