/** One JSON object per line on stdout, for programs. */

import { changesOf } from "../../core/views/goal-changes.ts";
import { iso } from "../../core/views/moment.ts";
import { viewOutcome } from "../../core/views/outcome-view.ts";
import { viewTask } from "../../core/views/task-view.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { reasonOf } from "../../errors.ts";
import type { Io } from "../io.ts";
import { describeGoalChange } from "./goal-view.ts";
import { writeInBackground } from "./outlet.ts";
import type { LiveView } from "./view.ts";

export function createJsonView(io: Io): LiveView {
  const line = (type: string, fields: object) => ({ type, at: iso(Date.now()), ...fields });
  const emit = (type: string, fields: object) => io.json(line(type, fields));
  writeInBackground(io, (lines) => JSON.stringify(line("left-out", { lines })));
  return {
    open: ({ agent, firing, endAt }) =>
      emit("up", { agent, firing, endAt: endAt === null ? null : iso(endAt), pid: process.pid }),
    show: (news) => {
      for (const [type, fields] of describe(news)) emit(type, fields);
    },
    notify: (title, body) => emit("notify", { title, body }),
    problem: (error) => emit("problem", { message: reasonOf(error) }),
    stopping: (signal) => emit("stopping", { signal }),
    ask: async () => null,
    askPermission: async () => null,
    close: () => emit("down", {}),
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
