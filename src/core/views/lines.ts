/** Goals and backlogs as lines of a list. */
import type { Backlog } from "../backlog/backlog.ts";
import { countsOfStories } from "../backlog/stories.ts";
import type { Goal } from "../goal/goal.ts";
import type { BacklogLine, GoalLine } from "./line.ts";

export function lineOfGoal({ id, status, pause, gate, waitUntil, iteration, limits, spec }: Goal): GoalLine {
  const active = gate !== null ? "asks" : waitUntil !== null ? "waits" : "working";
  const state = status === "paused" ? `paused (${pause?.code ?? "person"})` : active;
  return { id, state, iteration, maxIterations: limits.iterations, spec: lastLineOf(spec) };
}

export function lineOfBacklog(backlog: Backlog): BacklogLine {
  const { id, status, pause, waitUntil, isStopping, iteration, terms, attempts } = backlog;
  const { passed, blocked, total } = countsOfStories(backlog.stories);
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

/** The task comes after the criteria. */
function lastLineOf(spec: string): string {
  return (spec.trim().split("\n").at(-1) ?? "").slice(0, 200);
}
