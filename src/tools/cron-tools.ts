/**
 * The tools that agents get (A15, A17): plain functions with schemas. A surface (MCP, pi) only carries them over.
 * Answers are values; what an agent did wrong comes back as `error`, a sentence it can act on.
 */
import * as z from "zod";
import type { FireId, Task } from "../core/loop.ts";
import { planCron } from "../core/task/plan.ts";
import { nextFireAt } from "../core/task/slots.ts";
import { isoOrNull, type TaskView, viewTask } from "../core/task/view.ts";
import { parseWakeup } from "../core/task/wakeup.ts";
import { renderCadence } from "../core/text/human.ts";
import { addTask, draftTask, findTask, requestEvent, type TaskDefaults } from "../engine/tasks/tasks.ts";
import { LoopError } from "../errors.ts";
import type { Store } from "../ports/store.ts";
import { attempt, type ToolResult } from "./attempt.ts";

export interface ToolContext extends TaskDefaults {
  readonly store: Store;
  readonly now: () => number;
  readonly newId: () => string;
  readonly tz: string;
  readonly maxTasks: number;
  /** The host conversation that the agent is in; tasks that are not durable live with it. */
  readonly session: string | null;
}

export const cronCreateInput = z.strictObject({
  cron: z.string().describe("5-field cron expression: minute hour day-of-month month day-of-week"),
  prompt: z.string().min(1).describe("what to do when it fires"),
  recurring: z.boolean().default(true).describe("false: fire once, at the next match, then delete"),
  durable: z.boolean().default(true).describe("false: keep it for this conversation only"),
});

export const cronDeleteInput = z.strictObject({
  id: z.string().describe("the task's id, or a unique beginning of it"),
});

export const cronListInput = z.strictObject({});

/** One object and not a union: clients want an object at the top, and a union's faults cannot be read. */
export const wakeupInput = z
  .strictObject({
    delaySeconds: z.number().min(60).max(3600).optional().describe("seconds until the next turn, 60 to 3600"),
    stop: z.literal(true).optional().describe("instead of delaySeconds: end the loop"),
    reason: z.string().optional().describe("one short sentence for the person; needed with delaySeconds"),
  })
  .refine(({ delaySeconds, stop }) => (delaySeconds === undefined) !== (stop === undefined), {
    error: "give either delaySeconds with a reason, or stop: true",
  })
  .refine(({ stop, reason }) => stop || (reason ?? "").trim() !== "", {
    path: ["reason"],
    error: "say in one short sentence why",
  });

export interface CronCreated {
  readonly id: string;
  readonly humanSchedule: string;
  readonly recurring: boolean;
  readonly durable: boolean;
  readonly nextFireAt: string | null;
}

/** Never runs at once: the agent that creates a task is in the middle of a turn. */
export function cronCreate(context: ToolContext, input: unknown): Promise<ToolResult<CronCreated>> {
  return attempt(cronCreateInput, input, async ({ cron, prompt, recurring, durable }) => {
    const now = context.now();
    const planned = planCron(cron, prompt.trim(), recurring, { tz: context.tz, now });
    if (planned.kind !== "plan")
      throw new LoopError("usage", planned.kind === "invalid" ? planned.message : "There is no prompt.");
    if (!durable && context.session === null) {
      throw new LoopError(
        "usage",
        "There is no conversation that a task could be kept for; leave durable out.",
      );
    }
    const task = await addTask(
      context.store,
      draftTask(
        { prompt: planned.prompt, cadence: planned.cadence, session: durable ? null : context.session },
        context,
        now,
      ),
      context.maxTasks,
      now,
      context.newId,
    );
    await context.store.published?.publish();
    return {
      id: task.id,
      humanSchedule: renderCadence(task.cadence),
      recurring,
      durable,
      nextFireAt: isoOrNull(nextFireAt(task)),
    };
  });
}

/** `ownFire`: the one that the agent is in; its task ends with it, and the turn is not stopped. */
export function cronDelete(
  context: ToolContext,
  input: unknown,
  ownFire: FireId | null = null,
): Promise<ToolResult<{ id: string }>> {
  return attempt(cronDeleteInput, input, async ({ id }) => {
    await context.store.catchUp();
    const task = findTask(context.store, id);
    const isOwn = ownFire !== null && task.fire?.id === ownFire;
    const event = isOwn
      ? ({ type: "task.ending" } as const)
      : ({ type: "task.deleted", reason: "deleted by the agent" } as const);
    await requestEvent(context.store, task, event, context.now());
    await context.store.published?.publish();
    return { id: task.id };
  });
}

export function cronList(
  context: ToolContext,
  input: unknown = {},
): Promise<ToolResult<{ tasks: TaskView[] }>> {
  return attempt(cronListInput, input, async () => {
    await context.store.catchUp();
    const tasks = [...context.store.loops()].filter((loop) => loop.kind === "task");
    return { tasks: tasks.filter((task) => task.status !== "ended").map(viewTask) };
  });
}

/** For the turn that runs now; `fireId` is the host's knowledge, never the agent's. */
export function wakeup(
  context: ToolContext,
  fireId: FireId,
  input: unknown,
): Promise<ToolResult<{ wakeup: "sleep" | "stop" }>> {
  return attempt(wakeupInput, input, async (asked) => {
    await context.store.catchUp();
    const tasks = [...context.store.loops()].filter((loop) => loop.kind === "task");
    const task: Task | undefined = tasks.find((loop) => loop.fire?.id === fireId);
    const parsed = parseWakeup(asked);
    if (task === undefined || parsed === null)
      throw new LoopError("usage", "No turn of a self-paced loop is running.");
    await requestEvent(context.store, task, { type: "fire.wakeup", fireId, wakeup: parsed }, context.now());
    return { wakeup: parsed.kind };
  });
}
