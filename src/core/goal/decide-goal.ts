/** Pure decisions about a goal: the new state after an event, and the effects. */

import { limitReached, raiseLimits } from "../cost/limits.ts";
import { change, keepNotice, refuse, UNCHANGED } from "../decision.ts";
import { isTurn } from "../views/goal-changes.ts";
import { decideChecked, decideSurveyed } from "./after-checks.ts";
import { decideInterrupted, decideTurned, interruptTurn } from "./after-turn.ts";
import { resetBreakers } from "./breakers.ts";
import { asksForEnd, finish, type GoalDecision, pause } from "./change.ts";
import type { EventOf, GoalEvent, JobEvent, Raise } from "./event.ts";
import { decideAnswer } from "./gates.ts";
import type { Goal, Job } from "./goal.ts";
import { decideNext } from "./next.ts";
import { owe, rollBack } from "./phase.ts";
import { decidePriced } from "./priced.ts";

export function decideGoal(goal: Goal, event: GoalEvent, now: number): GoalDecision {
  return keepNotice(decideEvent(goal, event, now));
}

function decideEvent(goal: Goal, event: GoalEvent, now: number): GoalDecision {
  switch (event.type) {
    case "goal.created":
      return UNCHANGED;
    case "goal.notified":
      return goal.notice === null ? UNCHANGED : change(goal, { notice: null });
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
    case "job.priced":
      return decidePriced(goal, event.jobId, event.usage);
    default:
      // An event of a job that has ended changes nothing.
      return goal.job?.id === event.jobId ? decideJob(goal, goal.job, event, now) : UNCHANGED;
  }
}

function decideJob(goal: Goal, job: Job, event: JobEvent, now: number): GoalDecision {
  const { phase } = goal;
  switch (event.type) {
    case "job.started":
      if (job.startedAt !== null) return UNCHANGED;
      return change(goal, { job: { ...job, startedAt: now, process: event.process } });
    case "job.reported":
      if (event.nonce !== job.nonce)
        return refuse("The nonce does not belong to this turn, so the report does not count.");
      // A repeated tool call reports nothing new.
      if (JSON.stringify(job.reported) === JSON.stringify(event.claims)) return UNCHANGED;
      return change(goal, { job: { ...job, reported: event.claims } });
    case "job.surveyed":
      return job.kind === "survey" ? decideSurveyed(goal, event, now) : UNCHANGED;
    case "job.turned":
      return isTurn(job) ? decideTurned(goal, job, event.turn, now) : UNCHANGED;
    case "job.checked":
      if (job.kind !== "checks" || phase.kind !== "checking") return UNCHANGED;
      return decideChecked(goal, phase, event.round, now);
    case "job.interrupted":
      return decideInterrupted(goal, job, event, now);
    case "job.withdrawn":
      // The agent never saw the prompt, so the job never happened.
      return change(goal, { job: null });
  }
}

function over(goal: Goal): GoalDecision {
  return refuse(`Goal ${goal.id} has ended (${goal.end?.status ?? "ended"}).`);
}

function busy({ id }: Goal): GoalDecision {
  return refuse(`Goal ${id} is at work; pause it first: loop pause ${id}`);
}

function decidePause(goal: Goal, { code, reason }: EventOf<"goal.paused">, now: number): GoalDecision {
  // `goal` is the state before the forgery. It must be written again, whatever its status is.
  if (code === "forged")
    return goal.status === "ended" ? change(goal, {}) : pause(goal, { code, reason }, now);
  // The worker of the job reports this itself: nothing is left to stop, and nobody else will end the job.
  const isBroken = code === "surroundings" && goal.job !== null;
  const free = isBroken ? interruptTurn(goal, goal.job, reason, now) : goal;
  if (goal.status === "active") return pause(free, { code, reason }, now);
  if (isBroken) return change(free, {});
  return goal.status === "ended" ? over(goal) : UNCHANGED;
}

function decideContinue(goal: Goal, event: EventOf<"goal.continued">): GoalDecision {
  const { raise, retryNow, session = goal.session } = event;
  if (goal.status === "ended") return over(goal);
  const raised = raiseLimits(goal.limits, raise, goal.spent);
  if (raised.kind === "refused") return refuse(raised.message);
  const { limits } = raised;
  const reached = limitReached({ ...goal, limits });
  if (reached !== null && goal.job === null && goal.phase.kind !== "checking")
    return refuse(
      `Goal ${goal.id} cannot go on: ${reached.reason}. Raise the limit: loop continue ${goal.id} ${reached.flag}`,
    );
  const isRaised = limits !== goal.limits && Object.keys(raise).length > 0;
  const isWaiting = goal.waitUntil !== null && retryNow;
  const isMoved = session !== goal.session;
  if (isMoved && goal.job !== null)
    return refuse(`Goal ${goal.id} is at work elsewhere; pause it first: loop pause ${goal.id}`);
  if (goal.status === "active" && !isRaised && !isWaiting && !isMoved) return UNCHANGED;
  if (goal.pause?.code === "integrity")
    return refuse(
      `Goal ${goal.id} cannot go on: ${goal.pause.reason}. Go on with: ${goal.pause.goOn}; or put the files back: loop rollback ${goal.id}`,
    );
  return change(goal, {
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
  if (raised.kind === "refused") return refuse(raised.message);
  return change(goal, { limits: raised.limits, warned: [] });
}

/** A person accepts exactly the content that was shown. The checks then run again. */
function decideAccept(goal: Goal, changes: Goal["accepted"]): GoalDecision {
  if (goal.status === "ended") return over(goal);
  if (goal.job !== null) return busy(goal);
  const isShown = changes.every(({ path, hash }) =>
    goal.protectedChanges.some((known) => known.path === path && known.hash === hash),
  );
  if (!isShown || changes.length === 0)
    return refuse("The files changed after they were shown; run loop accept again.");
  const paths = new Set(changes.map(({ path }) => path));
  const accepted = [...goal.accepted.filter(({ path }) => !paths.has(path)), ...changes];
  return change(goal, {
    accepted,
    protectedChanges: goal.protectedChanges.filter(({ path }) => !paths.has(path)),
    phase: owe(goal.phase),
    ...unblocked(goal),
  });
}

/** A pause because of changed files ends when a person accepts the changes or undoes them. */
function unblocked({ pause }: Goal): Partial<Goal> {
  return pause?.code === "integrity" ? { status: "active", pause: null } : {};
}

function decideRollback(goal: Goal, checkpoint: string): GoalDecision {
  if (goal.status === "ended") return over(goal);
  if (goal.job !== null) return busy(goal);
  return change(goal, {
    phase: rollBack(goal.phase),
    exitSignal: false,
    // The question about the end was about the files before the rollback.
    gate: asksForEnd(goal.gate) ? null : goal.gate,
    // The old conversation remembers files that no longer exist.
    conversation: null,
    conversationCostUsd: 0,
    remarks: [...goal.remarks, `A person put the files back to checkpoint ${checkpoint.slice(0, 10)}.`],
    ...unblocked(goal),
  });
}
