/** One job of a goal, and the turns of its judges: their prompt and their budget. */
import { VERDICT_SCHEMA } from "../../core/claims/claims.ts";
import type { Goal, Job } from "../../core/goal/goal.ts";
import { renderJudgePrompt } from "../../core/text/goal/goal-prompt.ts";
import type { Panel } from "../checks/judges.ts";
import type { EngineParts, GoalParts } from "../parts.ts";

/** A job, with the parts that carry it out. */
export interface GoalJob {
  readonly parts: EngineParts;
  readonly goals: GoalParts;
  readonly goal: Goal;
  readonly job: Job;
  readonly signal: AbortSignal;
}

export function panelOf({ parts, goals, goal, job }: Omit<GoalJob, "signal">): Panel {
  return {
    agent: () => goals.agentFor(goal.agent, "side"),
    nonce: job.nonce,
    clock: parts.clock,
    turn: ({ criterion, asked }, number, at) => ({
      id: `${job.id}-judge${number}`,
      loopId: goal.id,
      token: job.token,
      text: renderJudgePrompt(goal, criterion, job.nonce),
      deadlineAt: at + goal.policy.turnTimeoutMs,
      env: {
        LOOP_KIND: asked.as,
        LOOP_ROLE: "judge",
        LOOP_ITERATION: String(goal.iteration),
        LOOP_NONCE: job.nonce,
      },
      conversation: null,
      budgetUsd: Math.max(0.01, goal.limits.budgetUsd - goal.spent.costUsd),
      answerSchema: VERDICT_SCHEMA,
    }),
  };
}
