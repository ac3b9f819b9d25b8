/** The requests of people on backlogs: start, find, change. Every surface uses these functions. */
import type { Backlog, BacklogTerms } from "../../core/backlog/backlog.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { NOTHING_SPENT } from "../../core/cost/usage.ts";
import type { LoopId } from "../../core/loop.ts";
import { usageError } from "../../errors.ts";
import type { Store } from "../../ports/store.ts";
import { allGoals } from "../goals/goals.ts";
import { loopsOf } from "../tasks/tasks.ts";

/** Creates a backlog under a new id. Refuses a second active goal or backlog in the project. */
export async function addBacklog(
  store: Store,
  terms: BacklogTerms,
  stories: readonly Story[],
  session: string | null,
  now: number,
  newId: () => string,
): Promise<Backlog> {
  for (;;) {
    await store.catchUp();
    refuseSecond(store);
    const id = newId() as LoopId;
    if (store.load(id) !== undefined) continue;
    const loop: Backlog = {
      kind: "backlog",
      id,
      version: 1,
      session,
      status: "active",
      createdAt: now,
      terms,
      stories,
      attempts: [],
      places: [],
      iteration: 0,
      jobs: 0,
      receipts: [],
      freeFailures: 0,
      waitUntil: null,
      waitReason: null,
      isStopping: false,
      pause: null,
      end: null,
      notice: null,
      spent: NOTHING_SPENT,
    };
    const event = { type: "backlog.created" } as const;
    const commit = { id, expectedVersion: 0, loop, event, effects: [], outcomes: [], at: now, token: null };
    if ((await store.commit(commit)).kind === "committed") return loop;
  }
}

function refuseSecond(store: Store): void {
  const run = loopsOf(store, "backlog").find(({ status }) => status === "active");
  const owner = store.lease()?.owner ?? "no process";
  if (run !== undefined)
    throw usageError(
      `The backlog already runs (${run.id}, by ${owner}). Two runs would undo each other's work.`,
      "Continue it: loop backlog run --resume. Or end it: loop cancel",
    );
  const goal = allGoals(store).find(({ status }) => status === "active");
  if (goal !== undefined)
    throw usageError(
      `Goal ${goal.id} is at work in this folder. A backlog and a goal would undo each other's work.`,
      `Pause it (loop pause ${goal.id}), or end it (loop cancel ${goal.id}).`,
    );
}

/** During a run only the engine may write the stories: it takes other changes for an agent's and undoes them. */
export function refuseDuringRun(store: Store): void {
  const run = loopsOf(store, "backlog").find(({ status }) => status === "active");
  if (run !== undefined)
    throw usageError(
      `The backlog is running (${run.id}). The engine would undo your change.`,
      "Stop it first (Ctrl-C in its terminal). Then make the change and continue: loop backlog run --resume",
    );
}

/** The backlog that has not ended; null: there is none. */
export function openBacklog(store: Store): Backlog | null {
  return loopsOf(store, "backlog").findLast(({ status }) => status !== "ended") ?? null;
}
