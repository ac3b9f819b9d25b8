/** One turn of a generator or an evaluator: its prompt and its record. */
import type { Backlog } from "../../core/backlog/backlog.ts";
import type { GeneratorRecord } from "../../core/backlog/event.ts";
import { depthOf } from "../../core/backlog/prd/depth.ts";
import { whyOverScope } from "../../core/backlog/scope.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { readVerdict, type SaidVerdict, toolVerdictsOf } from "../../core/backlog/verdict.ts";
import { commandsOfChecks } from "../../core/checks/kinds.ts";
import type { LoopEvent } from "../../core/event.ts";
import type { Agent, Turn, TurnEnd } from "../../ports/agent.ts";
import type { StoryWork, WorkPlace } from "../../ports/stories.ts";
import { checksFor } from "./backlog-checks.ts";
import { backlogNow, type StoryJob, shownStories, storyOf } from "./story-job.ts";

interface StoryTurn {
  readonly agent: Agent;
  readonly turn: Turn;
}

type Role = "generator" | "evaluator";
type Ended = Exclude<TurnEnd, { kind: "cancelled" }>;

const FILES_KEPT = 50;
const REWRITTEN = "commits from before the attempt were rewritten";
const ELSEWHERE = "the checked-out branch is not the branch on which the story began";

/** Throws when the agent of the role is not available. */
export function openStoryTurn(work: StoryJob, { place, dir }: WorkPlace): StoryTurn {
  const { parts, backlogParts, backlog, attempt, job } = work;
  const { terms } = backlog;
  const role = job.phase === "evaluate" ? "evaluator" : "generator";
  const story = storyOf(backlog, attempt);
  const checks = checksFor(backlog, attempt, place.worktree === null).map(({ criterion }) => criterion);
  const last = backlog.receipts.findLast((receipt) => receipt.story === story.id) ?? null;
  const text = backlogParts.files.prompt(role, {
    story,
    terms,
    dir,
    iteration: attempt.iteration,
    nonce: job.nonce,
    sha: place.base?.head ?? null,
    checks,
    rejected: last?.outcome === "rejected" ? last : null,
    changedFiles: attempt.diff?.files ?? [],
  });
  const model = modelOf(backlog, role, story);
  const turn: Turn = {
    id: job.id,
    loopId: backlog.id,
    token: job.token,
    text,
    deadlineAt: (job.startedAt ?? parts.clock.now()) + terms.turnTimeoutMs,
    env: {
      LOOP_KIND: role,
      LOOP_ROLE: role,
      LOOP_STORY: story.id,
      LOOP_ITERATION: String(attempt.iteration),
      LOOP_NONCE: job.nonce,
      ...(model === null ? {} : { LOOP_MODEL: model }),
    },
    conversation: null,
    ...(model === null ? {} : { model }),
    budgetUsd: Math.max(0.01, terms.budgetUsd - backlog.spent.costUsd),
    commands: commandsOfChecks(checks),
  };
  return { agent: backlogParts.agentFor(terms[role], dir), turn };
}

function modelOf(backlog: Backlog, role: Role, story: Story): string | null {
  const { models } = backlog.terms;
  return models[role] ?? models.depths[depthOf(story, backlog)];
}

/** The event that ends the turn; null: the turn was stopped. */
export async function recordStoryTurn(
  work: StoryJob,
  place: WorkPlace,
  end: TurnEnd,
): Promise<LoopEvent | null> {
  if (end.kind === "cancelled") return null;
  const { parts, backlogParts, job } = work;
  const { files, places, newNonce } = backlogParts;
  const bentStories = await files.putBack(shownStories(backlogNow(work), job));
  const common = {
    failure: end.kind === "failed" ? end.failure : null,
    usage: end.usage,
    ...(end.takenBy === undefined ? {} : { takenBy: end.takenBy }),
    durationMs: Math.max(0, parts.clock.now() - (job.startedAt ?? job.intendedAt)),
    bentStories,
  };
  const found = await places.workSince(place);
  if (job.phase === "evaluate") {
    const turn = { ...common, ...judgedIn(work, place, end, found) };
    return { type: "attempt.evaluated", jobId: job.id, turn, nextNonce: newNonce() };
  }
  const turn = { ...common, ...generatedIn(work, place, end, found) };
  return { type: "attempt.generated", jobId: job.id, turn, nextNonce: newNonce() };
}

function judgedIn(
  work: StoryJob,
  { place }: WorkPlace,
  { answer }: Ended,
  { isRewritten, isElsewhere, tree }: StoryWork,
): { readonly verdict: SaidVerdict; readonly tree: string } {
  const { job } = work;
  // an evaluator must only look, so a verdict does not count if it changed the history
  const verdict: SaidVerdict =
    isRewritten || isElsewhere
      ? { kind: "none", reason: `after the evaluator's turn ${isRewritten ? REWRITTEN : ELSEWHERE}` }
      : readVerdict(answer, toolVerdictsOf(backlogNow(work), job.id), job.nonce);
  // Git does not report ignored files. So the checks run once more: here now, or at the merge of a worktree.
  return { verdict, tree: place.worktree === null ? `${tree} and what is ignored` : tree };
}

function generatedIn(
  { backlog }: StoryJob,
  { place }: WorkPlace,
  { answer, activity }: Ended,
  work: StoryWork,
): Pick<GeneratorRecord, "isSilent" | "overScope" | "diff"> {
  const filesRead = activity?.reads ?? null;
  return {
    isSilent: answer.trim() === "",
    overScope: work.isElsewhere
      ? ELSEWHERE
      : whyOverScope(backlog.terms.scope, { changes: work.files, filesRead }),
    diff: {
      sha: work.sha,
      treeBefore: place.base?.tree ?? "",
      tree: work.tree,
      filesChanged: work.files.length,
      files: work.files.slice(0, FILES_KEPT).map(({ path }) => path),
      linesWritten: work.files.reduce((sum, { linesWritten }) => sum + linesWritten, 0),
      filesRead: filesRead === null ? null : new Set(filesRead).size,
      isRewritten: work.isRewritten,
    },
  };
}
