/** The work of a turn, as the store has it now. It alone decides what an agent may report. */
import type { Attempt, AttemptJob, Backlog } from "../core/backlog/backlog.ts";
import type { Goal, Job } from "../core/goal/goal.ts";
import type { Fire, Task } from "../core/loop.ts";
import type { Turn } from "../ports/agent.ts";
import type { Store } from "../ports/store.ts";

export type TurnWork =
  | { readonly kind: "fire"; readonly task: Task; readonly fire: Fire }
  | { readonly kind: "goal"; readonly goal: Goal; readonly job: Job }
  | {
      readonly kind: "story";
      readonly backlog: Backlog;
      readonly attempt: Attempt;
      readonly job: AttemptJob;
    };

/** null: the turn of a judge or planner, or its work has ended. */
export function workOf(store: Pick<Store, "load">, turn: Turn): TurnWork | null {
  const loop = store.load(turn.loopId);
  switch (loop?.kind) {
    case "task":
      return loop.fire !== null && isOf(turn, loop.fire)
        ? { kind: "fire", task: loop, fire: loop.fire }
        : null;
    case "goal":
      return loop.job !== null && isOf(turn, loop.job) ? { kind: "goal", goal: loop, job: loop.job } : null;
    case "backlog": {
      const attempt = loop.attempts.find(({ job }) => job !== null && isOf(turn, job));
      return attempt?.job == null ? null : { kind: "story", backlog: loop, attempt, job: attempt.job };
    }
    case undefined:
      return null;
  }
}

/** After another owner took over the work (new token), this turn may not report. */
function isOf(turn: Turn, { id, token }: Fire | Job | AttemptJob): boolean {
  return turn.id === id && turn.token === token;
}
