/** A backlog as other programs see it, without holdouts: only the evaluator may see them (C15). */
import type { Attempt, AttemptJob, Backlog, Mode } from "../backlog/backlog.ts";
import {
  countsOfStories,
  type Story,
  type StoryCounts,
  type StoryStatus,
  statusOf,
} from "../backlog/stories.ts";
import { type GoalView, viewPause, viewWaiting } from "./goal-view.ts";
import { momentOf } from "./moment.ts";

interface StoryView extends Omit<Story, "holdouts"> {
  readonly status: StoryStatus;
}

interface AttemptView
  extends Pick<Attempt, "story" | "iteration" | "next" | "evidence" | "verdict" | "spent"> {
  /** The running job; null: the attempt waits for `next`. */
  readonly running: (Pick<AttemptJob, "id" | "phase"> & { readonly startedAt: string | null }) | null;
  readonly filesChanged: number | null;
  /** null: the project's own folder. */
  readonly worktree: string | null;
}

type Same = "kind" | "id" | "version" | "session" | "status" | "iteration" | "spent" | "receipts";

export interface BacklogView extends Pick<Backlog, Same>, StoryCounts {
  readonly createdAt: string | null;
  readonly mode: Mode;
  readonly maxIterations: number;
  readonly parallel: number;
  readonly stories: readonly StoryView[];
  readonly attempts: readonly AttemptView[];
  readonly budgetUsd: number;
  readonly waiting: GoalView["waiting"];
  /** A person asked the backlog to stop after the running work. */
  readonly stopping: boolean;
  readonly pause: GoalView["pause"];
  readonly end: (Omit<NonNullable<Backlog["end"]>, "at"> & { readonly at: string | null }) | null;
}

export function viewBacklog(backlog: Backlog): BacklogView {
  const { terms, pause, end } = backlog;
  return {
    kind: "backlog",
    id: backlog.id,
    version: backlog.version,
    session: backlog.session,
    status: backlog.status,
    createdAt: momentOf(backlog.createdAt),
    mode: terms.mode,
    iteration: backlog.iteration,
    maxIterations: terms.maxIterations,
    parallel: terms.parallel,
    ...countsOfStories(backlog.stories),
    stories: backlog.stories.map(viewStory),
    attempts: backlog.attempts.map(viewAttempt),
    spent: backlog.spent,
    budgetUsd: terms.budgetUsd,
    waiting: viewWaiting(backlog),
    stopping: backlog.isStopping,
    pause: pause && viewPause(pause),
    end: end && { ...end, at: momentOf(end.at) },
    receipts: backlog.receipts,
  };
}

export function viewStory({ holdouts: _, ...story }: Story): StoryView {
  return { ...story, status: statusOf(story) };
}

function viewAttempt(attempt: Attempt): AttemptView {
  const { job, diff, place } = attempt;
  return {
    story: attempt.story,
    iteration: attempt.iteration,
    running: job && { id: job.id, phase: job.phase, startedAt: momentOf(job.startedAt) },
    next: attempt.next,
    evidence: attempt.evidence,
    filesChanged: diff?.filesChanged ?? null,
    verdict: attempt.verdict,
    worktree: place?.worktree ?? null,
    spent: attempt.spent,
  };
}
