/** A goal in one line, for lists. */
import type { Goal } from "../goal/goal.ts";

export interface GoalLine {
  readonly id: string;
  /** `working`, `asks`, `waits`, `paused (budget)`. */
  readonly state: string;
  readonly iteration: number;
  readonly maxIterations: number;
  /** The first line of it. */
  readonly spec: string;
}

export function lineOf({ id, status, pause, gate, waitUntil, iteration, limits, spec }: Goal): GoalLine {
  const active = gate !== null ? "asks" : waitUntil !== null ? "waits" : "working";
  const state = status === "paused" ? `paused (${pause?.code ?? "person"})` : active;
  return { id, state, iteration, maxIterations: limits.iterations, spec: lastLineOf(spec) };
}

/** What to do comes after what has to be proved. */
function lastLineOf(spec: string): string {
  return (spec.trim().split("\n").at(-1) ?? "").slice(0, 200);
}
