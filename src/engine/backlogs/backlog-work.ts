/**
 * Carries out the jobs of backlogs: generators, rounds of checks, evaluators, merges. Each job ends with one event. Owns
 * nothing that has to survive a crash: a turn is found by its ticket, everything else runs again.
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
  /** What is written down about decisions. */
  readonly records: BacklogRecords;

  constructor(parts: EngineParts, backlogParts: BacklogParts, underway: Underway) {
    this.#parts = parts;
    this.#backlogParts = backlogParts;
    this.#underway = underway;
    this.records = new BacklogRecords(parts, backlogParts);
  }

  start(backlog: Backlog, attempt: Attempt, job: AttemptJob): void {
    this.#follow(job, this.#carryOut(this.#open(backlog, attempt, job)));
  }

  /** Recovers a job that another process intended. Returns the event that settles it; null: the job continues. */
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
    // an agent starts only after its folder is on record
    if (attempt.place === null) return withdrawn(job);
    if (place === null) return interrupted(job, "the runner ended, and its work folder no longer exists");
    return this.#reconcile(this.#open(backlog, attempt, job), place);
  }

  /** Finds out whether the turn of another process still runs, has ended, or is lost. */
  async #reconcile(work: StoryJob, place: WorkPlace): Promise<LoopEvent | null> {
    const { job, backlogParts } = work;
    const ask = async () => {
      const { agent, turn } = openStoryTurn(work, place);
      return agent.reconcile(turn, this.#control(work, place.place));
    };
    const fate = await this.#underway.reconcile(job.id, ask, (end) => {
      const recorded = end.then((ended) => recordStoryTurn(work, place, ended));
      this.#follow(job, recorded);
    });
    if (fate.kind === "never") return withdrawn(job);
    if (fate.kind !== "lost") return null;
    // undo what the lost agent wrote into the file
    await backlogParts.files.putBack(shownStories(backlogNow(work), job));
    return interrupted(job, `the runner ended while it ran, and ${fate.reason}`);
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

  /** null: the job was stopped. */
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
    if (place === null) throw new Error(`the work folder of ${attempt.story} no longer exists`);
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

  /** Recorded before the agent runs: after a crash, only this shows what the agent changed. */
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
      // an interrupted round proves nothing, so nothing may be merged
      signal.throwIfAborted();
      return round;
    });
    if (signal.aborted && merge.kind !== "merged") return null;
    return { type: "attempt.merged", jobId: job.id, merge };
  }
}

function interrupted(job: AttemptJob, reason: string): LoopEvent {
  return { type: "attempt.interrupted", jobId: job.id, reason };
}

function withdrawn(job: AttemptJob): LoopEvent {
  return { type: "attempt.withdrawn", jobId: job.id, reason: "the runner ended before it was started" };
}
