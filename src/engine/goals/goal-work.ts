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
import { type GoalJob, panelOf } from "./goal-judges.ts";
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
    const work = this.#open(goal, job);
    if (isRound(job)) this.#startRound(work);
    else this.#follow(work, this.#runTurn(work));
  }

  /** Recovers a job that another process intended. Returns the event that settles it; null: the job continues. */
  async recover(goal: Goal, job: Job, token: number, now: number): Promise<LoopEvent | null> {
    const [parts, goals] = [this.#parts, this.#goals];
    try {
      goals.agentFor(goal.agent, "work");
    } catch (error) {
      // another attempt would fail again and keep all other loops from being recovered
      return broken(job, error, null);
    }
    // intended by this process in a write that seemed to fail, so no process has started it
    if (job.token === token && goal.status === "active") {
      this.start(goal, job);
      return null;
    }
    if (isRound(job)) {
      await parts.checker.sweep(job.id);
      await stopJudges(panelOf({ parts, goals, goal, job }), askedOf(goal.criteria));
      return interrupted(job, "the runner ended while the checks ran");
    }
    return this.#reconcile(this.#open(goal, job), now);
  }

  #open(goal: Goal, job: Job): GoalJob {
    const signal = this.#underway.open(goal.id, job.id);
    return { parts: this.#parts, goals: this.#goals, goal, job, signal };
  }

  async #reconcile(work: GoalJob, now: number): Promise<LoopEvent | null> {
    const { job } = work;
    const ask = async () => {
      const { agent, turn, control } = openTurn(work, this.#underway);
      return agent.reconcile(turn, control);
    };
    const fate = await this.#underway.reconcile(job.id, ask, (end) =>
      this.#follow(
        work,
        end.then((ended) => this.#record(work, ended, null)),
      ),
    );
    switch (fate.kind) {
      case "running":
        return job.startedAt === null ? { type: "job.started", jobId: job.id, process: fate.process } : null;
      case "ended":
        return null;
      case "never":
        return { type: "job.withdrawn", jobId: job.id, reason: "the runner ended before it was started" };
      case "lost":
        return interrupted(job, `the runner ended ${age(job, now)}, and ${fate.reason}`);
    }
  }

  async #runTurn(work: GoalJob): Promise<Recorded> {
    const before = await this.#before(work.goal);
    const { agent, turn, control } = openTurn(work, this.#underway);
    return this.#record(work, await agent.run(turn, control), before);
  }

  #follow({ job }: GoalJob, turn: Promise<Recorded>): void {
    this.#underway.follow(
      job.id,
      turn,
      ({ event, answer, conversation }, stopped) => ({
        event: event ?? interrupted(job, stopped, conversation),
        answer,
      }),
      (error, stopped) => broken(job, error, stopped),
    );
  }

  async #record(work: GoalJob, end: TurnEnd, before: Snapshot | null): Promise<Recorded> {
    if (end.kind === "cancelled") return { event: null, answer: null, conversation: end.conversation?.id };
    const { goal, job } = work;
    this.#last = await lookAround(this.#goals, goal);
    this.#lastTurn = job.id;
    const turn = recordTurn(work, { end, before, after: this.#last.snapshot });
    return { event: { type: "job.turned", jobId: job.id, turn }, answer: end.answer };
  }

  #startRound(work: GoalJob): void {
    const { goal, job, signal } = work;
    const take = job.kind === "survey" ? runSurvey : runGoalRound;
    // only the round right after the turn may use its state; a later one looks again
    const isNext = isIterationRound(goal.phase) && this.#lastTurn === goal.receipts.at(-1)?.jobId;
    const known = isNext ? this.#last : null;
    const before = this.#saved?.loopId === goal.id ? this.#saved.snapshot : null;
    this.#lastTurn = null;
    this.#underway.follow(
      job.id,
      take({ ...work, known, saved: before }),
      ({ event, snapshot, saved }, stopped) => {
        this.#last = { snapshot, protection: null };
        this.#saved = { loopId: goal.id, snapshot: saved };
        return { event: signal.aborted ? interrupted(job, stopped) : event, answer: null };
      },
      (error, stopped) => broken(job, error, stopped),
    );
  }

  async #before(goal: Goal): Promise<Snapshot> {
    if (this.#last !== null && this.#last.snapshot.hash === goal.tree) return this.#last.snapshot;
    return this.#goals.workspace.snapshot(goal.policy.allowChanges);
  }
}

interface Recorded {
  /** null: the turn was stopped. */
  readonly event: LoopEvent | null;
  readonly answer: string | null;
  /** The conversation of a stopped turn, if the turn had begun one. */
  readonly conversation?: string | undefined;
}

function isRound({ kind }: Job): boolean {
  return kind === "survey" || kind === "checks";
}

function interrupted({ id: jobId }: Job, stopped: string | null, conversation?: string): LoopEvent {
  const reason = stopped ?? "it was stopped";
  return { type: "job.interrupted", jobId, reason, ...(conversation === undefined ? {} : { conversation }) };
}

/** The environment is broken, and a person has to look at it. */
function broken(job: Job, error: unknown, stopped: string | null): LoopEvent {
  if (stopped !== null) return interrupted(job, stopped);
  return { type: "goal.paused", code: "surroundings", reason: describe(error) };
}

function age(job: Job, now: number): string {
  const seconds = Math.max(0, Math.round((now - (job.startedAt ?? job.intendedAt)) / 1_000));
  return `while it ran (it began ${seconds} s ago)`;
}
