/** A backlog as other programs see it. Holdouts are in no part of it: only the evaluator may see them (C15). */
import type { AttemptPhase, Backlog, BacklogOutcome, Mode, StoryReceipt } from "../backlog/backlog.ts";
import { countsOfStories, type Story, type StoryStatus, statusOf } from "../backlog/stories.ts";
import type { Evidence, PauseCode, Spent } from "../goal/goal.ts";
import { momentOf } from "./moment.ts";

export interface StoryView extends Omit<Story, "holdouts"> {
  readonly status: StoryStatus;
}

export interface AttemptView {
  readonly story: string;
  readonly iteration: number;
  /** What is under way; null: the attempt waits for `next`. */
  readonly running: {
    readonly id: string;
    readonly phase: AttemptPhase;
    readonly startedAt: string | null;
  } | null;
  readonly next: AttemptPhase;
  /** By the name of the check. */
  readonly evidence: Readonly<Record<string, Evidence>>;
  readonly filesChanged: number | null;
  readonly verdict: { readonly kind: "pass" | "reject" | "none"; readonly reason: string | null } | null;
  /** null: the project's own folder. */
  readonly worktree: string | null;
  readonly spent: Spent;
}

export interface BacklogView {
  readonly kind: "backlog";
  readonly id: string;
  readonly version: number;
  readonly session: string | null;
  readonly status: Backlog["status"];
  readonly createdAt: string | null;
  readonly mode: Mode;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly parallel: number;
  readonly total: number;
  readonly passed: number;
  readonly blocked: number;
  readonly open: number;
  readonly stories: readonly StoryView[];
  readonly attempts: readonly AttemptView[];
  readonly spent: Spent;
  readonly budgetUsd: number;
  readonly waiting: { readonly until: string | null; readonly reason: string | null } | null;
  /** A person asked it to end after what is under way. */
  readonly stopping: boolean;
  readonly pause: {
    readonly code: PauseCode;
    readonly reason: string;
    readonly evidence: readonly string[];
    readonly goOn: string;
    readonly at: string | null;
  } | null;
  readonly end: {
    readonly outcome: BacklogOutcome;
    readonly reason: string;
    readonly at: string | null;
  } | null;
  readonly receipts: readonly StoryReceipt[];
}

export function viewBacklog(backlog: Backlog): BacklogView {
  const { terms, pause, end, waitUntil } = backlog;
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
    waiting: waitUntil === null ? null : { until: momentOf(waitUntil), reason: backlog.waitReason },
    stopping: backlog.isStopping,
    pause: pause && { ...pause, at: momentOf(pause.at) },
    end: end && { ...end, at: momentOf(end.at) },
    receipts: backlog.receipts,
  };
}

export function viewStory({ holdouts: _, ...story }: Story): StoryView {
  return { ...story, status: statusOf({ ...story, holdouts: [] }) };
}

function viewAttempt(attempt: Backlog["attempts"][number]): AttemptView {
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
