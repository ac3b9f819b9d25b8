/** Judges and reviewers: agents with a context of their own, asked whether a criterion is true. Weaker than a run. */

import { parseJudgement, VERDICT_SCHEMA } from "../../core/claims/json-verdict.ts";
import { sumUsage } from "../../core/cost/usage.ts";
import type { Usage } from "../../core/event.ts";
import type { CheckRound } from "../../core/goal/event.ts";
import type { Criterion, Evidence, Failure, Goal, Job } from "../../core/goal/goal.ts";
import { verificationOf } from "../../core/spec/check-flag.ts";
import { renderJudgePrompt } from "../../core/text/goal/goal-prompt.ts";
import type { Turn } from "../../ports/agent.ts";
import type { EngineParts, GoalParts } from "../parts.ts";
import { PASSES, type Round, TAIL_KEPT } from "./round.ts";

export async function askJudges(
  round: Round,
  criteria: readonly Criterion[],
  tree: string,
  n: number,
): Promise<Pick<CheckRound, "evidence" | "usage" | "failure">> {
  const { parts, goals, goal, job, signal } = round;
  const agent = goals.agentFor(goal.agent, "side");
  const evidence: Record<string, Evidence> = {};
  let usage: Usage | null = null;
  let failure: Failure | null = null;
  const control = { signal, onStarted: () => {} };
  for (const [index, criterion] of criteria.entries()) {
    if (signal.aborted || failure !== null) break;
    const at = parts.clock.now();
    let end = await agent.run(judgeTurn(goal, job, criterion, `${index + 1}.${n}`, at), control);
    // One who forgot the form of the answer is asked once more, before the work is sent back for it.
    if (end.kind === "ok" && parseJudgement(end.answer, { nonce: job.nonce }).kind === "none") {
      usage = sumUsage(usage, end.usage);
      end = await agent.run(judgeTurn(goal, job, criterion, `${index + 1}.${n}again`, at), control);
    }
    if (end.kind === "cancelled") break;
    usage = sumUsage(usage, end.usage);
    if (end.kind === "failed" && end.failure.class !== "fault") failure = end.failure;
    const verdict = parseJudgement(end.answer, { nonce: job.nonce });
    const isMet = end.kind === "ok" && verdict.kind === "pass";
    evidence[criterion.name] = {
      ...{ exitCode: null, value: null, timedOut: false, tree, met: isMet },
      verification: verificationOf(criterion.check),
      tail: (verdict.reason ?? end.answer).slice(-TAIL_KEPT),
      at: parts.clock.now(),
      durationMs: Math.max(0, parts.clock.now() - at),
      note:
        isMet || verdict.kind !== "none" ? null : `the judge gave no verdict: ${verdict.reason ?? "none"}`,
    };
  }
  return { evidence, usage, failure };
}

function judgeTurn(goal: Goal, job: Job, criterion: Criterion, number: string, at: number): Turn {
  return {
    id: `${job.id}-judge${number}`,
    loopId: goal.id,
    token: job.token,
    text: renderJudgePrompt(goal, criterion, job.nonce),
    deadlineAt: at + goal.policy.turnTimeoutMs,
    env: {
      LOOP_KIND: criterion.check.kind === "review" ? "review" : "judge",
      LOOP_ROLE: "judge",
      LOOP_ITERATION: String(goal.iteration),
      LOOP_NONCE: job.nonce,
    },
    conversation: null,
    budgetUsd: Math.max(0.01, goal.limits.budgetUsd - goal.spent.costUsd),
    leavesNothing: true,
    answerSchema: VERDICT_SCHEMA,
  };
}

/** After a crash: judges that the owner before us asked go on for nobody. */
export async function stopJudges(
  { clock }: EngineParts,
  goals: GoalParts,
  goal: Goal,
  job: Job,
): Promise<void> {
  const criteria = goal.criteria.filter(({ check }) => check.kind === "judge" || check.kind === "review");
  if (criteria.length === 0) return;
  const agent = goals.agentFor(goal.agent, "side");
  for (const [index, criterion] of criteria.entries()) {
    for (let n = 0; n < PASSES; n++) {
      for (const number of [`${index + 1}.${n}`, `${index + 1}.${n}again`]) {
        const abort = new AbortController();
        const turn = judgeTurn(goal, job, criterion, number, clock.now());
        const fate = await agent.reconcile(turn, { signal: abort.signal, onStarted: () => {} });
        abort.abort();
        if (fate.kind === "running") await fate.end;
      }
    }
  }
}
