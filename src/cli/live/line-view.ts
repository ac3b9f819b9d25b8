/** Plain lines, for logs and pipes. */
import { hostname } from "node:os";
import { viewTask } from "../../core/views/task-view.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { liveTasks } from "../../engine/tasks/tasks.ts";
import { localZone } from "../../system/time-zone.ts";
import type { Io } from "../io.ts";
import type { Project } from "../project.ts";
import { oneLine } from "../render/table.ts";
import { renderTaskList } from "../render/task-list.ts";
import { renderNews, renderNotice, renderProblem } from "./lines.ts";
import { leftOutText, writeInBackground } from "./outlet.ts";
import type { LiveView } from "./view.ts";

export function createLineView(project: Project, io: Io): LiveView {
  writeInBackground(io, leftOutText);
  return {
    open: ({ agent, firing }) => {
      const tasks = liveTasks(project.store);
      if (tasks.length > 0) {
        io.out(renderTaskList(tasks.map(viewTask), localZone(), Date.now(), io, Number.POSITIVE_INFINITY));
      }
      io.out(firing ? `Agent: ${agent}` : "Scheduling is off: LOOP_DISABLE_SCHEDULER=1.");
    },
    show: (news) => {
      for (const line of renderNews(news, liveTasks(project.store).length, Date.now(), io)) io.out(line);
    },
    notify: (title, body) => io.say(renderNotice(title, body, io)),
    problem: (error) => io.say(renderProblem(error, io)),
    stopping: (signal) => io.say(`${signal}: stopping.`),
    ask: async () => null,
    askPermission: async () => null,
    close: () => io.out(farewell(project)),
  };
}

export function farewell({ store }: Pick<Project, "store">): string {
  const count = liveTasks(store).length;
  if (count === 0) return "Stopped. There are no tasks.";
  const owner = liveOwner(store, Date.now());
  // ignore our own lease if releasing it failed
  const next =
    owner === null || (owner.pid === process.pid && owner.host === hostname())
      ? "nothing runs until you start `loop up` again"
      : oneLine(`${owner.owner} continues to run ${count === 1 ? "it" : "them"}`);
  return `Stopped. ${count === 1 ? "The task stays" : `The ${count} tasks stay`}; ${next}.`;
}
