/** The output of a goal's runner as lines for people. `json-view.ts` has the same for programs. */
import type { Goal } from "../../core/goal/goal.ts";
import { renderDuration } from "../../core/task/interval.ts";
import { type GoalChange, isTurn } from "../../core/views/goal-changes.ts";
import type { AgentEvent } from "../../ports/agent.ts";
import type { Io } from "../io.ts";
import { renderAgentEvent, renderGoalChange } from "./goal-lines.ts";
import { createAsker } from "./hold.ts";
import { renderProblem } from "./lines.ts";
import { leftOutText, writeInBackground } from "./outlet.ts";
import { type Answer, askPermission, askYesNo } from "./question.ts";
import type { RunView } from "./view.ts";

export interface GoalRunView extends RunView {
  show(changes: readonly GoalChange[], goal: Goal): void;
  agent(event: AgentEvent): void;
  say(text: string): void;
  ask(question: string, withdrawn: AbortSignal): Promise<Answer>;
  close(goal: Goal): Promise<void>;
}

export function createGoalLineView(io: Io): GoalRunView {
  const finish = writeInBackground(io, leftOutText);
  const countdown = createCountdown();
  const ask = createAsker(io);
  const closing = new AbortController();
  /** The countdown must not draw over a question. */
  const put = <T>(question: (withdrawn: AbortSignal) => Promise<T>, withdrawn: AbortSignal) =>
    ask(() => countdown.hideDuring(() => question(AbortSignal.any([withdrawn, closing.signal]))));
  const print = (text: string) => {
    countdown.clear();
    io.out(text);
  };
  const say = (text: string) => {
    countdown.clear();
    io.say(text);
  };
  return {
    show: (changes, goal) => {
      for (const change of changes)
        for (const line of renderGoalChange(change, goal, Date.now(), io)) print(line);
      countdown.follow(goal);
    },
    agent: (event) => {
      const line = renderAgentEvent(event, io);
      if (line !== null) print(line);
    },
    // the screen already shows what a notice says
    notify: () => {},
    problem: (error) => say(renderProblem(error, io)),
    say,
    ask: (question, withdrawn) => put((signal) => askYesNo(question, signal), withdrawn),
    askPermission: (question, withdrawn) => put((signal) => askPermission(question, signal), withdrawn),
    close: async () => {
      countdown.stop();
      closing.abort();
      // print the lines that a question held back
      await ask(async () => {});
      await finish();
    },
  };
}

/** What counts while nothing else is printed; null: nothing. Short: a line that wraps cannot be erased. */
function passingOf({ waitUntil, job }: Goal): ((now: number) => string) | null {
  if (waitUntil !== null)
    return (now) => `continues ${waitUntil <= now ? "now" : `in ${renderDuration(waitUntil - now)}`}`;
  if (job === null || !isTurn(job)) return null;
  const seconds = (ms: number) => Math.max(1, Math.round(ms / 1_000)) * 1_000;
  return (now) => `working for ${renderDuration(seconds(now - job.intendedAt))}`;
}

/** In a terminal, redraws the remaining wait or the time of a turn in place. */
function createCountdown() {
  let isHidden = false;
  let timer: NodeJS.Timeout | null = null;
  let isDrawn = false;
  const canDraw = process.stdout.isTTY === true && process.env.TERM !== "dumb";
  const clear = () => {
    if (isDrawn) process.stdout.write("\r\u001b[K");
    isDrawn = false;
  };
  const stop = () => {
    if (timer !== null) clearInterval(timer);
    timer = null;
    clear();
  };
  return {
    clear,
    stop,
    hideDuring: async <T>(question: () => Promise<T>): Promise<T> => {
      clear();
      isHidden = true;
      try {
        return await question();
      } finally {
        isHidden = false;
      }
    },
    follow(goal: Goal): void {
      stop();
      const render = canDraw && goal.status === "active" ? passingOf(goal) : null;
      if (render === null) return;
      timer = setInterval(() => {
        if (isHidden) return;
        process.stdout.write(`\r\u001b[K  ${render(Date.now())} (Ctrl-C stops)`);
        isDrawn = true;
      }, 1_000);
      timer.unref();
    },
  };
}
