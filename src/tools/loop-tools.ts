/** The six tools of an agent for an MCP server. `cron-tools.ts` and `goal-tools.ts` implement them. */
import type { FireId } from "../core/loop.ts";
import type { McpTool, ToolAnswer } from "../hosts/mcp/tool.ts";
import type { ToolResult } from "./attempt.ts";
import * as cron from "./cron-tools.ts";
import * as goal from "./goal-tools.ts";

export interface LoopToolContext extends cron.ToolContext {
  /** The fire of the agent's turn; null: none. */
  readonly currentFire: () => FireId | null;
  /** Which process will fire a new task, in one line; left out if it is this process. */
  readonly runner?: () => string;
}

/** `Wakeup` and `loop_report` are always loaded: a turn ends with them, and a tool search would cost one more request. */
export function loopTools(context: LoopToolContext): readonly McpTool[] {
  return [
    {
      name: "CronCreate",
      description:
        "Schedules a prompt with a cron expression in local time, recurring or once. It fires between turns, never at once. Recurring tasks expire after some days. Returns the id and the next fire.",
      schema: cron.cronCreateInput,
      output: cron.cronCreateOutput,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input, call) => answerOf(await cron.cronCreate(context, input, call), context.runner),
    },
    {
      name: "CronDelete",
      description: "Deletes a scheduled task and stops its running fire.",
      schema: cron.cronDeleteInput,
      output: cron.cronDeleteOutput,
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      run: async (input, call) => answerOf(await cron.cronDelete(context, input, null, call)),
    },
    {
      name: "CronList",
      description: "Lists the scheduled tasks of this project with their ids, next and last fires.",
      schema: cron.cronListInput,
      output: cron.cronListOutput,
      annotations: { readOnlyHint: true, openWorldHint: false },
      run: async (input, call) => answerOf(await cron.cronList(context, input, call)),
    },
    {
      name: "Wakeup",
      description:
        "Only in a turn of a self-paced loop (loop auto), as the last action: sets the time of the next turn, or ends the loop. A turn without it ends the loop.",
      schema: cron.wakeupInput,
      output: cron.wakeupOutput,
      alwaysLoad: true,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input, call) =>
        answerOf(await cron.wakeup(context, context.currentFire() ?? NO_FIRE, input, call)),
    },
    {
      name: "loop_report",
      description:
        "Only in a turn of a goal loop, as the last action: reports what you did and what is left. The report is a claim; the loop runs the checks itself.",
      schema: goal.loopReportInput,
      output: goal.loopReportOutput,
      alwaysLoad: true,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input, call) => answerOf(await goal.loopReport(context, input, call)),
    },
    {
      name: "loop_status",
      description: "Shows the status of a goal loop: criteria with their evidence, steps, limits and cost.",
      schema: goal.loopStatusInput,
      output: goal.loopStatusOutput,
      annotations: { readOnlyHint: true, openWorldHint: false },
      run: async (input, call) => answerOf(await goal.loopStatus(context, input, call)),
    },
  ];
}

/** Belongs to no task: `wakeup` validates the input first, then reports that no turn runs. */
const NO_FIRE = "" as FireId;

export function answerOf<T extends object>(result: ToolResult<T>, runner?: () => string): ToolAnswer {
  if (!result.ok) return { text: result.error, isError: true };
  const { ok: _, ...rest } = result;
  const value = { ...rest, ...(runner === undefined ? {} : { runner: runner() }) };
  return { text: JSON.stringify(value), value };
}
