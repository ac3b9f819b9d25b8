/** What people ask of backlog loops: start, find, change. Every surface goes through here. */
import type { Backlog, BacklogTerms } from "../../core/backlog/backlog.ts";
import type { BacklogEvent } from "../../core/backlog/event.ts";
import type { Story } from "../../core/backlog/stories.ts";
import type { LoopId } from "../../core/loop.ts";
import { usageError } from "../../errors.ts";
import type { Store } from "../../ports/store.ts";
import { allGoals } from "../goals/goals.ts";
import { request } from "../tasks/tasks.ts";

/** Oldest first, ended ones included as far as they are still known. */
export function allBacklogs(store: Store): readonly Backlog[] {
  const found = [...store.loops()].filter((loop) => loop.kind === "backlog");
  return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

/** Under a new id. One at a time works on a project: a second one is refused, with the owner's name. */
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
      ...{ kind: "backlog", id, version: 1, session, status: "active", createdAt: now },
      ...{ terms, stories, attempts: [], places: [], iteration: 0, jobs: 0, receipts: [], freeFailures: 0 },
      ...{ waitUntil: null, waitReason: null, isStopping: false, pause: null, end: null, notice: null },
      spent: { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 },
    };
    const event = { type: "backlog.created" } as const;
    const commit = { id, expectedVersion: 0, loop, event, effects: [], outcomes: [], at: now, token: null };
    if ((await store.commit(commit)).kind === "committed") return loop;
  }
}

function refuseSecond(store: Store): void {
  const run = allBacklogs(store).find(({ status }) => status === "active");
  const owner = store.lease()?.owner ?? "nobody just now";
  if (run !== undefined)
    throw usageError(
      `The backlog is run already (${run.id}, by ${owner}), and two would undo each other's work.`,
      "Go on with it: loop backlog run --resume; or end it: loop cancel",
    );
  const goal = allGoals(store).find(({ status }) => status === "active");
  if (goal !== undefined)
    throw usageError(
      `Goal ${goal.id} is at work in this folder, and two would undo each other's work.`,
      `Pause it (loop pause ${goal.id}), or end it (loop cancel ${goal.id}).`,
    );
}

/** While it runs the stories are the engine's: what is written into the file meanwhile is taken for an agent's. */
export function refuseDuringRun(store: Store): void {
  const run = allBacklogs(store).find(({ status }) => status === "active");
  if (run !== undefined)
    throw usageError(
      `The backlog is run just now (${run.id}), and what is changed in it meanwhile would be put back.`,
      "Stop it first (Ctrl-C in its terminal), change it, and go on: loop backlog run --resume",
    );
}

/** The run that has not ended; null: there is none. */
export function openBacklog(store: Store): Backlog | null {
  return allBacklogs(store).findLast(({ status }) => status !== "ended") ?? null;
}

export async function requestBacklog(
  store: Store,
  backlog: Backlog,
  event: BacklogEvent,
  now: number,
): Promise<Backlog> {
  return (await request(store, backlog, event, now)) as Backlog;
}
