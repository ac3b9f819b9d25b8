/**
 * Runs one goal in the foreground until the goal ends, pauses, or waits for a person who is not here. Tasks of the
 * project fire between its turns, as under `loop up`. When another process holds the lease, that process works and
 * this one shows the work. This process takes over when the other one dies.
 */

import type { Gate, Goal } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import { changesOf } from "../../core/views/goal-changes.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { requestGoal } from "../../engine/goals/goals.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { createGoalLineView, type GoalRunView } from "../live/goal-view.ts";
import { createGoalJsonView } from "../live/json-view.ts";
import { renderNews } from "../live/lines.ts";
import type { Project } from "../project.ts";
import * as foreground from "../run/foreground.ts";
import type { StopRequest } from "../run/signals.ts";

/** How long writes may keep failing. */
const GIVE_UP_MS = 10_000;

export function runGoal(project: Project, goal: Goal, flags: foreground.RunFlags, io: Io, stop: StopRequest) {
  const { id, agent } = goal;
  const view = flags.json ? createGoalJsonView(io) : createGoalLineView(io);
  const parts = {
    project,
    view,
    stop,
    id,
    // it also runs tasks that become due meanwhile
    agent,
    hasPerson: foreground.hasPerson(io, flags),
    notifyCmd: flags.notifyCmd,
    showTask: (news: EngineNews) => {
      if (!flags.json) for (const line of renderNews(news, 0, Date.now(), io)) io.out(line);
    },
  };
  return foreground.runForeground(parts, (run) => new GoalRun(run, parts));
}

interface GoalRunParts {
  readonly id: LoopId;
  readonly project: Project;
  readonly view: GoalRunView;
  readonly stop: StopRequest;
  readonly hasPerson: boolean;
  showTask(news: EngineNews): void;
}

class GoalRun implements foreground.RunKind {
  readonly #run: foreground.Run;
  readonly #id: LoopId;
  readonly #parts: GoalRunParts;
  #shown: Goal | null = null;
  #asked: Gate | null = null;
  /** Aborted when somebody else answers the gate: the question then disappears. */
  #answered = new AbortController();
  #isFollowing = false;
  #troubledSince: number | null = null;
  #isBroken = false;
  /** The engine of this process ended the goal; nobody forged the end in the journal. */
  #isEndedHere = false;
  /** This engine has worked on the goal, so only this engine may end it. */
  #hasWorked = false;

  constructor(run: foreground.Run, parts: GoalRunParts) {
    this.#run = run;
    this.#id = parts.id;
    this.#parts = parts;
  }

  started(): void {
    this.#update();
  }

  observe(news: EngineNews): void {
    if (news.type === "problem") this.#noteProblem(news.message);
    else if (news.type === "agent" && news.loopId === this.#id) this.#parts.view.agent(news.event);
    else if (news.type === "role") this.#follow(news);
    else if (news.type === "goal" && news.goal.id === this.#id) this.#noteOwnWork(news.goal);
    else if (news.type === "outcomes" || news.type === "fire.intended") this.#parts.showTask(news);
    this.#update();
  }

  /** Pauses the goal, so that no other runner continues it (B20). */
  async interrupt(signal: string, nth: number): Promise<void> {
    if (nth === 1) await this.#stopByPerson(signal);
  }

  async end(): Promise<number> {
    const { view, stop } = this.#parts;
    // After the lease is released, others may write to the journal: report the last state that we saw.
    const goal = this.#hasWorked && this.#shown !== null ? this.#shown : this.#load();
    if (this.#run.isGone || goal === null) throw foreground.goneError(`Goal ${this.#id}`);
    await view.close(goal);
    if (this.#isBroken) return EXIT.failure;
    if (stop.signal.aborted && this.#isFollowing) {
      view.say(`The other process continues the loop. To stop it: loop pause ${this.#id}`);
      return EXIT.interrupted;
    }
    if (goal.end?.status === "done" && !this.#isEndedHere && this.#hasWorked) {
      view.problem(
        new Error(
          "The journal says that the goal is done, but this engine did not write that. Somebody tampered with it.",
        ),
      );
      return EXIT.failure;
    }
    // the pause could not be written
    if (stop.signal.aborted && goal.status === "active") return EXIT.interrupted;
    return exitCodeOf(goal);
  }

  /** A resident runner waits until the disk has space. This command gives up, because a person waits for it. */
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

  /** The only place that reads the goal after any change. */
  #update(): void {
    const goal = this.#load();
    if (goal === null) this.#run.lose();
    if (this.#run.isGone || goal === null) return;
    const changes = changesOf(this.#shown, goal);
    this.#shown = goal;
    this.#parts.view.show(changes, goal);
    if (goal.gate?.askedAt !== this.#asked?.askedAt) this.#answered.abort();
    if (goal.gate !== null && this.#parts.hasPerson) this.#askGate(goal, goal.gate);
    if (hasStopped(goal, this.#parts.hasPerson)) {
      this.#run.withdrawQuestions();
      void this.#run.stop("the goal has stopped");
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
      view.say(`${news.lease?.owner ?? "Another process"} runs the loop; this terminal shows its work.`);
    if (news.role === "off") view.say("Nothing runs the loop, because LOOP_DISABLE_SCHEDULER=1 is set.");
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

/** Nothing happens until a person acts. */
function hasStopped(goal: Goal, hasPerson: boolean): boolean {
  if (goal.job !== null) return false;
  if (goal.status !== "active") return goal.notice === null || isTurnedDown(goal);
  return goal.gate !== null && goal.gate.answerBy === null && !hasPerson && goal.notice === null;
}

/** A person rejected a gate and needs no notice about it. */
function isTurnedDown({ pause }: Goal): boolean {
  return pause?.code === "rejected" && pause.unanswered !== true;
}
