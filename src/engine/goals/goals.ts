/** The requests of people and agents on goals: create, find, change. Every surface uses these functions. */
import { createGoal, type GoalDraft } from "../../core/goal/create.ts";
import type { GoalEvent } from "../../core/goal/event.ts";
import type { Goal } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import { usageError } from "../../errors.ts";
import type { LoopStore } from "../../ports/loops.ts";
import { loopsOf, pick, requestEvent } from "../tasks/tasks.ts";

/** Oldest first, with the ended ones that the store still has. */
export function allGoals(store: LoopStore): readonly Goal[] {
  return loopsOf(store, "goal");
}

/** Creates a goal under a new id. Refuses a second active goal in the project. */
export async function addGoal(
  store: LoopStore,
  draft: Omit<GoalDraft, "id">,
  now: number,
  newId: () => string,
): Promise<Goal> {
  for (;;) {
    await store.catchUp();
    refuseSecond(store, null);
    const id = newId() as LoopId;
    if (store.load(id) !== undefined) continue;
    const change = createGoal({ ...draft, id }, now);
    const event = { type: "goal.created" } as const;
    const commit = { id, expectedVersion: 0, ...change, event, at: now, token: null };
    if ((await store.commit(commit)).kind === "committed") return change.loop;
  }
}

function refuseSecond(store: LoopStore, own: LoopId | null): void {
  const active = allGoals(store).find(({ id, status }) => status === "active" && id !== own);
  if (active !== undefined)
    throw usageError(
      `Goal ${active.id} is at work in this folder. Two goals would undo each other's work.`,
      `Pause it (loop pause ${active.id}), end it (loop cancel ${active.id}), or use another worktree.`,
    );
}

/** Finds a goal by a unique beginning of its id. Without an id: the only live goal, or the newest with `any`. */
export function findGoal(
  store: LoopStore,
  prefix: string | undefined,
  wanted: "any" | "live" = "live",
): Goal {
  const goals = allGoals(store);
  const live = goals.filter(({ status }) => status !== "ended");
  if (prefix !== undefined) {
    const found = pick(prefix, goals, "goal");
    if (wanted === "live" && found.status === "ended")
      throw usageError(`Goal ${found.id} has ended (${found.end?.status ?? "ended"}).`);
    return found;
  }
  if (live.length > 1 && wanted === "live")
    throw usageError(`There are several goals here. Name one: ${live.map(({ id }) => id).join(", ")}.`);
  const found = live.at(-1) ?? (wanted === "any" ? goals.at(-1) : undefined);
  if (found === undefined)
    throw usageError(
      wanted === "any" ? "There is no goal loop here." : "No goal loop is running or paused here.",
      'Start one with: loop until "npm test passes" <what to do>',
    );
  return found;
}

export async function requestGoal(
  store: LoopStore,
  goal: Goal,
  event: GoalEvent,
  now: number,
): Promise<Goal> {
  if (event.type === "goal.continued" && goal.status === "paused") {
    await store.catchUp();
    refuseSecond(store, goal.id);
  }
  return requestEvent(store, goal, event, now);
}
