/** `loop history [id]`: the outcome of every slot, oldest first. */
import type { Outcome } from "../../core/event.ts";
import type { LoopId, Task } from "../../core/loop.ts";
import { iso, momentOf } from "../../core/views/moment.ts";
import { viewOutcome } from "../../core/views/outcome-view.ts";
import { pick } from "../../engine/tasks/tasks.ts";
import type { LoopHistory } from "../../ports/history.ts";
import type { Store } from "../../ports/store.ts";
import { countFlag } from "../flags/values.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToRead, type ProjectFlags } from "../project.ts";
import { renderHistory } from "../render/tasks.ts";
import { renderClock } from "../render/times.ts";

export interface HistoryFlags extends ProjectFlags {
  readonly limit?: string;
}

export async function historyCommand(
  prefix: string | undefined,
  flags: HistoryFlags,
  io: Io,
): Promise<number> {
  const now = Date.now();
  const limit = countFlag("--limit", flags.limit);
  const { store } = openProjectToRead(flags, io);
  const { outcomes, running } = await readHistory(store, prefix);
  const rows = [...outcomes.map(viewOutcome), ...running.map(viewRunning)].sort(
    (a, b) => Date.parse(a.slot) - Date.parse(b.slot),
  );
  const shown = outcomes.slice(-(limit ?? 50));
  const hidden = outcomes.length - shown.length;
  const width = process.stdout.columns ?? Number.POSITIVE_INFINITY;
  const lines = [
    ...(hidden > 0 ? [`(${hidden} earlier ones are not shown; to show more: --limit <n>)`] : []),
    ...(shown.length > 0 ? [renderHistory(shown, now, io, width)] : []),
    ...running.map(({ id, fire }) => `… running  ${renderClock(fire?.slot ?? 0, now)}  ${id}`),
  ];
  const view = limit === undefined ? rows : rows.slice(-limit);
  return answer(flags, io, view, lines.join("\n") || "No history yet: no task was due.");
}

/** Also finds deleted tasks: their history stays. */
export async function readHistory(
  store: Store,
  prefix?: string,
): Promise<{ outcomes: Outcome[]; running: Task[] }> {
  const only = prefix === undefined ? null : await findId(store.history, prefix);
  const page = await store.history.read(only === null ? {} : { loopId: only });
  const entries = page.kind === "page" ? page.entries : [];
  return {
    outcomes: entries.flatMap(({ outcomes }) => outcomes).sort((a, b) => a.slot - b.slot),
    running: [...store.loops()]
      .filter((loop) => loop.kind === "task")
      .filter((task) => task.fire !== null && (only === null || task.id === only)),
  };
}

async function findId(history: LoopHistory, prefix: string): Promise<LoopId> {
  const tasks = (await history.everyLoop()).filter(({ kind }) => kind === "task");
  return pick(prefix, tasks).id;
}

function viewRunning(task: Task) {
  const { fire } = task;
  return {
    fireId: fire?.id ?? "",
    taskId: task.id,
    slot: iso(fire?.slot ?? 0),
    dueAt: iso(fire?.dueAt ?? 0),
    outcome: "running",
    kind: fire?.kind ?? "scheduled",
    reason: null,
    startedAt: momentOf(fire?.startedAt ?? null),
    finishedAt: null,
  };
}
