/** Which lines have to be on disk before anything follows from them. */
import type { Commit } from "../../ports/store.ts";

/**
 * Of a goal at work: what came of a job that is over, before the next turn is begun. All processes see the line at
 * once, and the next that is synced takes it along; only a power cut in between can lose it, and then the job is
 * found by its ticket, or the round is taken again, as after any crash.
 */
export function mayWait({ event, effects, loop }: Commit): boolean {
  if (loop.kind !== "goal" || loop.status !== "active" || loop.gate !== null) return false;
  const isPassing =
    event.type === "job.started" ||
    event.type === "job.turned" ||
    event.type === "job.checked" ||
    event.type === "goal.notified";
  return isPassing && effects.every(({ kind }) => kind === "work");
}
