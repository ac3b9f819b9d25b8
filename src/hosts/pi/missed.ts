/** One-shots whose time passed while nothing ran: the person decides (A10). */
import type { Task } from "../../core/loop.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { requestEvent } from "../../engine/tasks/tasks.ts";
import type { OpenPi } from "./open-conversation.ts";
import type { Terminal } from "./terminal.ts";

const RUN = "Run it now";
const KEEP = "Keep it listed as missed";
const DELETE = "Delete it";

/** Each is asked for once in a session, which is what `asked` remembers. */
export async function askMissed(open: OpenPi, terminal: Terminal, asked: Set<string>): Promise<void> {
  for (const task of missedTasks(open)) {
    if (asked.has(task.id)) continue;
    asked.add(task.id);
    const title = `[LOOP] Missed while nothing ran: ${task.id} ${cleanLine(task.prompt).slice(0, 80)}`;
    const answer = await terminal.ask((ui) => ui.select(title, [RUN, KEEP, DELETE]));
    await carryOut(open, task, answer);
  }
}

function missedTasks({ store }: OpenPi): readonly Task[] {
  return [...store.loops()].filter((loop) => loop.kind === "task" && loop.status === "missed") as Task[];
}

async function carryOut({ store, engine }: OpenPi, task: Task, answer: string | undefined): Promise<void> {
  const event =
    answer === RUN
      ? ({ type: "task.run-requested" } as const)
      : answer === DELETE
        ? ({ type: "task.deleted", reason: "it was missed, and is not wanted any more" } as const)
        : null;
  if (event === null) return;
  await requestEvent(store, task, event, Date.now());
  await store.published?.publish();
  engine.nudge();
}
