/** The output of a goal's runner: lines for people, or one JSON object per line. */

import { renderCheck, verificationOf } from "../../core/checks/kinds.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { renderDuration } from "../../core/task/interval.ts";
import { type GoalChange, isTurn } from "../../core/views/goal-changes.ts";
import { viewEnd, viewGoal } from "../../core/views/goal-view.ts";
import { iso } from "../../core/views/moment.ts";
import { reasonOf } from "../../errors.ts";
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

export function createGoalJsonView(io: Io): GoalRunView {
  const line = (type: string, fields: object) => ({ type, at: iso(Date.now()), ...fields });
  const emit = (type: string, fields: object) => io.json(line(type, fields));
  const finish = writeInBackground(io, (lines) => JSON.stringify(line("left-out", { lines })));
  return {
    show: (changes, goal) => {
      for (const change of changes) emit(...describeGoalChange(change, goal));
    },
    agent: (event) => emit("agent", { event }),
    notify: (title, body) => emit("notify", { title, body }),
    problem: (error) => emit("problem", { message: reasonOf(error) }),
    say: (message) => emit("message", { message }),
    ask: async () => "withdrawn",
    askPermission: async () => null,
    close: async (goal) => {
      await finish();
      io.json(viewEnd(goal));
    },
  };
}

/** One event of the JSON stream: its type and its fields. */
export function describeGoalChange(change: GoalChange, goal: Goal): [string, object] {
  const loop = goal.id;
  switch (change.type) {
    case "start":
      return ["loop.start", { loop, ...startOf(goal) }];
    case "survey":
      return [
        "survey",
        { loop, green: change.green, protected: change.protectedCount, criteria: viewEnd(goal).criteria },
      ];
    case "turn":
      return [
        "turn.start",
        { loop, job: change.job.id, kind: change.job.kind, iteration: goal.iteration + 1 },
      ];
    case "turn.end":
      return ["turn.end", { loop, receipt: change.receipt }];
    case "plan":
      return [
        "plan",
        { loop, steps: goal.steps.map(({ name }) => name), proposed: goal.proposed.map(renderCheck) },
      ];
    case "checks":
      return [
        "checks",
        { loop, iteration: goal.iteration, moved: change.moved, criteria: viewEnd(goal).criteria },
      ];
    case "gate":
      return ["gate", { loop, gate: viewGoal({ ...goal, gate: change.gate }).gate }];
    case "warning":
      return ["warning", { loop, limit: change.limit, spent: goal.spent, limits: goal.limits }];
    case "wait":
      return ["wait", { loop, until: iso(change.until), reason: goal.waitReason }];
    case "go-on":
      return ["loop.continue", { loop }];
    case "pause":
      return ["loop.pause", { loop, pause: viewGoal(goal).pause }];
    case "end":
      return ["loop.result", { loop, end: viewGoal(goal).end, state: viewGoal(goal) }];
  }
}

function startOf(goal: Goal): object {
  const { spec, score, shape, workflow, reversibility, limits, agent, needsPlan } = goal;
  const criteria = goal.criteria.map((criterion) => ({
    name: criterion.name,
    check: renderCheck(criterion),
    verification: verificationOf(criterion.check),
    source: criterion.source,
  }));
  return { spec, score, shape, workflow, reversibility, limits, agent, needsPlan, criteria };
}

/** Short: a line that wraps cannot be erased. */
function renderLeft(ms: number): string {
  return `  continues ${ms <= 0 ? "now" : `in ${renderDuration(ms)}`} (Ctrl-C stops)`;
}

function seconds(ms: number): number {
  return Math.max(1, Math.round(ms / 1_000)) * 1_000;
}

/** The line that counts while nothing else is printed; null: none. */
function passingOf({ waitUntil, job }: Goal): ((now: number) => string) | null {
  if (waitUntil !== null) return (now) => renderLeft(waitUntil - now);
  if (job === null || !isTurn(job)) return null;
  return (now) => `  working for ${renderDuration(seconds(now - job.intendedAt))} (Ctrl-C stops)`;
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
        process.stdout.write(`\r\u001b[K${render(Date.now())}`);
        isDrawn = true;
      }, 1_000);
      timer.unref();
    },
  };
}
