/**
 * Runs one goal in the foreground until it stands still: ended, paused, or waiting for a person who is not here.
 * The project's tasks fire between its turns, as under `loop up`. When another process holds the lease, that one
 * does the work and this one shows it, and takes over when it dies.
 */
import { createEngine, thisRunner } from "../../compose/engine.ts";
import { changesOf } from "../../core/goal/changes.ts";
import { UNANSWERED } from "../../core/goal/gates.ts";
import type { AgentSpec, Gate, Goal } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { requestGoal } from "../../engine/goals/goals.ts";
import { LoopError } from "../../errors.ts";
import { EXIT, exitCodeOf } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { createGoalJsonView, createGoalLineView } from "../live/goal-view.ts";
import { renderNews } from "../live/lines.ts";
import { createPermissionDesk } from "../live/permission-question.ts";
import type { Project } from "../project.ts";
import { createNotifier } from "../run/notifier.ts";
import type { StopRequest } from "../run/signals.ts";

export interface GoalRunFlags {
  readonly json?: boolean;
  readonly notifyCmd?: string;
}

/** For how long writes may fail, one after the other. */
const GIVE_UP_MS = 10_000;

export async function runGoal(
  project: Project,
  id: LoopId,
  flags: GoalRunFlags,
  io: Io,
  stop: StopRequest,
): Promise<number> {
  const { store } = project;
  const view = flags.json ? createGoalJsonView(io) : createGoalLineView(io);
  const hasPerson = io.interactive && !flags.json && !isHeadless(process.env);
  let shown: Goal | null = null;
  let asked: Gate | null = null;
  /** Of the gate that was asked last: whoever else answered it, the question goes away. */
  let answered = new AbortController();
  let isFollowing = false;
  let isGone = false;
  let troubledSince: number | null = null;
  let isBroken = false;
  /** Ended by the engine of this process, and not by a line that somebody wrote. */
  let isEndedHere = false;
  /** This engine has worked on it: from then on its end is this engine's to say. */
  let hasWorked = false;
  const withdrawn = new AbortController();

  const engine = createEngine({
    store,
    project: project.root,
    agent: taskAgent(project, id),
    notifier: createNotifier(flags.notifyCmd, view),
    self: thisRunner(),
    firing: process.env.LOOP_DISABLE_SCHEDULER !== "1",
    ...(hasPerson ? { askPerson: createPermissionDesk(view.askPermission) } : {}),
    observe,
  });

  function observe(news: EngineNews): void {
    if (news.type === "problem") noteProblem(news.message);
    else if (news.type === "agent" && news.loopId === id) view.agent(news.event);
    else if (news.type === "role") follow(news);
    else if (news.type === "goal" && news.goal.id === id) noteOwnWork(news.goal);
    else if (news.type === "outcomes" || news.type === "fire.intended") sayTask(news);
    update();
  }

  /** A resident runner waits for space on the disk; who waits for this goal is told that it cannot go on. */
  function noteProblem(message: string): void {
    view.problem(new Error(message));
    troubledSince ??= Date.now();
    if (Date.now() - troubledSince < GIVE_UP_MS || isBroken) return;
    isBroken = true;
    void engine.stop("nothing can be written");
  }

  function noteOwnWork(goal: Goal): void {
    troubledSince = null;
    isEndedHere ||= goal.status === "ended";
    hasWorked = true;
  }

  /** The one place that looks at the goal, whoever changed it. */
  function update(): void {
    const goal = store.load(id);
    // what was removed, or moved away with its project, is not ours to put in its place again
    isGone ||= goal?.kind !== "goal" || !store.isInPlace();
    if (isGone || goal?.kind !== "goal") {
      void engine.stop("the folder .loop was removed or moved away");
      return;
    }
    const changes = changesOf(shown, goal);
    shown = goal;
    view.show(changes, goal);
    if (goal.gate?.askedAt !== asked?.askedAt) answered.abort();
    if (goal.gate !== null && hasPerson) askGate(goal, goal.gate);
    if (standsStill(goal, hasPerson)) {
      withdrawn.abort();
      void engine.stop("the goal stands still");
    }
  }

  function askGate(goal: Goal, gate: Gate): void {
    if (asked?.askedAt === gate.askedAt) return;
    asked = gate;
    answered = new AbortController();
    void view
      .ask(gate.question, AbortSignal.any([withdrawn.signal, answered.signal]))
      .then(async (answer) => {
        if (answer === "withdrawn") return;
        if (answer === "cancelled") return stopByPerson("Ctrl-C");
        const word = answer ? "approve" : "reject";
        const event = { type: "goal.answered", gate: gate.kind, answer: word, note: null } as const;
        await requestGoal(store, goal, event, Date.now());
        engine.nudge();
      })
      .catch(view.problem);
  }

  function follow(news: Extract<EngineNews, { type: "role" }>): void {
    isFollowing = news.role === "passive";
    if (isFollowing)
      view.say(`${news.lease?.owner ?? "Another process"} does the work; this terminal shows it.`);
    if (news.role === "off") view.say("Nothing runs it: LOOP_DISABLE_SCHEDULER=1 turns loops off here.");
  }

  function sayTask(news: EngineNews): void {
    if (flags.json) return;
    for (const line of renderNews(news, 0, Date.now(), io)) io.out(line);
  }

  /** A stopped loop stays stopped: it is paused, so that no other runner takes it up (B20). */
  async function stopByPerson(signal: string): Promise<void> {
    withdrawn.abort();
    const goal = store.load(id);
    if (!isFollowing && goal?.kind === "goal" && goal.status === "active") {
      const event = {
        type: "goal.paused",
        code: "interrupted",
        reason: `stopped by a person (${signal})`,
      } as const;
      await requestGoal(store, goal, event, Date.now()).catch(view.problem);
      update();
    }
    await engine.stop(`stopped by a person (${signal})`);
  }

  const onSignal = () => void stopByPerson(String(stop.signal.reason));
  store.isInPlace();
  engine.start();
  if (stop.signal.aborted) onSignal();
  else stop.signal.addEventListener("abort", onSignal, { once: true });
  update();
  await engine.done;
  // Once the lease is given back, the journal is whoever writes to it: what we saw last is what we say.
  const goal = hasWorked && shown !== null ? shown : store.load(id);
  if (isGone || !store.isInPlace() || goal?.kind !== "goal")
    throw new LoopError("surroundings", `Goal ${id} is gone: .loop was removed or moved away.`);
  await view.close(goal);
  if (isBroken) return EXIT.failure;
  if (stop.signal.aborted && isFollowing) {
    view.say(`It goes on in the other process. Stop it with: loop pause ${id}`);
    return EXIT.interrupted;
  }
  if (goal.end?.status === "done" && !isEndedHere && hasWorked) {
    view.problem(new Error("The journal says done, but not by this engine: somebody else wrote that."));
    return EXIT.failure;
  }
  // the pause could not be written down
  if (stop.signal.aborted && goal.status === "active") return EXIT.interrupted;
  return exitCodeOf(goal);
}

function isHeadless({ LOOP_HEADLESS = "" }: NodeJS.ProcessEnv): boolean {
  return !/^(?:|0|false|no)$/i.test(LOOP_HEADLESS);
}

/** Nothing happens any more unless somebody does something. */
function standsStill(goal: Goal, hasPerson: boolean): boolean {
  if (goal.job !== null) return false;
  if (goal.status !== "active") return goal.notice === null || isTurnedDown(goal);
  return goal.gate !== null && goal.gate.answerBy === null && !hasPerson && goal.notice === null;
}

/** By a person, who needs no notice of it. */
function isTurnedDown({ pause }: Goal): boolean {
  return pause?.code === "rejected" && !pause.reason.startsWith(UNANSWERED);
}

/** Tasks that come due meanwhile go to the agent of the goal. */
function taskAgent(project: Project, id: LoopId): AgentSpec {
  const goal = project.store.load(id);
  if (goal?.kind !== "goal") throw new Error(`there is no goal ${id}`);
  return goal.agent;
}
