/** The lines of a list, with their validation. Small and without imports, for the fast path of `loop list`. */

export interface GoalLine {
  readonly id: string;
  /** `working`, `asks`, `waits`, `paused (budget)`. */
  readonly state: string;
  readonly iteration: number;
  readonly maxIterations: number;
  /** The last line of the spec. */
  readonly spec: string;
}

/** Its state can also be `stopping`. */
export interface BacklogLine extends Omit<GoalLine, "spec"> {
  readonly passed: number;
  readonly blocked: number;
  readonly total: number;
  /** The stories in work. */
  readonly stories: readonly string[];
}

/** Validated by hand, because the fast path of `loop list` loads no library. The files are not trusted. */
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
