/** The task tools of agents (A15, A17): functions with schemas, used by MCP and pi. An error is a sentence in `error`. */
import * as z from "zod";
import type { FireId, Task } from "../core/loop.ts";
import { planCron } from "../core/task/plan.ts";
import { nextFireAt } from "../core/task/slots.ts";
import { parseWakeup } from "../core/task/wakeup.ts";
import { renderCadence } from "../core/text/human.ts";
import { momentOf } from "../core/views/moment.ts";
import { type TaskView, viewTask } from "../core/views/task-view.ts";
import { addTask, draftTask, findTask, requestEvent, type TaskDefaults } from "../engine/tasks/tasks.ts";
import { usageError } from "../errors.ts";
import type { Store } from "../ports/store.ts";
import { attempt, catchUp, type ToolCall, type ToolResult } from "./attempt.ts";

export interface ToolContext extends TaskDefaults {
  readonly store: Store;
  readonly now: () => number;
  readonly newId: () => string;
  readonly tz: string;
  readonly maxTasks: number;
  /** The conversation of the agent. Tasks that are not durable end with it. */
  readonly session: string | null;
}

export const cronCreateInput = z.strictObject({
  cron: z.string().describe("5-field cron expression: minute hour day-of-month month day-of-week"),
  prompt: z.string().min(1).describe("what to do when it fires"),
  recurring: z.boolean().default(true).describe("false: fire once at the next match, then delete"),
  durable: z.boolean().default(true).describe("false: keep the task for this conversation only"),
});

export const cronDeleteInput = z.strictObject({
  id: z.string().describe("the task's id or its first characters"),
});

export const cronListInput = z.strictObject({});

/** One object instead of a union: clients need a top-level object, and errors of a union are unreadable. */
export const wakeupInput = z
  .strictObject({
    delaySeconds: z.number().min(60).max(3600).optional().describe("seconds until the next turn, 60 to 3600"),
    stop: z.literal(true).optional().describe("instead of delaySeconds: end the loop"),
    reason: z.string().optional().describe("one short sentence for the person; required with delaySeconds"),
  })
  .refine(({ delaySeconds, stop }) => (delaySeconds === undefined) !== (stop === undefined), {
    error: "give either delaySeconds with a reason, or stop: true",
  })
  .refine(({ stop, reason }) => stop || (reason ?? "").trim() !== "", {
    path: ["reason"],
    error: "give the reason in one short sentence",
  });

export const cronCreateOutput = z.object({
  id: z.string(),
  humanSchedule: z.string(),
  recurring: z.boolean(),
  durable: z.boolean(),
  nextFireAt: z.string().nullable(),
  runner: z.string().optional(),
});

export const cronDeleteOutput = z.object({ id: z.string() });

/** Only what identifies a task: every field costs tokens, and docs/files.md has the rest. */
export const cronListOutput = z.object({
  tasks: z.array(z.looseObject({ id: z.string(), human: z.string() })),
});

export const wakeupOutput = z.object({ wakeup: z.enum(["sleep", "stop"]) });

/** Never fires at once: the agent that creates the task is in a turn. */
export function cronCreate(
  context: ToolContext,
  input: unknown,
  call: ToolCall = {},
): Promise<ToolResult<z.output<typeof cronCreateOutput>>> {
  return attempt(cronCreateInput, input, async ({ cron, prompt, recurring, durable }) => {
    const now = context.now();
    const planned = planCron(cron, prompt.trim(), recurring, { tz: context.tz, now });
    if (planned.kind !== "plan")
      throw usageError(planned.kind === "invalid" ? planned.message : "The prompt is empty.");
    if (!durable && context.session === null)
      throw usageError("There is no conversation to keep the task for: leave durable out.");
    const session = durable ? null : context.session;
    const draft = draftTask({ prompt: planned.prompt, cadence: planned.cadence, session }, context, now);
    await catchUp(context.store, call);
    const task = await addTask(context.store, draft, context.maxTasks, now, context.newId);
    await context.store.published?.publish();
    return {
      id: task.id,
      humanSchedule: renderCadence(task.cadence),
      recurring,
      durable,
      nextFireAt: momentOf(nextFireAt(task)),
    };
  });
}

/** `ownFire`: the fire of the agent's own turn. Its task ends after the turn, and the turn is not stopped. */
export function cronDelete(
  context: ToolContext,
  input: unknown,
  ownFire: FireId | null = null,
  call: ToolCall = {},
): Promise<ToolResult<{ id: string }>> {
  return attempt(cronDeleteInput, input, async ({ id }) => {
    await catchUp(context.store, call);
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
  call: ToolCall = {},
): Promise<ToolResult<{ tasks: TaskView[] }>> {
  return attempt(cronListInput, input, async () => {
    await catchUp(context.store, call);
    const tasks = [...context.store.loops()].filter((loop) => loop.kind === "task");
    return { tasks: tasks.filter((task) => task.status !== "ended").map(viewTask) };
  });
}

/** For the running turn. The host, never the agent, gives `fireId`. */
export function wakeup(
  context: ToolContext,
  fireId: FireId,
  input: unknown,
  call: ToolCall = {},
): Promise<ToolResult<{ wakeup: "sleep" | "stop" }>> {
  return attempt(wakeupInput, input, async (asked) => {
    await catchUp(context.store, call);
    const tasks = [...context.store.loops()].filter((loop) => loop.kind === "task");
    const task: Task | undefined = tasks.find((loop) => loop.fire?.id === fireId);
    const parsed = parseWakeup(asked);
    if (task === undefined || parsed === null) throw usageError("No turn of a self-paced loop is running.");
    await requestEvent(context.store, task, { type: "fire.wakeup", fireId, wakeup: parsed }, context.now());
    return { wakeup: parsed.kind };
  });
}
