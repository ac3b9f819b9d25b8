/** Asks the person about one-shot tasks whose time passed while nothing ran (A10). */
import type { Task } from "../../core/loop.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { requestEvent } from "../../engine/tasks/tasks.ts";
import type { OpenPi } from "./open-conversation.ts";
import type { Terminal } from "./terminal.ts";

const RUN = "Run it now";
const KEEP = "Keep it listed as missed";
const DELETE = "Delete it";
const EVENTS = {
  [RUN]: { type: "task.run-requested" },
  [DELETE]: { type: "task.deleted", reason: "the person deleted the missed task" },
} as const;

/** `asked` remembers the tasks of this session, so each is asked about once. */
export async function askMissed(open: OpenPi, terminal: Terminal, asked: Set<string>): Promise<void> {
  for (const task of [...open.store.loops()]) {
    if (task.kind !== "task" || task.status !== "missed" || asked.has(task.id)) continue;
    asked.add(task.id);
    const title = `[LOOP] Missed while nothing ran: ${task.id} ${cleanLine(task.prompt).slice(0, 80)}`;
    const answer = await terminal.ask((ui) => ui.select(title, [RUN, KEEP, DELETE]));
    await carryOut(open, task, answer);
  }
}

async function carryOut({ store, engine }: OpenPi, task: Task, answer: string | undefined): Promise<void> {
  if (answer !== RUN && answer !== DELETE) return;
  await requestEvent(store, task, EVENTS[answer], Date.now());
  await store.published?.publish();
  engine.nudge();
}
