/** One turn of a goal's agent: its prompt and its record. */

import { changedFiles } from "../../core/checks/changed-files.ts";
import { commandsOfChecks } from "../../core/checks/kinds.ts";
import { parseClaims, parseVerdict } from "../../core/claims/claims.ts";
import type { TurnRecord } from "../../core/goal/event.ts";
import type { Goal, Job, Report } from "../../core/goal/goal.ts";
import type { ProcessRef } from "../../core/loop.ts";
import {
  renderPlanPrompt,
  renderPrecheckPrompt,
  renderWorkPrompt,
} from "../../core/text/goal/goal-prompt.ts";
import type { Agent, AgentEvent, Turn, TurnControl, TurnEnd } from "../../ports/agent.ts";
import type { Snapshot } from "../../ports/checks.ts";
import type { Underway } from "../underway.ts";
import type { GoalJob } from "./goal-judges.ts";

interface GoalTurn {
  readonly agent: Agent;
  readonly turn: Turn;
  readonly control: TurnControl;
}

const ROLES = { plan: "planner", precheck: "judge", work: "generator" } as const;
const FILES_KEPT = 20;
const LEAST_TURN_MS = 1_000;

/** Throws when the goal's agent is not available. */
export function openTurn({ parts, goals, goal, job, signal }: GoalJob, underway: Underway): GoalTurn {
  const kind = turnKind(job);
  const turn: Turn = {
    id: job.id,
    loopId: goal.id,
    token: job.token,
    text: promptFor(goal, job),
    deadlineAt: (job.startedAt ?? parts.clock.now()) + turnTimeOf(goal),
    env: {
      LOOP_KIND: kind,
      LOOP_ROLE: ROLES[kind],
      LOOP_ITERATION: String(goal.iteration + 1),
      LOOP_NONCE: job.nonce,
    },
    ...conversationOf(goal, job),
    budgetUsd: Math.max(0.01, goal.limits.budgetUsd - goal.spent.costUsd),
    commands: kind === "work" ? commandsOfChecks(goal.criteria) : [],
  };
  const onStarted = (process: ProcessRef | null) =>
    underway.started(job.id, { type: "job.started", jobId: job.id, process });
  const onEvent = (event: AgentEvent) => parts.observe({ type: "agent", loopId: goal.id, event });
  return {
    agent: goals.agentFor(goal.agent, kind === "precheck" ? "side" : "work"),
    turn,
    control: { signal, onStarted, onEvent },
  };
}

/** An agent that cannot resume the conversation gets the complete prompt. */
function conversationOf(goal: Goal, job: Job): Pick<Turn, "conversation" | "textIfFresh"> {
  if (turnKind(job) === "precheck" || goal.conversation === null) return { conversation: null };
  return {
    conversation: { id: goal.conversation, costUsd: goal.conversationCostUsd },
    textIfFresh: promptFor({ ...goal, conversation: null }, job),
  };
}

/** At most the remaining time of the goal (B12). */
function turnTimeOf({ policy, limits, spent }: Goal): number {
  if (limits.timeMs === null) return policy.turnTimeoutMs;
  return Math.min(policy.turnTimeoutMs, Math.max(LEAST_TURN_MS, limits.timeMs - spent.timeMs));
}

function promptFor(goal: Goal, job: Job): string {
  switch (turnKind(job)) {
    case "plan":
      return renderPlanPrompt(goal, job);
    case "precheck":
      return renderPrecheckPrompt(goal, job);
    case "work":
      return renderWorkPrompt(goal, job);
  }
}

function turnKind({ kind }: Job): "plan" | "precheck" | "work" {
  return kind === "plan" || kind === "precheck" ? kind : "work";
}

interface Ended {
  readonly end: Exclude<TurnEnd, { kind: "cancelled" }>;
  /** null: another process started the turn. */
  readonly before: Snapshot | null;
  readonly after: Snapshot;
}

export function recordTurn({ parts, goals, goal, job }: GoalJob, { end, before, after }: Ended): TurnRecord {
  const files = before === null ? [] : changedFiles(before, after);
  const isChanged = before === null && goal.tree !== null && goal.tree !== after.hash;
  return {
    failure: end.kind === "failed" ? end.failure : null,
    report: reportOf(goal, job, end.answer),
    verdict: job.kind === "precheck" ? parseVerdict(end.answer, { nonce: job.nonce }) : null,
    usage: end.usage,
    ...(end.takenBy === undefined ? {} : { takenBy: end.takenBy }),
    ...(end.takenWhy === undefined ? {} : { takenWhy: end.takenWhy }),
    conversation: end.conversation?.id ?? null,
    conversationCostUsd: end.conversation?.costUsd ?? null,
    filesChanged: isChanged ? 1 : files.length,
    files: files.slice(0, FILES_KEPT),
    tree: after.hash,
    toolCalls: end.activity?.toolCalls ?? null,
    mostEdited: mostEdited(end.activity?.edits ?? {}),
    denials: end.activity?.denials ?? [],
    ...(end.activity?.permanent === undefined ? {} : { permanent: end.activity.permanent }),
    durationMs: Math.max(0, parts.clock.now() - (job.startedAt ?? job.intendedAt)),
    wroteState: goals.wasStateEdited(),
    nextNonce: goals.newNonce(),
  };
}

function reportOf(goal: Goal, job: Job, answer: string): Report {
  if (job.kind === "precheck") return { kind: "none" };
  return parseClaims(answer, { nonce: job.nonce, criteria: goal.criteria.map(({ name }) => name) });
}

function mostEdited(edits: Readonly<Record<string, number>>): TurnRecord["mostEdited"] {
  const [path, count] = Object.entries(edits).sort((a, b) => b[1] - a[1])[0] ?? [];
  return path === undefined || count === undefined ? null : { path, count };
}
