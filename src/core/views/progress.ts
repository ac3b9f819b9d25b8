/** A summary of a project for status lines (D9), published as `.loop/progress.json`. Readers need no journal. */
import { knownCost } from "../cost/usage.ts";
import type { EndStatus, Goal, JobKind } from "../goal/goal.ts";
import { isMet } from "../goal/proof.ts";
import type { Loop, Task } from "../loop.ts";
import { nextFireAt } from "../task/slots.ts";
import { cleanLine } from "../text/clean.ts";
import { currentStep, stepCounts as stepsOf } from "../text/goal/goal-facts.ts";
import { cutTo, simplify } from "../text/width.ts";
import type { BacklogLine } from "./line.ts";
import { lineOfBacklog } from "./lines.ts";
import { momentOf } from "./moment.ts";
import { PROGRESS_SCHEMA } from "./schema-names.ts";

const PHASES = {
  survey: "surveying",
  plan: "planning",
  precheck: "pre-checking",
  work: "working",
  checks: "checking",
} as const satisfies Readonly<Record<JobKind, string>>;

/** `ready`: nothing runs and nothing blocks the goal. */
type RestingPhase = "waiting for you" | "sleeping" | "ready" | "paused";

export type ShownPhase = (typeof PHASES)[JobKind] | RestingPhase | EndStatus;

export interface TasksProgress {
  /** All tasks that have not ended, including paused and missed ones. */
  readonly live: number;
  readonly paused: number;
  readonly missed: number;
  readonly nextFireAt: string | null;
  readonly nextId: string | null;
}

export interface GoalProgress extends Pick<Goal, "status" | "session"> {
  readonly id: string;
  readonly phase: ShownPhase;
  /** The step of the current or next turn. */
  readonly step: string | null;
  readonly stepsDone: number;
  readonly stepsTotal: number;
  /** The current iteration; between turns, the number of past iterations. */
  readonly iteration: number;
  readonly iterations: number;
  readonly criteriaMet: number;
  readonly criteriaTotal: number;
  /** null: the agent reported no cost. */
  readonly costUsd: number | null;
  /** Turns whose cost is unknown. */
  readonly unpriced: number;
  /** A part of the cost comes from a price table; left out: nothing does. */
  readonly isEstimate?: true;
  readonly budgetUsd: number;
  readonly tokens: number;
  readonly pauseReason: string | null;
  /** The question to a person. */
  readonly gate: string | null;
  readonly waitUntil: string | null;
  readonly endedAt: string | null;
}

/** Enough to check whether the holder is still alive. */
export interface LeaseProgress {
  readonly owner: string;
  readonly pid: number;
  readonly procStart: string | null;
  readonly host: string;
  readonly token: number;
  readonly acquiredAt: number;
}

export interface Progress {
  readonly $schema: typeof PROGRESS_SCHEMA;
  readonly version: 1;
  readonly at: string | null;
  readonly tasks: TasksProgress;
  /** The newest goal that has not ended, or else the last one that ended. */
  readonly goal: GoalProgress | null;
  /** Other goals that have not ended, newest first: each conversation may have one. */
  readonly otherGoals: readonly GoalProgress[];
  /** Backlogs that have not ended, newest first. */
  readonly backlogs: readonly BacklogLine[];
  readonly lease: LeaseProgress | null;
}

const MAX_OTHER_GOALS = 8;
const TEXT_COLUMNS = 200;

export function progressOf(loops: Iterable<Loop>, lease: LeaseProgress | null, now: number): Progress {
  const all = [...loops];
  const live = all.filter(isLive);
  const [goal = null, ...others] = all.filter((loop) => loop.kind === "goal").sort(byRank);
  return {
    $schema: PROGRESS_SCHEMA,
    version: 1,
    at: momentOf(now),
    tasks: tasksProgress(live.filter((loop) => loop.kind === "task")),
    goal: goal && goalProgress(goal),
    otherGoals: others.filter(isLive).slice(0, MAX_OTHER_GOALS).map(goalProgress),
    backlogs: live
      .filter((loop) => loop.kind === "backlog")
      .sort((a, b) => b.createdAt - a.createdAt)
      .slice(0, MAX_OTHER_GOALS)
      .map(lineOfBacklog),
    lease: lease && {
      owner: lease.owner,
      pid: lease.pid,
      procStart: lease.procStart,
      host: lease.host,
      token: lease.token,
      acquiredAt: lease.acquiredAt,
    },
  };
}

function byRank(a: Goal, b: Goal): number {
  const ageOf = ({ createdAt, end }: Goal) => end?.at ?? createdAt;
  return Number(isLive(b)) - Number(isLive(a)) || ageOf(b) - ageOf(a) || (a.id < b.id ? -1 : 1);
}

function isLive({ status }: Loop): boolean {
  return status !== "ended";
}

function tasksProgress(live: readonly Task[]): TasksProgress {
  const withStatus = (status: Task["status"]) => live.filter((task) => task.status === status);
  let next: { readonly id: string; readonly at: number } | null = null;
  for (const task of withStatus("active")) {
    const at = nextFireAt(task);
    if (at !== null && (next === null || at < next.at)) next = { id: task.id, at };
  }
  return {
    live: live.length,
    paused: withStatus("paused").length,
    missed: withStatus("missed").length,
    nextFireAt: momentOf(next?.at ?? null),
    nextId: next?.id ?? null,
  };
}

function goalProgress(goal: Goal): GoalProgress {
  const { spent, limits, pause, gate, end, job } = goal;
  const { done, total } = stepsOf(goal);
  const step = currentStep(goal) ?? goal.next;
  return {
    id: goal.id,
    status: goal.status,
    phase: phaseOfGoal(goal),
    step: step === null ? null : shortText(step),
    stepsDone: done,
    stepsTotal: total,
    iteration: goal.iteration + Number(job?.kind === "work"),
    iterations: limits.iterations,
    criteriaMet: goal.criteria.filter(({ name }) => isMet(goal, name)).length,
    criteriaTotal: goal.criteria.length,
    costUsd: knownCost(spent),
    unpriced: spent.unpriced,
    ...((spent.estimatedUsd ?? 0) > 0 ? { isEstimate: true } : {}),
    budgetUsd: limits.budgetUsd,
    tokens: spent.tokens,
    pauseReason: pause && shortText(pause.reason),
    gate: gate && shortText(gate.question),
    waitUntil: momentOf(goal.waitUntil),
    endedAt: momentOf(end?.at ?? null),
    session: goal.session,
  };
}

/** The order matters: a paused goal may still have a question or a waiting time. */
export function phaseOfGoal({ status, end, gate, job, waitUntil }: Goal): ShownPhase {
  if (status === "ended") return end?.status ?? "failed";
  if (status === "paused") return "paused";
  if (gate !== null) return "waiting for you";
  if (job !== null) return PHASES[job.kind];
  return waitUntil === null ? "ready" : "sleeping";
}

/** One safe line from the beginning of a text. */
function shortText(text: string): string {
  return cutTo(simplify(cleanLine(text.slice(0, 10 * TEXT_COLUMNS))), TEXT_COLUMNS);
}
