/**
 * Carries out the jobs of goals: the survey before any work, turns of the agent, rounds of checks. Each job ends with one
 * event. Owns nothing that has to survive a crash: a round runs again, a turn is found by its ticket.
 */
import type { LoopEvent } from "../../core/event.ts";
import type { Goal, Job, JobId } from "../../core/goal/goal.ts";
import { isIterationRound } from "../../core/goal/phase.ts";
import type { LoopId } from "../../core/loop.ts";
import type { TurnEnd } from "../../ports/agent.ts";
import type { Snapshot } from "../../ports/checks.ts";
import { askedOf, stopJudges } from "../checks/judges.ts";
import { describe, type EngineParts, type GoalParts } from "../parts.ts";
import type { Underway } from "../underway.ts";
import { lookAround, runGoalRound, runSurvey, type Sight } from "./goal-checks.ts";
import { panelOf } from "./goal-judges.ts";
import { openTurn, recordTurn } from "./goal-turn.ts";

export class GoalWork {
  readonly #parts: EngineParts;
  readonly #goals: GoalParts;
  readonly #underway: Underway;
  /** The state at the end of the last job, so that the next job need not look again. */
  #last: Sight | null = null;
  /** The files at the last checkpoint of this process. */
  #saved: { readonly loopId: LoopId; readonly snapshot: Snapshot | null } | null = null;
  /** The turn after which `#last` was read, until its round begins. */
  #lastTurn: JobId | null = null;

  constructor(parts: EngineParts, goals: GoalParts, underway: Underway) {
    this.#parts = parts;
    this.#goals = goals;
    this.#underway = underway;
  }

  start(goal: Goal, job: Job): void {
    const signal = this.#underway.open(goal.id, job.id);
    if (job.kind === "survey" || job.kind === "checks") this.#startRound(goal, job, signal);
    else this.#startTurn(goal, job, signal);
  }

  /** Recovers a job that another process intended. Returns the event that settles it; null: the job continues. */
  async recover(goal: Goal, job: Job, token: number, now: number): Promise<LoopEvent | null> {
    const interrupted = (reason: string): LoopEvent => ({ type: "job.interrupted", jobId: job.id, reason });
    try {
      this.#goals.agentFor(goal.agent, "work");
    } catch (error) {
      // another attempt would fail again and keep all other loops from being recovered
      return this.#broken(job, error, null);
    }
    // intended by this process in a write that seemed to fail, so no process has started it
    if (job.token === token && goal.status === "active") {
      this.start(goal, job);
      return null;
    }
    if (job.kind === "survey" || job.kind === "checks") {
      await this.#parts.checker.sweep(job.id);
      await stopJudges(panelOf(this.#parts, this.#goals, goal, job), askedOf(goal.criteria));
      return interrupted("the runner ended while the checks ran");
    }
    return this.#reconcile(goal, job, now, interrupted);
  }

  async #reconcile(
    goal: Goal,
    job: Job,
    now: number,
    interrupted: (reason: string) => LoopEvent,
  ): Promise<LoopEvent | null> {
    const signal = this.#underway.open(goal.id, job.id);
    try {
      const turn = openTurn(this.#parts, this.#goals, this.#underway, goal, job, signal);
      const fate = await turn.agent.reconcile(turn.turn, turn.control);
      switch (fate.kind) {
        case "running":
          this.#followTurn(goal, job, fate.end);
          return job.startedAt === null
            ? { type: "job.started", jobId: job.id, process: fate.process }
            : null;
        case "ended":
          this.#followTurn(goal, job, Promise.resolve(fate.end));
          return null;
        case "never":
          this.#underway.settle(job.id);
          return { type: "job.withdrawn", jobId: job.id, reason: "the runner ended before it was started" };
        case "lost":
          this.#underway.settle(job.id);
          return interrupted(`the runner ended ${age(job, now)}, and ${fate.reason}`);
      }
    } catch (error) {
      this.#underway.settle(job.id);
      throw error;
    }
  }

  #startTurn(goal: Goal, job: Job, signal: AbortSignal): void {
    let before: Snapshot | null = null;
    const end = this.#before(goal).then((snapshot) => {
      before = snapshot;
      const { agent, turn, control } = openTurn(this.#parts, this.#goals, this.#underway, goal, job, signal);
      return agent.run(turn, control);
    });
    this.#followTurn(goal, job, end, () => before);
  }

  #followTurn(goal: Goal, job: Job, end: Promise<TurnEnd>, before: () => Snapshot | null = () => null): void {
    this.#underway.follow(
      job.id,
      end.then((ended) => this.#record(goal, job, ended, before())),
      ({ event, answer, conversation }, stopped) => ({
        event: event ?? this.#interrupted(job, stopped, conversation),
        answer,
      }),
      (error, stopped) => this.#broken(job, error, stopped),
    );
  }

  async #record(goal: Goal, job: Job, end: TurnEnd, before: Snapshot | null): Promise<Recorded> {
    if (end.kind === "cancelled") return { event: null, answer: null, conversation: end.conversation?.id };
    const seen = await lookAround(this.#goals, goal);
    this.#last = seen;
    this.#lastTurn = job.id;
    const after = seen.snapshot;
    const record = recordTurn(this.#parts, this.#goals, goal, job, { end, before, after });
    return { event: { type: "job.turned", jobId: job.id, turn: record }, answer: end.answer };
  }

  #startRound(goal: Goal, job: Job, signal: AbortSignal): void {
    const take = job.kind === "survey" ? runSurvey : runGoalRound;
    // only the round right after the turn may use its state; a later one looks again
    const isNext = isIterationRound(goal.phase) && this.#lastTurn === goal.receipts.at(-1)?.jobId;
    const known = isNext ? this.#last : null;
    this.#lastTurn = null;
    this.#underway.follow(
      job.id,
      take({ parts: this.#parts, goals: this.#goals, goal, job, signal, known, saved: this.#savedOf(goal) }),
      ({ event, snapshot, saved }, stopped) => {
        this.#last = { snapshot, protection: null };
        this.#saved = { loopId: goal.id, snapshot: saved };
        return { event: signal.aborted ? this.#interrupted(job, stopped) : event, answer: null };
      },
      (error, stopped) => this.#broken(job, error, stopped),
    );
  }

  #savedOf({ id }: Goal): Snapshot | null {
    return this.#saved?.loopId === id ? this.#saved.snapshot : null;
  }

  async #before(goal: Goal): Promise<Snapshot> {
    if (this.#last !== null && this.#last.snapshot.hash === goal.tree) return this.#last.snapshot;
    return this.#goals.workspace.snapshot(goal.policy.allowChanges);
  }

  #interrupted(job: Job, stopped: string | null, conversation?: string): LoopEvent {
    const reason = stopped ?? "it was stopped";
    return {
      type: "job.interrupted",
      jobId: job.id,
      reason,
      ...(conversation === undefined ? {} : { conversation }),
    };
  }

  /** The environment is broken, and a person has to look at it. */
  #broken(job: Job, error: unknown, stopped: string | null): LoopEvent {
    if (stopped !== null) return this.#interrupted(job, stopped);
    return { type: "goal.paused", code: "surroundings", reason: describe(error) };
  }
}

interface Recorded {
  /** null: the turn was stopped. */
  readonly event: LoopEvent | null;
  readonly answer: string | null;
  /** The conversation of a stopped turn, if the turn had begun one. */
  readonly conversation?: string | undefined;
}

function age(job: Job, now: number): string {
  const seconds = Math.max(0, Math.round((now - (job.startedAt ?? job.intendedAt)) / 1_000));
  return `while it ran (it began ${seconds} s ago)`;
}
