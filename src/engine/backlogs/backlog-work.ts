/**
 * Carries out the jobs of backlog loops: generators, rounds of checks, evaluators, merges. Each comes back as one
 * event. Owns nothing that has to survive: a turn is found by its ticket, everything else is simply taken again.
 */
import type { Attempt, AttemptJob, Backlog, StoryPlace } from "../../core/backlog/backlog.ts";
import { withoutHoldouts } from "../../core/backlog/pick.ts";
import { depthOf } from "../../core/backlog/prd/depth.ts";
import { scopeOf } from "../../core/backlog/scope.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { hideHoldouts, readVerdict, type SaidVerdict, toolVerdictsOf } from "../../core/backlog/verdict.ts";
import type { LoopEvent } from "../../core/event.ts";
import type { LoopId } from "../../core/loop.ts";
import type { Agent, Turn, TurnControl, TurnEnd } from "../../ports/agent.ts";
import type { StoryWork, WorkPlace } from "../../ports/stories.ts";
import { type BacklogParts, describe, type EngineParts } from "../parts.ts";
import type { Underway } from "../underway.ts";
import { checksFor, runStoryRound } from "./backlog-checks.ts";

type Ended = Exclude<TurnEnd, { kind: "cancelled" }>;

export class BacklogWork {
  readonly #parts: EngineParts;
  readonly #backlog: BacklogParts;
  readonly #underway: Underway;
  #settling: Promise<void> = Promise.resolve();

  constructor(parts: EngineParts, backlog: BacklogParts, underway: Underway) {
    this.#parts = parts;
    this.#backlog = backlog;
    this.#underway = underway;
  }

  start(backlog: Backlog, attempt: Attempt, job: AttemptJob): void {
    const signal = this.#underway.open(backlog.id, job.id);
    this.#follow(job, this.#work(backlog, attempt, job, signal));
  }

  /** For a job that another process intended. The event that settles it, or null when it goes on. */
  async recover(
    backlog: Backlog,
    attempt: Attempt,
    job: AttemptJob,
    token: number,
  ): Promise<LoopEvent | null> {
    if (job.token === token && backlog.status === "active") {
      this.start(backlog, attempt, job);
      return null;
    }
    const interrupted = (reason: string): LoopEvent => ({
      type: "attempt.interrupted",
      jobId: job.id,
      reason,
    });
    const place = attempt.place === null ? null : await this.#backlog.places.find(attempt.place);
    if (job.phase === "check" || job.phase === "merge") {
      if (place !== null) await this.#backlog.checkerFor(place.dir).sweep(job.id);
      return interrupted("the runner ended while the checks ran");
    }
    // an agent is not started before it is on record where it works
    if (attempt.place === null)
      return { type: "attempt.withdrawn", jobId: job.id, reason: "the runner ended before it was started" };
    if (place === null) return interrupted("the runner ended, and the folder in which it worked is gone");
    return this.#reconcile(backlog, attempt, job, place, interrupted);
  }

  async #reconcile(
    backlog: Backlog,
    attempt: Attempt,
    job: AttemptJob,
    place: WorkPlace,
    interrupted: (reason: string) => LoopEvent,
  ): Promise<LoopEvent | null> {
    const signal = this.#underway.open(backlog.id, job.id);
    try {
      const { agent, turn } = await this.#openTurn(backlog, attempt, job, place);
      const fate = await agent.reconcile(turn, this.#control(backlog.id, job, signal, place.place));
      if (fate.kind === "running" || fate.kind === "ended") {
        const end = fate.kind === "ended" ? Promise.resolve(fate.end) : fate.end;
        this.#follow(
          job,
          end.then((ended) => this.#record(backlog, job, place, ended)),
        );
        return null;
      }
      this.#underway.settle(job.id);
      if (fate.kind === "never")
        return { type: "attempt.withdrawn", jobId: job.id, reason: "the runner ended before it was started" };
      // nobody looked at what it wrote there before it was gone
      await this.#backlog.files.putBack(this.#storiesNow(backlog, job));
      return interrupted(`the runner ended while it ran, and ${fate.reason}`);
    } catch (error) {
      this.#underway.settle(job.id);
      throw error;
    }
  }

  #follow(job: AttemptJob, work: Promise<LoopEvent | null>): void {
    this.#underway.follow(
      job.id,
      work,
      (event, stopped) => ({
        event: event ?? { type: "attempt.interrupted", jobId: job.id, reason: stopped ?? "it was stopped" },
        answer: null,
      }),
      (error, stopped) =>
        stopped === null
          ? { type: "backlog.paused", code: "surroundings", reason: describe(error), jobId: job.id }
          : { type: "attempt.interrupted", jobId: job.id, reason: stopped },
    );
  }

  /** null: it was stopped. */
  async #work(
    backlog: Backlog,
    attempt: Attempt,
    job: AttemptJob,
    signal: AbortSignal,
  ): Promise<LoopEvent | null> {
    const { places, files } = this.#backlog;
    if (job.phase === "generate") await files.publish(withoutHoldouts(backlog.stories));
    const place =
      job.phase === "generate" || attempt.place === null
        ? await places.open(attempt.story, attempt.place, backlog.terms)
        : await places.find(attempt.place);
    if (place === null) throw new Error(`the folder in which ${attempt.story} was worked on is gone`);
    switch (job.phase) {
      case "generate":
      case "evaluate": {
        const { agent, turn } = await this.#openTurn(backlog, attempt, job, place);
        if (attempt.place === null || keyOf(attempt.place) !== keyOf(place.place))
          await this.#noteBegin(job, place.place);
        const end = await agent.run(turn, this.#control(backlog.id, job, signal, place.place));
        return this.#record(backlog, job, place, end);
      }
      case "check": {
        const round = await runStoryRound(
          this.#parts,
          this.#backlog,
          backlog,
          attempt,
          place,
          place.place.worktree === null,
          job.id,
          signal,
        );
        if (signal.aborted) return null;
        return { type: "attempt.checked", jobId: job.id, round, nextNonce: this.#backlog.newNonce() };
      }
      case "merge": {
        const story = storyOf(backlog, attempt);
        const merge = await places.merge(place, story, backlog.terms, async (dir) => {
          const at = { ...place, dir };
          const { id } = job;
          const round = await runStoryRound(
            this.#parts,
            this.#backlog,
            backlog,
            attempt,
            at,
            true,
            id,
            signal,
          );
          // cut short, it proves nothing, and nothing may be merged by it
          signal.throwIfAborted();
          return round;
        });
        return signal.aborted && merge.kind !== "merged"
          ? null
          : { type: "attempt.merged", jobId: job.id, merge };
      }
    }
  }

  /** Before the agent runs: after a crash, what it did is told from what was there by this alone. */
  #noteBegin(job: AttemptJob, place: StoryPlace): Promise<void> {
    const event: LoopEvent = { type: "attempt.started", jobId: job.id, process: null, place };
    return new Promise((noted) => this.#underway.started(job.id, event, noted));
  }

  async #openTurn(
    backlog: Backlog,
    attempt: Attempt,
    job: AttemptJob,
    { place, dir }: WorkPlace,
  ): Promise<{ readonly agent: Agent; readonly turn: Turn }> {
    const { clock } = this.#parts;
    const { terms } = backlog;
    const role = job.phase === "evaluate" ? "evaluator" : "generator";
    const story = storyOf(backlog, attempt);
    const checks = checksFor(backlog, attempt, place.worktree === null);
    const rejected = backlog.receipts.findLast((receipt) => receipt.story === story.id) ?? null;
    const text = this.#backlog.files.prompt(role, {
      ...{ story, terms, dir, iteration: attempt.iteration, nonce: job.nonce },
      sha: place.base?.head ?? null,
      checks: checks.map(({ criterion }) => criterion),
      rejected: rejected?.outcome === "rejected" ? rejected : null,
      changedFiles: attempt.diff?.files ?? [],
    });
    const model = terms.models[role] ?? terms.models.depths[depthOf(story, backlog)];
    const turn: Turn = {
      id: job.id,
      loopId: backlog.id,
      token: job.token,
      text,
      deadlineAt: (job.startedAt ?? clock.now()) + terms.turnTimeoutMs,
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
      leavesNothing: true,
      commands: checks.flatMap(({ criterion: { check } }) =>
        check.kind === "command" || check.kind === "measure" ? [check.command] : [],
      ),
    };
    return {
      agent: this.#backlog.agentFor(role === "evaluator" ? terms.evaluator : terms.generator, dir),
      turn,
    };
  }

  #control(loopId: LoopId, job: AttemptJob, signal: AbortSignal, place: StoryPlace): TurnControl {
    return {
      signal,
      onStarted: (process) =>
        this.#underway.started(job.id, { type: "attempt.started", jobId: job.id, process, place }),
      onTaken: (event) => this.#parts.observe({ type: "agent", loopId, event }),
    };
  }

  async #record(
    backlog: Backlog,
    job: AttemptJob,
    place: WorkPlace,
    end: TurnEnd,
  ): Promise<LoopEvent | null> {
    if (end.kind === "cancelled") return null;
    const { files, places, newNonce } = this.#backlog;
    const { clock } = this.#parts;
    const bentStories = await files.putBack(this.#storiesNow(backlog, job));
    const common = {
      failure: end.kind === "failed" ? end.failure : null,
      usage: end.usage,
      ...(end.takenBy === undefined ? {} : { takenBy: end.takenBy }),
      durationMs: Math.max(0, clock.now() - (job.startedAt ?? job.intendedAt)),
      bentStories,
    };
    if (job.phase === "evaluate") {
      const { isRewritten, isElsewhere, tree } = await places.workSince(place);
      // a judge is there to look: what it does to the history is no verdict
      const verdict: SaidVerdict =
        isRewritten || isElsewhere
          ? { kind: "none", reason: `after the evaluator's turn ${isRewritten ? REWRITTEN : ELSEWHERE}` }
          : readVerdict(end.answer, toolVerdictsOf(this.#now(backlog), job.id), job.nonce);
      // git does not tell of what it ignores: all is proved once more, in a worktree when it is merged
      const left = place.place.worktree === null ? `${tree} and what is ignored` : tree;
      const turn = { ...common, verdict, tree: left };
      return { type: "attempt.evaluated", jobId: job.id, turn, nextNonce: newNonce() };
    }
    const work = await places.workSince(place);
    const turn = { ...common, ...this.#generated(backlog, end, place, work) };
    return { type: "attempt.generated", jobId: job.id, turn, nextNonce: newNonce() };
  }

  /** Others may have been settled since this one began. */
  #storiesNow(backlog: Backlog, over: AttemptJob): readonly Story[] {
    const now = this.#now(backlog);
    return isGenerating(now, over) ? withoutHoldouts(now.stories) : now.stories;
  }

  #now(backlog: Backlog): Backlog {
    const loaded = this.#parts.store.load(backlog.id);
    return loaded?.kind === "backlog" ? loaded : backlog;
  }

  /** What a decision leaves to be written down, one after the other. */
  settle(before: Backlog, after: Backlog): void {
    this.#settling = this.#settling
      .then(() => this.#writeDown(before, after))
      .catch((error: unknown) => this.#parts.observe({ type: "problem", message: describe(error) }));
  }

  /** Resolves when everything is written down. */
  settled(): Promise<void> {
    return this.#settling;
  }

  /** Verdicts in prd.json, entries of progress.md, folders that are free. */
  async #writeDown(before: Backlog, after: Backlog): Promise<void> {
    const { files, places } = this.#backlog;
    const isFree = isGenerating(before, null) && !isGenerating(after, null);
    if (before.stories !== after.stories || isFree)
      await files.publish(isGenerating(after, null) ? withoutHoldouts(after.stories) : after.stories);
    for (const receipt of after.receipts.slice(before.receipts.length)) {
      const story = after.stories.find(({ id }) => id === receipt.story);
      const isJudged = receipt.outcome === "passed" || receipt.outcome === "rejected";
      if (story !== undefined && isJudged) files.note(story, receipt, after.terms.skipEval);
    }
    const kept = new Set([...after.places, ...after.attempts.flatMap(({ place }) => place ?? [])].map(keyOf));
    for (const place of before.places) if (!kept.has(keyOf(place))) await places.release(place);
  }

  #generated(backlog: Backlog, end: Ended, { place }: WorkPlace, work: StoryWork) {
    const filesRead = end.activity?.reads ?? null;
    const scope = scopeOf(backlog.terms.scope, { changes: work.files, filesRead });
    return {
      isSilent: end.answer.trim() === "",
      overScope: work.isElsewhere ? ELSEWHERE : scope.kind === "over" ? scope.text : null,
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
}

/** `over`: but for this job, which has just ended. */
function isGenerating({ attempts }: Backlog, over: AttemptJob | null): boolean {
  return attempts.some(({ job }) => job?.phase === "generate" && job.id !== over?.id);
}

const FILES_KEPT = 50;
const REWRITTEN = "commits from before the attempt were rewritten";
const ELSEWHERE = "another branch is checked out than the one that the story was begun on";

function keyOf({ story, worktree }: StoryPlace): string {
  return `${story}\n${worktree ?? ""}`;
}

/** What a person took out of the file in the middle of an attempt still has to be told to its end. */
function storyOf({ stories }: Backlog, { story }: Attempt): Story {
  const found = stories.find(({ id }) => id === story);
  if (found === undefined) throw new Error(`the story ${story} is not in the backlog any more`);
  return { ...found, notes: hideHoldouts(found.notes, found.holdouts) };
}
