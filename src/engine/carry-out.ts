/** Carries out the effects of a committed decision. */
import type { JobId } from "../core/goal/goal.ts";
import type { Loop } from "../core/loop.ts";
import type { Applied } from "./apply.ts";
import type { Notices } from "./notices.ts";
import type { EngineParts } from "./parts.ts";
import type { Crew } from "./recover.ts";

export function carryOut(
  { observe, clock }: EngineParts,
  { turns, goals, backlogs, underway }: Crew,
  notices: Notices,
  { loop, effects }: Extract<Applied, { kind: "committed" }>,
  /** Why the engine is stopping; null: it is not stopping. */
  stopping: string | null,
): void {
  for (const effect of effects) {
    switch (effect.kind) {
      case "deliver":
        if (loop.kind !== "task" || loop.fire === null) break;
        observe({ type: "fire.intended", task: loop });
        turns.start(loop, loop.fire, clock.now());
        break;
      case "work":
        startWork({ goals, backlogs }, loop, effect.jobId);
        // a stopping engine records the job as interrupted, and the next owner starts it again
        if (stopping !== null) underway.stop(effect.jobId, stopping);
        break;
      case "notify":
        notices.hand(loop.id, effect.notice);
        break;
      case "cancel":
        underway.stop(effect.fireId, effect.reason);
        break;
    }
  }
}

function startWork({ goals, backlogs }: Pick<Crew, "goals" | "backlogs">, loop: Loop, jobId: JobId): void {
  if (loop.kind === "goal" && loop.job?.id === jobId) goals?.start(loop, loop.job);
  if (loop.kind !== "backlog") return;
  const attempt = loop.attempts.find(({ job }) => job?.id === jobId);
  if (attempt?.job != null) backlogs?.start(loop, attempt, attempt.job);
}
