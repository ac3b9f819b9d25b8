/**
 * Carries out the jobs of backlog loops: generators, rounds of checks, evaluators, merges. Each comes back as one
 * event. Owns nothing that has to survive: a turn is found by its ticket, everything else is simply taken again.
 */
import type { Attempt, AttemptJob, Backlog, StoryPlace } from "../../core/backlog/backlog.ts";
import { withoutHoldouts } from "../../core/backlog/pick.ts";
import type { LoopEvent } from "../../core/event.ts";
import type { TurnControl } from "../../ports/agent.ts";
import type { WorkPlace } from "../../ports/stories.ts";
import { type BacklogParts, describe, type EngineParts } from "../parts.ts";
import type { Underway } from "../underway.ts";
import { runStoryRound } from "./backlog-checks.ts";
import { BacklogRecords } from "./backlog-records.ts";
import { openStoryTurn, recordStoryTurn } from "./backlog-turn.ts";
import { backlogNow, isSamePlace, type StoryJob, shownStories, storyOf } from "./story-job.ts";

export class BacklogWork {
  readonly #parts: EngineParts;
  readonly #backlogParts: BacklogParts;
  readonly #underway: Underway;
  readonly #records: BacklogRecords;

  constructor(parts: EngineParts, backlogParts: BacklogParts, underway: Underway) {
    this.#parts = parts;
    this.#backlogParts = backlogParts;
    this.#underway = underway;
    this.#records = new BacklogRecords(parts, backlogParts);
  }

  start(backlog: Backlog, attempt: Attempt, job: AttemptJob): void {
    this.#follow(job, this.#carryOut(this.#open(backlog, attempt, job)));
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
    const { places } = this.#backlogParts;
    const place = attempt.place === null ? null : await places.find(attempt.place);
    if (job.phase === "check" || job.phase === "merge") {
      if (place !== null) await this.#backlogParts.checkerFor(place.dir).sweep(job.id);
      return interrupted(job, "the runner ended while the checks ran");
    }
    // An agent is not started before it is on record where it works.
    if (attempt.place === null) return withdrawn(job);
    if (place === null)
      return interrupted(job, "the runner ended, and the folder in which it worked is gone");
    return this.#reconcile(this.#open(backlog, attempt, job), place);
  }

  /** A turn of another process goes on, has ended, or is lost. */
  async #reconcile(work: StoryJob, place: WorkPlace): Promise<LoopEvent | null> {
    const { job, backlogParts } = work;
    try {
      const { agent, turn } = openStoryTurn(work, place);
      const fate = await agent.reconcile(turn, this.#control(work, place.place));
      if (fate.kind === "running" || fate.kind === "ended") {
        const end = Promise.resolve(fate.end);
        this.#follow(
          job,
          end.then((ended) => recordStoryTurn(work, place, ended)),
        );
        return null;
      }
      this.#underway.settle(job.id);
      if (fate.kind === "never") return withdrawn(job);
      // Nobody looked at what it wrote there before it was gone.
      await backlogParts.files.putBack(shownStories(backlogNow(work), job));
      return interrupted(job, `the runner ended while it ran, and ${fate.reason}`);
    } catch (error) {
      this.#underway.settle(job.id);
      throw error;
    }
  }

  #open(backlog: Backlog, attempt: Attempt, job: AttemptJob): StoryJob {
    const signal = this.#underway.open(backlog.id, job.id);
    return { parts: this.#parts, backlogParts: this.#backlogParts, backlog, attempt, job, signal };
  }

  #follow(job: AttemptJob, work: Promise<LoopEvent | null>): void {
    this.#underway.follow(
      job.id,
      work,
      (event, stopped) => ({
        event: event ?? interrupted(job, stopped ?? "it was stopped"),
        answer: null,
      }),
      (error, stopped) =>
        stopped === null
          ? { type: "backlog.paused", code: "surroundings", reason: describe(error), jobId: job.id }
          : interrupted(job, stopped),
    );
  }

  /** null: it was stopped. */
  async #carryOut(work: StoryJob): Promise<LoopEvent | null> {
    const { backlog, job } = work;
    if (job.phase === "generate") await this.#backlogParts.files.publish(withoutHoldouts(backlog.stories));
    const place = await this.#placeOf(work);
    switch (job.phase) {
      case "generate":
      case "evaluate":
        return this.#runTurn(work, place);
      case "check":
        return this.#runChecks(work, place);
      case "merge":
        return this.#merge(work, place);
    }
  }

  async #placeOf({ backlog, attempt, job }: StoryJob): Promise<WorkPlace> {
    const { places } = this.#backlogParts;
    const place =
      job.phase === "generate" || attempt.place === null
        ? await places.open(attempt.story, attempt.place, backlog.terms)
        : await places.find(attempt.place);
    if (place === null) throw new Error(`the folder in which ${attempt.story} was worked on is gone`);
    return place;
  }

  async #runTurn(work: StoryJob, place: WorkPlace): Promise<LoopEvent | null> {
    const { attempt, job } = work;
    const { agent, turn } = openStoryTurn(work, place);
    if (attempt.place === null || !isSamePlace(attempt.place, place.place))
      await this.#noteBegin(job, place.place);
    const end = await agent.run(turn, this.#control(work, place.place));
    return recordStoryTurn(work, place, end);
  }

  /** Before the agent runs: after a crash, what it did is told from what was there by this alone. */
  #noteBegin(job: AttemptJob, place: StoryPlace): Promise<void> {
    const event: LoopEvent = { type: "attempt.started", jobId: job.id, process: null, place };
    return new Promise((noted) => this.#underway.started(job.id, event, noted));
  }

  #control({ backlog, job, signal }: StoryJob, place: StoryPlace): TurnControl {
    return {
      signal,
      onStarted: (process) =>
        this.#underway.started(job.id, { type: "attempt.started", jobId: job.id, process, place }),
      onTaken: (event) => this.#parts.observe({ type: "agent", loopId: backlog.id, event }),
    };
  }

  async #runChecks(work: StoryJob, place: WorkPlace): Promise<LoopEvent | null> {
    const round = await runStoryRound(work, place, place.place.worktree === null);
    if (work.signal.aborted) return null;
    const nextNonce = this.#backlogParts.newNonce();
    return { type: "attempt.checked", jobId: work.job.id, round, nextNonce };
  }

  async #merge(work: StoryJob, place: WorkPlace): Promise<LoopEvent | null> {
    const { backlog, attempt, job, signal } = work;
    const story = storyOf(backlog, attempt);
    const merge = await this.#backlogParts.places.merge(place, story, backlog.terms, async (dir) => {
      const round = await runStoryRound(work, { ...place, dir }, true);
      // A round that was cut short proves nothing, and nothing may be merged by it.
      signal.throwIfAborted();
      return round;
    });
    if (signal.aborted && merge.kind !== "merged") return null;
    return { type: "attempt.merged", jobId: job.id, merge };
  }

  /** What a decision leaves to be written down, one after the other. */
  settle(before: Backlog, after: Backlog): void {
    this.#records.add(before, after);
  }

  /** Resolves when everything is written down. */
  settled(): Promise<void> {
    return this.#records.written();
  }
}

function interrupted(job: AttemptJob, reason: string): LoopEvent {
  return { type: "attempt.interrupted", jobId: job.id, reason };
}

function withdrawn(job: AttemptJob): LoopEvent {
  return { type: "attempt.withdrawn", jobId: job.id, reason: "the runner ended before it was started" };
}
