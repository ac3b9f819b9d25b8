/** Decides what follows a turn: its receipt, its claims, and what its failure costs. */

import { foundByOf } from "../base.ts";
import { pricesOf, spend } from "../cost/usage.ts";
import { change } from "../decision.ts";
import { type Remedy, remedyFor } from "../failures.ts";
import { parseCheckFlag } from "../spec/check-flag.ts";
import { currentStep } from "../text/goal/goal-facts.ts";
import { countError, countFree, countPattern, earlierFailures } from "./breakers.ts";
import { ask, type GoalDecision, intendJob, notice, pause } from "./change.ts";
import type { EventOf, TurnRecord } from "./event.ts";
import type { Breakers, Claims, Criterion, Failure, Goal, Job, Receipt, Spent, Step } from "./goal.ts";
import { moveTo, owe } from "./phase.ts";
import { asksForPlan, stageAfterPlanning } from "./stages.ts";

const FILES_SHOWN = 20;

export function decideTurned(goal: Goal, job: Job, turn: TurnRecord, now: number): GoalDecision {
  const { failure } = turn;
  const claims = job.reported ?? (turn.report.kind === "valid" ? turn.report.claims : null);
  const remedy = failure === null ? null : remedyOf(goal, failure, now);
  const isCharged =
    job.kind === "work" ? remedy === null || remedy.kind === "count" : remedy?.kind === "count";
  const settled: Goal = {
    ...goal,
    job: null,
    iteration: goal.iteration + Number(isCharged),
    spent: addSpent(goal.spent, turn),
    ...conversationAfter(goal, job, turn),
    breakers: breakersAfter(goal.breakers, turn, remedy),
    receipts: [...goal.receipts, receiptOf(goal, job, turn, isCharged, claims)],
  };
  // Paused or ended during the turn: the result is kept, and nothing else follows.
  if (goal.status !== "active") {
    return change(settled, job.kind === "work" ? { phase: owe(goal.phase, isCharged) } : {});
  }
  if (remedy !== null) return decideFailure(settled, job, turn, remedy, now);
  switch (job.kind) {
    case "plan":
      return decidePlanned(settled, claims);
    case "precheck":
      return decidePrechecked(settled, turn, now);
    default: {
      const worked: Goal = {
        ...settled,
        exitSignal: claims?.exitSignal === true,
        next: claims?.next ?? null,
        steps: stepsAfter(goal.steps, claims),
        remarks: remarksAfter(turn, claims),
      };
      return check(worked, job, turn, now);
    }
  }
}

type Interrupted = EventOf<"job.interrupted">;

/** The runner or the agent was stopped: there is no result, and this costs no iteration. */
export function decideInterrupted(goal: Goal, job: Job, event: Interrupted, now: number): GoalDecision {
  const { reason, conversation } = event;
  const isBegun = goal.context === "continue" && goal.conversation === null && conversation !== undefined;
  const begun = isBegun && job.kind !== "precheck" ? { ...goal, conversation, conversationCostUsd: 0 } : goal;
  return change(interruptTurn(begun, job, reason, now), {});
}

export function interruptTurn(goal: Goal, job: Job, reason: string, now: number): Goal {
  if (job.kind === "survey" || job.kind === "checks") return { ...goal, job: null };
  // The next turn of the same conversation reports a total that includes this cost. Otherwise the cost is unknown.
  const isTold = goal.conversation !== null && job.kind !== "precheck";
  const startedAt = job.startedAt ?? job.intendedAt;
  const receipt: Receipt = {
    ...emptyReceipt(goal, job),
    agentMs: Math.max(0, now - startedAt),
    notes: [`stopped: ${reason}`, ...(isTold ? ["the next turn reports its cost"] : [])],
  };
  return {
    ...goal,
    job: null,
    phase: job.kind === "work" ? owe(goal.phase) : goal.phase,
    spent: { ...goal.spent, unpriced: goal.spent.unpriced + Number(job.startedAt !== null && !isTold) },
    receipts: [...goal.receipts, receipt],
  };
}

function remedyOf(goal: Goal, failure: Failure, now: number): Remedy {
  const spread = (Number.parseInt(goal.id.slice(0, 4), 16) + goal.jobs * 7919) % 1000;
  return remedyFor(failure, earlierFailures(goal.breakers, failure), spread / 1000, now);
}

function decideFailure(goal: Goal, job: Job, turn: TurnRecord, remedy: Remedy, now: number): GoalDecision {
  const phase = job.kind === "work" && turn.filesChanged > 0 ? owe(goal.phase) : goal.phase;
  switch (remedy.kind) {
    case "pause":
      return pause({ ...goal, phase }, remedy, now);
    case "wait": {
      const wait = { phase, waitUntil: remedy.until, waitReason: remedy.reason };
      const isLong = remedy.until - now >= 60_000;
      return change(goal, wait, isLong ? [notice(goal, "waits", "waits", remedy.reason)] : []);
    }
    case "fresh":
      return change(goal, { phase, conversation: null, conversationCostUsd: 0 });
    case "check":
      return change(goal, {
        phase: job.kind === "work" ? owe(goal.phase) : goal.phase,
        exitSignal: false,
        remarks: [`The last turn was stopped: ${turn.failure?.reason ?? "it took too long"}.`],
      });
    case "count": {
      const remarks = [`The last turn failed: ${turn.failure?.reason ?? "the agent broke"}.`];
      if (job.kind !== "work") return change(goal, { remarks });
      return check({ ...goal, exitSignal: false, remarks }, job, turn, now);
    }
  }
}

function check(goal: Goal, job: Job, turn: TurnRecord, now: number): GoalDecision {
  const ready = { token: job.token, nonce: turn.nextNonce, now };
  return intendJob({ ...goal, phase: owe(goal.phase, true) }, "checks", ready);
}

function remarksAfter(turn: TurnRecord, claims: Claims | null): readonly string[] {
  const remarks: string[] = [];
  if (claims === null && turn.report.kind === "void") remarks.push(turn.report.reason);
  if (claims === null && turn.report.kind === "none")
    remarks.push("Your last message had no status block at its end; finish every turn with one.");
  if (turn.wroteState)
    remarks.push("Your changes to .loop/state.json were ignored: the engine owns this file.");
  if (turn.denials.length > 0)
    remarks.push(`You were not allowed to use ${turn.denials.join(", ")}; continue without.`);
  return remarks;
}

/** Replaced steps stay in the list, so that people can see them. */
function stepsAfter(steps: readonly Step[], claims: Claims | null): readonly Step[] {
  if (claims === null) return steps;
  const current = steps.findIndex(({ status }) => status === "open");
  const done = steps.map((step, index) =>
    index === current && claims.stepDone ? { ...step, status: "done" as const } : step,
  );
  if (claims.steps === null || claims.steps.length === 0) return done;
  const open = done.filter(({ status }) => status === "open").map(({ name }) => name);
  if (open.length === claims.steps.length && open.every((name, index) => name === claims.steps?.[index]))
    return done;
  const replaced = done.map((step) =>
    step.status === "open" ? { ...step, status: "replaced" as const } : step,
  );
  return [...replaced, ...claims.steps.map((name) => ({ name, status: "open" as const }))];
}

function decidePlanned(goal: Goal, claims: Claims | null): GoalDecision {
  const planned = claims?.steps ?? [];
  // Without a readable plan the spec itself is the only step.
  const steps = planned.length > 0 ? planned : [firstLine(goal.spec)];
  const proposed = asksForPlan(goal) ? newCriteria(goal.criteria, claims?.checks ?? []) : [];
  return change(goal, {
    steps: steps.map((name) => ({ name, status: "open" })),
    proposed,
    phase: moveTo(goal.phase, stageAfterPlanning(goal)),
    remarks: [],
  });
}

function newCriteria(known: readonly Criterion[], checks: readonly string[]): readonly Criterion[] {
  const names = new Set(known.map(({ name }) => name));
  return checks.flatMap((text) => {
    const parsed = parseCheckFlag(text);
    if (parsed.kind !== "ok" || names.has(parsed.criterion.name)) return [];
    names.add(parsed.criterion.name);
    return [{ ...parsed.criterion, source: "plan" as const }];
  });
}

function decidePrechecked(goal: Goal, turn: TurnRecord, now: number): GoalDecision {
  const opinion =
    turn.verdict?.kind === "pass"
      ? "A second agent looked for risks and has no objection."
      : `A second agent objects: ${turn.verdict?.reason ?? "it gave no verdict"}`;
  const changed = turn.files.map((path) => `changed during the review: ${path}`);
  const details = [opinion, `spec: ${firstLine(goal.spec)}`, ...changed];
  return ask(goal, "pre-check", "This change is hard to undo. Continue?", details, now);
}

function addSpent(spent: Spent, { usage, durationMs, failure }: TurnRecord): Spent {
  const isPriced = usage?.costUsd !== null && usage?.costUsd !== undefined;
  // A turn that never reached a model costs nothing, so it is not unpriced.
  const isFree = failure !== null && failure.class !== "fault" && failure.class !== "timeout";
  return {
    ...spend(spent, usage),
    timeMs: spent.timeMs + durationMs,
    unpriced: spent.unpriced + Number(!isPriced && !isFree),
  };
}

function conversationAfter({ context }: Goal, job: Job, turn: TurnRecord): Partial<Goal> {
  const { conversation, conversationCostUsd } = turn;
  if (context !== "continue" || job.kind === "precheck" || conversation === null) return {};
  return { conversation, conversationCostUsd: conversationCostUsd ?? 0 };
}

function breakersAfter(breakers: Breakers, turn: TurnRecord, remedy: Remedy | null): Breakers {
  const { failure } = turn;
  if (failure === null) {
    const calm = { ...breakers, errorCount: 0, lastError: null, freeFailures: 0, freeClass: null };
    return countPattern({ ...calm, mostEdited: turn.mostEdited }, turn.files);
  }
  if (remedy?.kind === "count")
    return countError({ ...breakers, freeFailures: 0, freeClass: null }, failure.reason);
  return countFree(breakers, failure);
}

function receiptOf(goal: Goal, job: Job, turn: TurnRecord, charged: boolean, claims: Claims | null): Receipt {
  const { usage, takenBy, takenWhy } = turn;
  const notes = [
    ...(takenBy === undefined ? [] : [`${takenBy} took the turn${takenWhy ? `: ${takenWhy}` : ""}`]),
    ...(turn.wroteState ? ["the agent wrote state.json; this is a claim, not a fact"] : []),
    ...(turn.report.kind === "void" && job.reported === null ? [`claim ignored: ${turn.report.reason}`] : []),
    ...turn.denials.map((tool) => `denied: ${tool}`),
    ...(turn.permanent ?? []).map((tool) => `allowed for the whole conversation: ${tool}`),
  ];
  return {
    ...emptyReceipt(goal, job),
    iteration: goal.iteration + Number(charged),
    agentMs: turn.durationMs,
    costUsd: usage?.costUsd ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    ...pricesOf(usage),
    ...(takenBy === undefined ? {} : { takenBy }),
    filesChanged: turn.filesChanged,
    files: turn.files.slice(0, FILES_SHOWN),
    toolCalls: turn.toolCalls,
    failure: turn.failure,
    charged,
    claimedExit: claims?.exitSignal === true,
    notes,
  };
}

function emptyReceipt(goal: Goal, job: Job): Receipt {
  return {
    iteration: goal.iteration,
    kind: job.kind === "plan" || job.kind === "precheck" ? job.kind : "work",
    jobId: job.id,
    step: job.kind === "work" ? currentStep(goal) : null,
    startedAt: job.startedAt ?? job.intendedAt,
    agentMs: 0,
    checksMs: 0,
    costUsd: null,
    inputTokens: null,
    outputTokens: null,
    filesChanged: 0,
    files: [],
    toolCalls: null,
    moved: [],
    failure: null,
    charged: false,
    claimedExit: false,
    notes: [],
    checkpoint: null,
    ...foundByOf(job.process),
  };
}

function firstLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, 120);
}
