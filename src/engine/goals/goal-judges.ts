/** The turns of a goal's judges: their prompt and their budget. */
import { VERDICT_SCHEMA } from "../../core/claims/claims.ts";
import type { Goal, Job } from "../../core/goal/goal.ts";
import { renderJudgePrompt } from "../../core/text/goal/goal-prompt.ts";
import type { Panel } from "../checks/judges.ts";
import type { EngineParts, GoalParts } from "../parts.ts";

export function panelOf({ clock }: EngineParts, goals: GoalParts, goal: Goal, job: Job): Panel {
  return {
    agent: () => goals.agentFor(goal.agent, "side"),
    nonce: job.nonce,
    clock,
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
      leavesNothing: true,
      answerSchema: VERDICT_SCHEMA,
    }),
  };
}
