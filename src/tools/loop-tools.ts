/** The six tools of an agent for an MCP server. `cron-tools.ts` and `goal-tools.ts` implement them. */
import type { FireId } from "../core/loop.ts";
import type { McpTool, ToolAnswer } from "../hosts/mcp/tool.ts";
import type { ToolResult } from "./attempt.ts";
import * as cron from "./cron-tools.ts";
import { loopReport, loopReportInput, loopStatus, loopStatusInput } from "./goal-tools.ts";

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
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input) => answerOf(await cron.cronCreate(context, input), context.runner),
    },
    {
      name: "CronDelete",
      description: "Deletes a scheduled task and stops its running fire.",
      schema: cron.cronDeleteInput,
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      run: async (input) => answerOf(await cron.cronDelete(context, input)),
    },
    {
      name: "CronList",
      description: "Lists the scheduled tasks of this project with their ids, next and last fires.",
      schema: cron.cronListInput,
      annotations: { readOnlyHint: true, openWorldHint: false },
      run: async (input) => answerOf(await cron.cronList(context, input)),
    },
    {
      name: "Wakeup",
      description:
        "Only in a turn of a self-paced loop (loop auto), as the last action: sets the time of the next turn, or ends the loop. A turn without it ends the loop.",
      schema: cron.wakeupInput,
      alwaysLoad: true,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input) => answerOf(await cron.wakeup(context, context.currentFire() ?? NO_FIRE, input)),
    },
    {
      name: "loop_report",
      description:
        "Only in a turn of a goal loop, as the last action: reports what you did and what is left. The report is a claim; the loop runs the checks itself.",
      schema: loopReportInput,
      alwaysLoad: true,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input) => answerOf(await loopReport(context, input)),
    },
    {
      name: "loop_status",
      description: "Shows the status of a goal loop: criteria with their evidence, steps, limits and cost.",
      schema: loopStatusInput,
      annotations: { readOnlyHint: true, openWorldHint: false },
      run: async (input) => answerOf(await loopStatus(context, input)),
    },
  ];
}

/** Belongs to no task: `cron.wakeup` validates the input first, then reports that no turn runs. */
const NO_FIRE = "" as FireId;

export function answerOf<T extends object>(result: ToolResult<T>, runner?: () => string): ToolAnswer {
  if (!result.ok) return { text: result.error, isError: true };
  const { ok: _, ...value } = result;
  return { text: JSON.stringify({ ...value, runner: runner?.() }) };
}
