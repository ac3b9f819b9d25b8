/** Pure decisions about a goal: the new state after an event, and the effects. */
import { limitReached, raiseLimits } from "../cost/limits.ts";
import { isTurn } from "../views/goal-changes.ts";
import { decideChecked, decideSurveyed } from "./after-checks.ts";
import { decideInterrupted, decideTurned, interruptTurn } from "./after-turn.ts";
import { resetBreakers } from "./breakers.ts";
import {
  asksForEnd,
  changeGoal,
  finish,
  GOAL_UNCHANGED,
  type GoalDecision,
  pause,
  refuseGoal,
} from "./change.ts";
import type { GoalEvent, Raise } from "./event.ts";
import { decideAnswer } from "./gates.ts";
import type { Claims, Goal, Job, JobId } from "./goal.ts";
import { decideNext } from "./next.ts";
import { owe, rollBack } from "./phase.ts";
import { decidePriced } from "./priced.ts";

export function decideGoal(goal: Goal, event: GoalEvent, now: number): GoalDecision {
  const decision = decideEvent(goal, event, now);
  if (decision.kind !== "change") return decision;
  const notify = decision.effects.findLast((effect) => effect.kind === "notify");
  if (notify === undefined) return decision;
  return { ...decision, loop: { ...decision.loop, notice: notify.notice } };
}

function decideEvent(goal: Goal, event: GoalEvent, now: number): GoalDecision {
  switch (event.type) {
    case "goal.created":
      return GOAL_UNCHANGED;
    case "goal.notified":
      return goal.notice === null ? GOAL_UNCHANGED : changeGoal(goal, { notice: null });
    case "goal.due":
      return decideNext(goal, event, now);
    case "goal.paused":
      return decidePause(goal, event, now);
    case "goal.continued":
      return decideContinue(goal, event);
    case "goal.raised":
      return decideRaise(goal, event.raise);
    case "goal.cancelled":
      return goal.status === "ended"
        ? over(goal)
        : finish(goal, { status: "cancelled", reason: event.reason, verdict: null, notes: [] }, now);
    case "goal.accepted":
      return decideAccept(goal, event.changes);
    case "goal.answered":
      return decideAnswer(goal, event, now);
    case "goal.rolled-back":
      return decideRollback(goal, event.checkpoint);
    case "job.started":
      return withJob(goal, event.jobId, (job) =>
        job.startedAt !== null
          ? GOAL_UNCHANGED
          : changeGoal(goal, { job: { ...job, startedAt: now, process: event.process } }),
      );
    case "job.reported":
      return withJob(goal, event.jobId, (job) =>
        event.nonce !== job.nonce
          ? refuseGoal("The nonce does not belong to this turn, so the report does not count.")
          : isSame(job.reported, event.claims)
            ? GOAL_UNCHANGED
            : changeGoal(goal, { job: { ...job, reported: event.claims } }),
      );
    case "job.surveyed":
      return withJob(goal, event.jobId, ({ kind }) =>
        kind === "survey" ? decideSurveyed(goal, event, now) : GOAL_UNCHANGED,
      );
    case "job.turned":
      return withJob(goal, event.jobId, (job) =>
        isTurn(job) ? decideTurned(goal, job, event.turn, now) : GOAL_UNCHANGED,
      );
    case "job.priced":
      return decidePriced(goal, event.jobId, event.usage);
    case "job.checked":
      return withJob(goal, event.jobId, ({ kind }) =>
        kind === "checks" && goal.phase.kind === "checking"
          ? decideChecked(goal, goal.phase, event.round, now)
          : GOAL_UNCHANGED,
      );
    case "job.interrupted":
      return withJob(goal, event.jobId, (job) => decideInterrupted(goal, job, event, now));
    case "job.withdrawn":
      // The agent never saw the prompt, so the job never happened.
      return withJob(goal, event.jobId, () => changeGoal(goal, { job: null }));
  }
}

/** A repeated tool call reports nothing new. */
function isSame(before: Claims | null, claims: Claims): boolean {
  return before !== null && JSON.stringify(before) === JSON.stringify(claims);
}

/** An event of a job that has ended changes nothing. */
function withJob(goal: Goal, id: JobId, decideJob: (job: Job) => GoalDecision): GoalDecision {
  return goal.job === null || goal.job.id !== id ? GOAL_UNCHANGED : decideJob(goal.job);
}

function over(goal: Goal): GoalDecision {
  return refuseGoal(`Goal ${goal.id} has ended (${goal.end?.status ?? "ended"}).`);
}

type Paused = Extract<GoalEvent, { type: "goal.paused" }>;

function decidePause(goal: Goal, { code, reason }: Paused, now: number): GoalDecision {
  // `goal` is the state before the forgery. It must be written again, whatever its status is.
  if (code === "forged")
    return goal.status === "ended" ? changeGoal(goal, {}) : pause(goal, { code, reason }, now);
  // The worker of the job reports this itself: nothing is left to stop, and nobody else will end the job.
  const isBroken = code === "surroundings" && goal.job !== null;
  const free = isBroken ? interruptTurn(goal, goal.job, reason, now) : goal;
  if (goal.status === "active") return pause(free, { code, reason }, now);
  if (isBroken) return changeGoal(free, {});
  return goal.status === "ended" ? over(goal) : GOAL_UNCHANGED;
}

type Continued = Extract<GoalEvent, { type: "goal.continued" }>;

function decideContinue(goal: Goal, event: Continued): GoalDecision {
  const { raise, retryNow, session = goal.session } = event;
  if (goal.status === "ended") return over(goal);
  const raised = raiseLimits(goal.limits, raise, goal.spent);
  if (raised.kind === "refused") return refuseGoal(raised.message);
  const { limits } = raised;
  const reached = limitReached({ ...goal, limits });
  if (reached !== null && goal.job === null && goal.phase.kind !== "checking")
    return refuseGoal(
      `Goal ${goal.id} cannot go on: ${reached.reason}. Raise the limit: loop continue ${goal.id} ${reached.flag}`,
    );
  const isRaised = limits !== goal.limits && Object.keys(raise).length > 0;
  const isWaiting = goal.waitUntil !== null && retryNow;
  const isMoved = session !== goal.session;
  if (isMoved && goal.job !== null)
    return refuseGoal(`Goal ${goal.id} is at work elsewhere; pause it first: loop pause ${goal.id}`);
  if (goal.status === "active" && !isRaised && !isWaiting && !isMoved) return GOAL_UNCHANGED;
  if (goal.pause?.code === "integrity")
    return refuseGoal(
      `Goal ${goal.id} cannot go on: ${goal.pause.reason}. Go on with: ${goal.pause.goOn}; or put the files back: loop rollback ${goal.id}`,
    );
  return changeGoal(goal, {
    status: "active",
    pause: null,
    limits,
    session,
    // a new conversation does not know the old one
    ...(isMoved ? { conversation: null, conversationCostUsd: 0 } : {}),
    // the must-not conditions are checked again before the next turn
    phase: goal.pause?.code === "must-not" ? owe(goal.phase) : goal.phase,
    warned: isRaised ? [] : goal.warned,
    breakers: goal.status === "paused" ? resetBreakers(goal.breakers) : goal.breakers,
    ...(retryNow ? { waitUntil: null, waitReason: null } : {}),
  });
}

function decideRaise(goal: Goal, raise: Raise): GoalDecision {
  if (goal.status === "ended") return over(goal);
  const raised = raiseLimits(goal.limits, raise, goal.spent);
  if (raised.kind === "refused") return refuseGoal(raised.message);
  return changeGoal(goal, { limits: raised.limits, warned: [] });
}

type Accepted = Extract<GoalEvent, { type: "goal.accepted" }>["changes"];

/** A person accepts exactly the content that was shown. The checks then run again. */
function decideAccept(goal: Goal, changes: Accepted): GoalDecision {
  if (goal.status === "ended") return over(goal);
  if (goal.job !== null)
    return refuseGoal(`Goal ${goal.id} is at work; pause it first: loop pause ${goal.id}`);
  const isShown = changes.every(({ path, hash }) =>
    goal.protectedChanges.some((known) => known.path === path && known.hash === hash),
  );
  if (!isShown || changes.length === 0)
    return refuseGoal("The files changed after they were shown; run loop accept again.");
  const paths = new Set(changes.map(({ path }) => path));
  const accepted = [...goal.accepted.filter(({ path }) => !paths.has(path)), ...changes];
  const isBlocked = goal.pause?.code === "integrity";
  return changeGoal(goal, {
    accepted,
    protectedChanges: goal.protectedChanges.filter(({ path }) => !paths.has(path)),
    phase: owe(goal.phase),
    ...(isBlocked ? { status: "active" as const, pause: null } : {}),
  });
}

function decideRollback(goal: Goal, checkpoint: string): GoalDecision {
  if (goal.status === "ended") return over(goal);
  if (goal.job !== null)
    return refuseGoal(`Goal ${goal.id} is at work; pause it first: loop pause ${goal.id}`);
  return changeGoal(goal, {
    phase: rollBack(goal.phase),
    exitSignal: false,
    // The question about the end was about the files before the rollback.
    gate: asksForEnd(goal.gate) ? null : goal.gate,
    // The old conversation remembers files that no longer exist.
    conversation: null,
    conversationCostUsd: 0,
    remarks: [...goal.remarks, `A person put the files back to checkpoint ${checkpoint.slice(0, 10)}.`],
    ...(goal.pause?.code === "integrity" ? { status: "active" as const, pause: null } : {}),
  });
}
