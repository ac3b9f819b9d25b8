/** Decides which lines must be on disk before the engine acts on them. */
import type { LoopEvent } from "../../core/event.ts";
import type { Commit } from "../../ports/store.ts";

const PASSING: ReadonlySet<LoopEvent["type"]> = new Set([
  "job.started",
  "job.turned",
  "job.checked",
  "goal.notified",
]);

/**
 * The result of a job of an active goal may wait. All processes see the line at once, and the next fsync includes it.
 * Only a power cut before that loses it. Then the job is found by its ticket, or the round runs again, as after a crash.
 */
export function mayWait({ event, effects, loop }: Commit): boolean {
  if (loop.kind !== "goal" || loop.status !== "active" || loop.gate !== null) return false;
  return PASSING.has(event.type) && effects.every(({ kind }) => kind === "work");
}
