/** Exit codes. Wrong usage is 64, because 2 to 6 say why a goal loop stopped (B17). */
import type { BacklogOutcome } from "../core/backlog/backlog.ts";
import type { Goal, PauseCode } from "../core/goal/goal.ts";

export const EXIT = {
  ok: 0,
  failure: 1,
  budget: 2,
  iterations: 3,
  breaker: 4,
  vague: 5,
  waiting: 6,
  usage: 64,
  interrupted: 130,
} as const;

/** For backlogs (C16). */
export const BACKLOG_EXIT = {
  done: EXIT.ok,
  error: EXIT.failure,
  max_iterations: 2,
  blocked: 3,
  stopped: EXIT.interrupted,
  cancelled: EXIT.interrupted,
} as const satisfies Readonly<Record<BacklogOutcome, number>>;

const PAUSED: Readonly<Record<PauseCode, number>> = {
  budget: EXIT.budget,
  tokens: EXIT.budget,
  time: EXIT.budget,
  iterations: EXIT.iterations,
  breaker: EXIT.breaker,
  "must-not": EXIT.breaker,
  failures: EXIT.breaker,
  integrity: EXIT.waiting,
  forged: EXIT.waiting,
  person: EXIT.waiting,
  rejected: EXIT.waiting,
  auth: EXIT.waiting,
  denied: EXIT.waiting,
  interrupted: EXIT.interrupted,
  surroundings: EXIT.failure,
};

/** For a goal that has ended, is paused or waits. */
export function exitCodeOf(goal: Goal): number {
  if (goal.end !== null) {
    const codes = { done: EXIT.ok, failed: EXIT.failure, cancelled: EXIT.interrupted };
    return codes[goal.end.status];
  }
  return goal.pause === null ? EXIT.waiting : PAUSED[goal.pause.code];
}
