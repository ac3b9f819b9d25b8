/** The requests of people and agents on tasks: create, find, change. Every surface uses these functions. */
import type { LoopEvent } from "../../core/event.ts";
import type { Loop, LoopId, Task } from "../../core/loop.ts";
import { createTask, type TaskDraft } from "../../core/task/decide-task.ts";
import { LoopError, usageError } from "../../errors.ts";
import type { LoopStore } from "../../ports/loops.ts";
import { applyEvent } from "../apply.ts";

/** A task that has no id yet. */
export type Draft = Omit<TaskDraft, "id">;

/** The project's defaults for tasks. */
export interface TaskDefaults {
  /** The lifetime of a recurring task; null: for ever. */
  readonly expiresMs: number | null;
  readonly jitter: boolean;
  readonly turnTimeoutMs: number;
}

/** Fills in the defaults. A one-shot never expires. */
export function draftTask(
  given: Pick<Draft, "prompt" | "cadence"> & Partial<Draft>,
  defaults: TaskDefaults,
  now: number,
): Draft {
  const expiresAt = defaults.expiresMs === null ? null : now + defaults.expiresMs;
  return {
    session: null,
    jitter: defaults.jitter,
    missed: null,
    graceMs: null,
    expect: null,
    alertAfter: null,
    timeoutMs: defaults.turnTimeoutMs,
    runNow: false,
    importedFrom: null,
    ...given,
    expiresAt:
      given.cadence.kind === "once" ? null : given.expiresAt === undefined ? expiresAt : given.expiresAt,
  };
}

/** Creates a task under a new id. Throws a sentence for the person when there are too many tasks. */
export async function addTask(
  store: LoopStore,
  draft: Draft,
  maxTasks: number,
  now: number,
  newId: () => string,
): Promise<Task> {
  for (;;) {
    const added = await addTaskAs(newId() as LoopId, store, draft, maxTasks, now);
    if (added.kind === "added") return added.task;
    if (added.kind === "full")
      throw usageError(fullMessage(added.live, maxTasks), "Delete one with: loop delete <id>");
  }
}

export type Added =
  | { readonly kind: "added"; readonly task: Task }
  /** A task has or had this id. */
  | { readonly kind: "taken" }
  | { readonly kind: "full"; readonly live: number };

/** Creates a task under this id, or not at all. */
export async function addTaskAs(
  id: LoopId,
  store: LoopStore,
  draft: Draft,
  maxTasks: number,
  now: number,
): Promise<Added> {
  if (store.load(id) !== undefined) return { kind: "taken" };
  const change = createTask({ ...draft, id }, now);
  const event = { type: "task.created" } as const;
  const commit = { id, expectedVersion: 0, ...change, event, at: now, token: null };
  const result = await store.commit({ ...commit, maxLive: maxTasks });
  if (result.kind === "committed") return { kind: "added", task: change.loop };
  return result.kind === "full" ? result : { kind: "taken" };
}

export function fullMessage(live: number, maxTasks: number): string {
  return `There are ${live} live tasks, and at most ${maxTasks} are allowed per project (maxTasks in .loop/config.json).`;
}

/** Finds a task by a unique beginning of its id. */
export function findTask(store: LoopStore, prefix: string): Task {
  if (loopsOf(store, "goal").some(({ id }) => id === prefix.toLowerCase()))
    throw usageError(
      `${prefix} is a goal loop, and this command is for tasks.`,
      `For goals: loop status | pause | continue | cancel | report ${prefix}`,
    );
  return pick(prefix, liveTasks(store));
}

/** Finds a loop of any kind by the beginning of its id. Skips ended tasks, but finds ended goals and backlogs. */
export function findLoop(store: LoopStore, prefix: string): Loop {
  const loops = [...store.loops()].filter(({ kind, status }) => kind !== "task" || status !== "ended");
  return pick(prefix, loops, "loop");
}

/** The loop with this beginning of its id. Throws a sentence for the person when no loop or several loops match. */
export function pick<L extends { readonly id: string }>(
  prefix: string,
  loops: readonly L[],
  what: "task" | "goal" | "loop" = "task",
): L {
  const wanted = prefix.toLowerCase();
  if (!/^[0-9a-f]{1,8}$/.test(wanted)) {
    throw usageError(
      `"${prefix}" is not an id; an id has up to 8 characters of 0-9 and a-f.`,
      "To see all ids, type: loop list",
    );
  }
  const matches = loops.filter(({ id }) => id.startsWith(wanted));
  const [only, second] = matches;
  if (only === undefined)
    throw usageError(`There is no ${what} ${prefix} here.`, "To see all ids, type: loop list");
  const exact = matches.find(({ id }) => id === wanted);
  if (second !== undefined && exact === undefined)
    throw usageError(`${prefix} matches several ids: ${matches.map(({ id }) => id).join(", ")}.`);
  return exact ?? only;
}

/** Carries out a person's request on a loop of any kind. Returns the changed loop. */
export async function requestEvent<L extends Loop>(
  store: LoopStore,
  loop: L,
  event: LoopEvent,
  now: number,
): Promise<L> {
  const applied = await applyEvent(store, loop.id, event, now, null);
  const name = `${loop.kind === "task" ? "Task" : "Goal"} ${loop.id}`;
  switch (applied.kind) {
    case "committed":
      return applied.loop as L;
    case "none":
      return (store.load(loop.id) as L | undefined) ?? loop;
    case "refused":
      throw usageError(applied.message);
    case "gone":
      throw usageError(`${name} no longer exists: another process ended it.`);
    case "fenced":
      throw new LoopError(
        "surroundings",
        `${name} is in use by the process that holds the lease.`,
        "Try again.",
      );
  }
}

/** Tasks that have not ended, oldest first. */
export function liveTasks(store: Pick<LoopStore, "loops">): Task[] {
  return loopsOf(store, "task").filter(({ status }) => status !== "ended");
}

/** Oldest first, with the ended ones that the store still has. */
export function loopsOf<K extends Loop["kind"]>(
  store: Pick<LoopStore, "loops">,
  kind: K,
): Extract<Loop, { kind: K }>[] {
  const isOfKind = (loop: Loop): loop is Extract<Loop, { kind: K }> => loop.kind === kind;
  return [...store.loops()]
    .filter(isOfKind)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}
