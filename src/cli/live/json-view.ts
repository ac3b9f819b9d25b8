/** One JSON object per line on stdout, for programs: of `loop up` and of a goal's runner. */
import { renderCheck, verificationOf } from "../../core/checks/kinds.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { changesOf, type GoalChange } from "../../core/views/goal-changes.ts";
import { viewEnd, viewGoal } from "../../core/views/goal-view.ts";
import { iso, momentOf } from "../../core/views/moment.ts";
import { viewOutcome } from "../../core/views/outcome-view.ts";
import { viewTask } from "../../core/views/task-view.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { reasonOf } from "../../errors.ts";
import type { Io } from "../io.ts";
import type { GoalRunView } from "./goal-view.ts";
import { writeInBackground } from "./outlet.ts";
import type { LiveView, RunView } from "./view.ts";

export function createJsonView(io: Io): LiveView {
  const { emit, view } = openJsonLines(io);
  return {
    ...view,
    open: ({ agent, firing, endAt }) =>
      emit("up", { agent, firing, endAt: momentOf(endAt), pid: process.pid }),
    show: (news) => {
      for (const [type, fields] of describe(news)) emit(type, fields);
    },
    stopping: (signal) => emit("stopping", { signal }),
    ask: async () => null,
    close: () => emit("down", {}),
  };
}

export function createGoalJsonView(io: Io): GoalRunView {
  const { emit, finish, view } = openJsonLines(io);
  return {
    ...view,
    show: (changes, goal) => {
      for (const change of changes) emit(...describeGoalChange(change, goal));
    },
    agent: (event) => emit("agent", { event }),
    say: (message) => emit("message", { message }),
    ask: async () => "withdrawn",
    close: async (goal) => {
      await finish();
      io.json(viewEnd(goal));
    },
  };
}

/** Every line has its type and its time. */
function openJsonLines(io: Io) {
  const line = (type: string, fields: object) => ({ type, at: iso(Date.now()), ...fields });
  const emit = (type: string, fields: object) => io.json(line(type, fields));
  const view: RunView = {
    notify: (title, body) => emit("notify", { title, body }),
    problem: (error) => emit("problem", { message: reasonOf(error) }),
    askPermission: async () => null,
  };
  return {
    emit,
    view,
    finish: writeInBackground(io, (lines) => JSON.stringify(line("left-out", { lines }))),
  };
}

function describe(news: EngineNews): [string, object][] {
  switch (news.type) {
    case "role":
      return [["role", { role: news.role, owner: news.lease?.owner ?? null }]];
    case "tasks":
      return [["tasks", {}]];
    case "fire.intended":
      return [
        ["fire", { taskId: news.task.id, fireId: news.task.fire?.id, slot: iso(news.task.fire?.slot ?? 0) }],
      ];
    case "outcomes":
      return news.outcomes.map((line) => ["outcome", viewOutcome(line)]);
    case "answer":
      return news.loop.kind === "task"
        ? [["answer", { taskId: news.loop.id, fireId: news.workId, text: news.text }]]
        : [["answer", { loop: news.loop.id, job: news.workId, text: news.text }]];
    case "ended":
      return [["ended", { task: viewTask(news.task), reason: news.task.statusReason }]];
    case "goal":
      return changesOf(news.before, news.goal).map((change) => describeGoalChange(change, news.goal));
    case "backlog":
      return [["backlog", { loop: news.backlog.id, status: news.backlog.status }]];
    case "agent":
      return [["agent", { loop: news.loopId, event: news.event }]];
    case "problem":
      return [["problem", { message: news.message }]];
  }
}

/** Where the type of an event is not that of the change. */
const EVENT_TYPES: Partial<Record<GoalChange["type"], string>> = {
  start: "loop.start",
  turn: "turn.start",
  "go-on": "loop.continue",
  pause: "loop.pause",
  end: "loop.result",
};

export function describeGoalChange(change: GoalChange, goal: Goal): [string, object] {
  return [EVENT_TYPES[change.type] ?? change.type, { loop: goal.id, ...fieldsOf(change, goal) }];
}

function fieldsOf(change: GoalChange, goal: Goal): object {
  const { iteration, spent, limits } = goal;
  switch (change.type) {
    case "start":
      return startOf(goal);
    case "survey":
      return {
        green: change.green,
        protected: change.protectedCount,
        criteria: viewEnd(goal).criteria,
      };
    case "turn":
      return { job: change.job.id, kind: change.job.kind, iteration: iteration + 1 };
    case "turn.end":
      return { receipt: change.receipt };
    case "plan":
      return { steps: goal.steps.map(({ name }) => name), proposed: goal.proposed.map(renderCheck) };
    case "checks":
      return { iteration, moved: change.moved, criteria: viewEnd(goal).criteria };
    case "gate":
      return { gate: viewGoal({ ...goal, gate: change.gate }).gate };
    case "warning":
      return { limit: change.limit, spent, limits };
    case "wait":
      return { until: iso(change.until), reason: goal.waitReason };
    case "go-on":
      return {};
    case "pause":
      return { pause: viewGoal(goal).pause };
    case "end":
      return { end: viewGoal(goal).end, state: viewGoal(goal) };
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
