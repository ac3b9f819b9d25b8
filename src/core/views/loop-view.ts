/** Every kind of loop in one shape: state, proof, cost, next time, question, running turns. `detail` has the rest. */
import type { Backlog } from "../backlog/backlog.ts";
import { countsOfStories } from "../backlog/stories.ts";
import { knownCost } from "../cost/usage.ts";
import type { Goal, Spent, Verdict } from "../goal/goal.ts";
import type { Loop, Task } from "../loop.ts";
import { nextFireAt } from "../task/slots.ts";
import { type BacklogView, viewBacklog } from "./backlog-view.ts";
import { type GoalView, type NamedProof, proofsOf, viewEvidence, viewGoal } from "./goal-view.ts";
import { momentOf } from "./moment.ts";
import { phaseOfGoal } from "./progress.ts";
import { type TaskView, viewTask } from "./task-view.ts";

/** A running turn or round of checks. The id leads to its text and tool calls. */
interface TurnView {
  readonly id: string;
  /** `fire`, or the kind of the job: `work`, `checks`, `generate`, … */
  readonly kind: string;
  readonly startedAt: string | null;
  /** The story of the turn; null: the loop is not a backlog. */
  readonly story: string | null;
}

interface BudgetView extends Required<Pick<Spent, "unpriced" | "estimatedUsd" | "tokens">> {
  /** null: the agent reported no cost. */
  readonly costUsd: number | null;
  /** null: no limit. */
  readonly budgetUsd: number | null;
}

export interface LoopView extends Pick<Loop, "kind" | "version" | "status" | "session"> {
  readonly id: string;
  /** One line: the prompt, the spec, or the stories. */
  readonly title: string;
  /** The current activity: `working`, `waiting for you`, `sleeping`, … */
  readonly phase: string;
  readonly createdAt: string | null;
  /** When something is due next; null: nothing is scheduled. */
  readonly nextAt: string | null;
  readonly turns: readonly TurnView[];
  readonly criteria: readonly NamedProof[];
  readonly done: number;
  readonly total: number;
  readonly budget: BudgetView | null;
  readonly gate: GoalView["gate"];
  readonly pause: GoalView["pause"];
  readonly end: {
    readonly reason: string;
    readonly verdict: Verdict | null;
    readonly at: string | null;
  } | null;
  readonly detail: TaskView | GoalView | BacklogView;
}

export function viewLoop(loop: Loop): LoopView {
  switch (loop.kind) {
    case "task":
      return viewTaskLoop(loop);
    case "goal":
      return viewGoalLoop(loop);
    case "backlog":
      return viewBacklogLoop(loop);
  }
}

function viewTaskLoop(task: Task): LoopView {
  const { fire, status, statusReason } = task;
  return {
    ...commonOf(task),
    title: firstLine(task.prompt),
    phase: fire !== null ? "working" : status === "active" ? "sleeping" : status,
    nextAt: momentOf(nextFireAt(task)),
    turns:
      fire === null ? [] : [{ id: fire.id, kind: "fire", startedAt: momentOf(fire.startedAt), story: null }],
    criteria: [],
    done: 0,
    total: 0,
    budget: null,
    gate: null,
    pause: null,
    end: status === "ended" ? { reason: statusReason ?? "ended", verdict: null, at: null } : null,
    detail: viewTask(task),
  };
}

function viewGoalLoop(goal: Goal): LoopView {
  const detail = viewGoal(goal);
  const { end, job } = goal;
  const criteria = proofsOf(goal);
  return {
    ...commonOf(goal),
    title: firstLine(goal.spec),
    phase: phaseOfGoal(goal),
    nextAt: momentOf(goal.waitUntil),
    turns:
      job === null ? [] : [{ id: job.id, kind: job.kind, startedAt: momentOf(job.startedAt), story: null }],
    criteria,
    done: criteria.filter(({ met }) => met).length,
    total: criteria.length,
    budget: budgetOf(goal.spent, goal.limits.budgetUsd),
    gate: detail.gate,
    pause: detail.pause,
    end: end && { reason: end.reason, verdict: end.verdict, at: momentOf(end.at) },
    detail,
  };
}

function viewBacklogLoop(backlog: Backlog): LoopView {
  const detail = viewBacklog(backlog);
  const { passed, total } = countsOfStories(backlog.stories);
  const { end, terms } = backlog;
  return {
    ...commonOf(backlog),
    title: `${total} ${total === 1 ? "story" : "stories"}, mode ${terms.mode}`,
    phase: phaseOfBacklog(backlog),
    nextAt: momentOf(backlog.waitUntil),
    turns: detail.attempts.flatMap(({ story, running }) =>
      running === null ? [] : [{ id: running.id, kind: running.phase, startedAt: running.startedAt, story }],
    ),
    criteria: detail.attempts.flatMap(({ evidence }) =>
      Object.entries(evidence).map(([name, found]) => ({
        name,
        met: found.met,
        verification: found.verification,
        evidence: viewEvidence(found),
      })),
    ),
    done: passed,
    total,
    budget: budgetOf(backlog.spent, terms.budgetUsd),
    gate: null,
    pause: detail.pause,
    end: end && { reason: end.reason, verdict: null, at: momentOf(end.at) },
    detail,
  };
}

function commonOf(loop: Loop) {
  const { kind, id, version, status, session } = loop;
  return { kind, id, version, status, session, createdAt: momentOf(loop.createdAt) };
}

function phaseOfBacklog({ status, end, attempts, waitUntil, isStopping }: Backlog): string {
  if (status === "ended") return end?.outcome ?? "error";
  if (status === "paused") return "paused";
  if (isStopping) return "stopping";
  if (attempts.some(({ job }) => job !== null)) return "working";
  return waitUntil === null ? "ready" : "sleeping";
}

function budgetOf(spent: Spent, budgetUsd: number): BudgetView {
  const { unpriced, estimatedUsd = 0, tokens } = spent;
  return { costUsd: knownCost(spent), unpriced, estimatedUsd, tokens, budgetUsd };
}

function firstLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, 200);
}
