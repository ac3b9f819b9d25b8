/** Goals and backlogs in one line each, for lists. */
import type { Backlog } from "../backlog/backlog.ts";
import { progressOf } from "../backlog/stories.ts";
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

export function lineOfGoal({ id, status, pause, gate, waitUntil, iteration, limits, spec }: Goal): GoalLine {
  const active = gate !== null ? "asks" : waitUntil !== null ? "waits" : "working";
  const state = status === "paused" ? `paused (${pause?.code ?? "person"})` : active;
  return { id, state, iteration, maxIterations: limits.iterations, spec: lastLineOf(spec) };
}

export interface BacklogLine {
  readonly id: string;
  /** `working`, `waits`, `stopping`, `paused (budget)`. */
  readonly state: string;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly passed: number;
  readonly blocked: number;
  readonly total: number;
  /** The stories that are worked on now. */
  readonly stories: readonly string[];
}

export function lineOfBacklog(backlog: Backlog): BacklogLine {
  const { id, status, pause, waitUntil, isStopping, iteration, terms, attempts } = backlog;
  const { passed, blocked, total } = progressOf(backlog.stories);
  const active = isStopping ? "stopping" : waitUntil !== null ? "waits" : "working";
  return {
    id,
    state: status === "paused" ? `paused (${pause?.code ?? "person"})` : active,
    iteration,
    maxIterations: terms.maxIterations,
    passed,
    blocked,
    total,
    stories: attempts.map(({ story }) => story),
  };
}

/** What to do comes after what has to be proved. */
function lastLineOf(spec: string): string {
  return (spec.trim().split("\n").at(-1) ?? "").slice(0, 200);
}

/** By hand: lines are read on the fast path of `loop list`, from files that may come from anywhere. */
export function isGoalLine(value: unknown): value is GoalLine {
  if (typeof value !== "object" || value === null) return false;
  const { id, state, spec, iteration, maxIterations }: { [K in keyof GoalLine]?: unknown } = value;
  return [id, state, spec].every(isText) && [iteration, maxIterations].every(isNumber);
}

export function isBacklogLine(value: unknown): value is BacklogLine {
  if (typeof value !== "object" || value === null) return false;
  const line: { [K in keyof BacklogLine]?: unknown } = value;
  const counts = [line.iteration, line.maxIterations, line.passed, line.blocked, line.total];
  return (
    [line.id, line.state].every(isText) &&
    counts.every(isNumber) &&
    Array.isArray(line.stories) &&
    line.stories.every(isText)
  );
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}
