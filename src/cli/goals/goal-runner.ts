/**
 * Runs one goal in the foreground until it stands still: ended, paused, or waiting for a person who is not here.
 * The project's tasks fire between its turns, as under `loop up`. When another process holds the lease, that one
 * does the work and this one shows it, and takes over when it dies.
 */

import { changesOf } from "../../core/goal/changes.ts";
import type { AgentSpec, Gate, Goal } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { requestGoal } from "../../engine/goals/goals.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { createGoalJsonView, createGoalLineView, type GoalRunView } from "../live/goal-view.ts";
import { renderNews } from "../live/lines.ts";
import type { Project } from "../project.ts";
import { goneError, hasPerson, type Run, type RunKind, runForeground } from "../run/foreground.ts";
import type { StopRequest } from "../run/signals.ts";

export interface GoalRunFlags {
  readonly json?: boolean;
  readonly notifyCmd?: string;
}

/** For how long writes may fail, one after the other. */
const GIVE_UP_MS = 10_000;

export function runGoal(
  project: Project,
  id: LoopId,
  flags: GoalRunFlags,
  io: Io,
  stop: StopRequest,
): Promise<number> {
  const view = flags.json ? createGoalJsonView(io) : createGoalLineView(io);
  const parts = {
    project,
    view,
    stop,
    agent: taskAgent(project, id),
    hasPerson: hasPerson(io, flags),
    notifyCmd: flags.notifyCmd,
  };
  const show = (news: EngineNews) => {
    if (!flags.json) for (const line of renderNews(news, 0, Date.now(), io)) io.out(line);
  };
  return runForeground(parts, (run) => new GoalRun(run, id, parts, show));
}

interface GoalRunParts {
  readonly project: Project;
  readonly view: GoalRunView;
  readonly stop: StopRequest;
  readonly hasPerson: boolean;
}

class GoalRun implements RunKind {
  readonly #run: Run;
  readonly #id: LoopId;
  readonly #parts: GoalRunParts;
  readonly #showTask: (news: EngineNews) => void;
  #shown: Goal | null = null;
  #asked: Gate | null = null;
  /** Of the gate that was asked last: whoever else answered it, the question goes away. */
  #answered = new AbortController();
  #isFollowing = false;
  #troubledSince: number | null = null;
  #isBroken = false;
  /** Ended by the engine of this process, and not by a line that somebody wrote. */
  #isEndedHere = false;
  /** This engine has worked on it: from then on its end is this engine's to say. */
  #hasWorked = false;

  constructor(run: Run, id: LoopId, parts: GoalRunParts, showTask: (news: EngineNews) => void) {
    this.#run = run;
    this.#id = id;
    this.#parts = parts;
    this.#showTask = showTask;
  }

  started(): void {
    this.#update();
  }

  observe(news: EngineNews): void {
    if (news.type === "problem") this.#noteProblem(news.message);
    else if (news.type === "agent" && news.loopId === this.#id) this.#parts.view.agent(news.event);
    else if (news.type === "role") this.#follow(news);
    else if (news.type === "goal" && news.goal.id === this.#id) this.#noteOwnWork(news.goal);
    else if (news.type === "outcomes" || news.type === "fire.intended") this.#showTask(news);
    this.#update();
  }

  /** A stopped loop stays stopped: it is paused, so that no other runner takes it up (B20). */
  async interrupt(signal: string, nth: number): Promise<void> {
    if (nth === 1) await this.#stopByPerson(signal);
  }

  async end(): Promise<number> {
    const { view, stop } = this.#parts;
    // Once the lease is given back, the journal is whoever writes to it: what we saw last is what we say.
    const goal = this.#hasWorked && this.#shown !== null ? this.#shown : this.#load();
    if (this.#run.isGone || goal === null) throw goneError(`Goal ${this.#id}`);
    await view.close(goal);
    if (this.#isBroken) return EXIT.failure;
    if (stop.signal.aborted && this.#isFollowing) {
      view.say(`It goes on in the other process. Stop it with: loop pause ${this.#id}`);
      return EXIT.interrupted;
    }
    if (goal.end?.status === "done" && !this.#isEndedHere && this.#hasWorked) {
      view.problem(new Error("The journal says done, but not by this engine: somebody else wrote that."));
      return EXIT.failure;
    }
    // the pause could not be written down
    if (stop.signal.aborted && goal.status === "active") return EXIT.interrupted;
    return exitCodeOf(goal);
  }

  /** A resident runner waits for space on the disk; who waits for this goal is told that it cannot go on. */
  #noteProblem(message: string): void {
    this.#parts.view.problem(new Error(message));
    this.#troubledSince ??= Date.now();
    if (Date.now() - this.#troubledSince < GIVE_UP_MS || this.#isBroken) return;
    this.#isBroken = true;
    void this.#run.stop("nothing can be written");
  }

  #noteOwnWork(goal: Goal): void {
    this.#troubledSince = null;
    this.#isEndedHere ||= goal.status === "ended";
    this.#hasWorked = true;
  }

  /** The one place that looks at the goal, whoever changed it. */
  #update(): void {
    const goal = this.#load();
    if (goal === null) this.#run.lose();
    if (this.#run.isGone || goal === null) return;
    const changes = changesOf(this.#shown, goal);
    this.#shown = goal;
    this.#parts.view.show(changes, goal);
    if (goal.gate?.askedAt !== this.#asked?.askedAt) this.#answered.abort();
    if (goal.gate !== null && this.#parts.hasPerson) this.#askGate(goal, goal.gate);
    if (standsStill(goal, this.#parts.hasPerson)) {
      this.#run.withdrawQuestions();
      void this.#run.stop("the goal stands still");
    }
  }

  #askGate(goal: Goal, gate: Gate): void {
    if (this.#asked?.askedAt === gate.askedAt) return;
    const { project, view } = this.#parts;
    this.#asked = gate;
    this.#answered = new AbortController();
    void view
      .ask(gate.question, AbortSignal.any([this.#run.withdrawn, this.#answered.signal]))
      .then(async (answer) => {
        if (answer === "withdrawn") return;
        if (answer === "cancelled") return this.#stopByPerson("Ctrl-C");
        const word = answer ? "approve" : "reject";
        const event = { type: "goal.answered", gate: gate.kind, answer: word, note: null } as const;
        await requestGoal(project.store, goal, event, Date.now());
        this.#run.nudge();
      })
      .catch(view.problem);
  }

  #follow(news: Extract<EngineNews, { type: "role" }>): void {
    const { view } = this.#parts;
    this.#isFollowing = news.role === "passive";
    if (this.#isFollowing)
      view.say(`${news.lease?.owner ?? "Another process"} does the work; this terminal shows it.`);
    if (news.role === "off") view.say("Nothing runs it: LOOP_DISABLE_SCHEDULER=1 turns loops off here.");
  }

  async #stopByPerson(signal: string): Promise<void> {
    const { project, view } = this.#parts;
    const reason = `stopped by a person (${signal})`;
    this.#run.withdrawQuestions();
    const goal = this.#load();
    if (!this.#isFollowing && goal?.status === "active") {
      const event = { type: "goal.paused", code: "interrupted", reason } as const;
      await requestGoal(project.store, goal, event, Date.now()).catch(view.problem);
      this.#update();
    }
    await this.#run.stop(reason);
  }

  #load(): Goal | null {
    const loop = this.#parts.project.store.load(this.#id);
    return loop?.kind === "goal" ? loop : null;
  }
}

/** Nothing happens any more unless somebody does something. */
function standsStill(goal: Goal, hasPerson: boolean): boolean {
  if (goal.job !== null) return false;
  if (goal.status !== "active") return goal.notice === null || isTurnedDown(goal);
  return goal.gate !== null && goal.gate.answerBy === null && !hasPerson && goal.notice === null;
}

/** By a person, who needs no notice of it. */
function isTurnedDown({ pause }: Goal): boolean {
  return pause?.code === "rejected" && pause.unanswered !== true;
}

/** Tasks that come due meanwhile go to the agent of the goal. */
function taskAgent(project: Project, id: LoopId): AgentSpec {
  const goal = project.store.load(id);
  if (goal?.kind !== "goal") throw new Error(`there is no goal ${id}`);
  return goal.agent;
}
