/** Plain lines, for logs and pipes. */

import { viewTask } from "../../core/task/view.ts";
import { liveTasks, localZone } from "../commands/list.ts";
import type { Io } from "../io.ts";
import type { Project } from "../project.ts";
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
      io.out(firing ? `Fires go to: ${agent}` : "Firing is off: LOOP_DISABLE_SCHEDULER=1.");
    },
    show: (news) => {
      for (const line of renderNews(news, liveTasks(project.store).length, Date.now(), io)) io.out(line);
    },
    notify: (title, body) => io.say(renderNotice(title, body, io)),
    problem: (error) => io.say(renderProblem(error, io)),
    stopping: (signal) => io.say(`${signal}: stopping.`),
    ask: async () => null,
    close: () => io.out(farewell(liveTasks(project.store).length)),
  };
}

export function farewell(count: number): string {
  if (count === 0) return "Stopped. There are no tasks.";
  return `Stopped. ${count === 1 ? "The task stays" : `The ${count} tasks stay`}; nothing runs until \`loop up\` is started again.`;
}
