/** The six tools of an agent, as an MCP server offers them. What they do is in `cron-tools.ts` and `goal-tools.ts`. */
import type { FireId } from "../core/loop.ts";
import type { McpTool, ToolAnswer } from "../hosts/mcp/tool.ts";
import type { ToolResult } from "./attempt.ts";
import {
  cronCreate,
  cronCreateInput,
  cronDelete,
  cronDeleteInput,
  cronList,
  cronListInput,
  type ToolContext,
  wakeup,
  wakeupInput,
} from "./cron-tools.ts";
import { loopReport, loopReportInput, loopStatus, loopStatusInput } from "./goal-tools.ts";

export interface LoopToolContext extends ToolContext {
  /** The fire whose turn the agent is in; null: none. */
  readonly currentFire: () => FireId | null;
  /** Who fires a task that was made just now, in one line; left out where this very process does. */
  readonly runner?: () => string;
}

/** `Wakeup` and `loop_report` are always loaded: a turn ends with them, and a search would cost it a request more. */
export function loopTools(context: LoopToolContext): readonly McpTool[] {
  return [
    {
      name: "CronCreate",
      description:
        "Schedules a prompt by a cron expression in local time, recurring or once. It fires between turns, never at once. Recurring tasks end by themselves after some days. Returns the id and the next fire.",
      schema: cronCreateInput,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input) => answerOf(await cronCreate(context, input), context.runner),
    },
    {
      name: "CronDelete",
      description: "Ends a scheduled task for good; a fire of it that runs now is stopped.",
      schema: cronDeleteInput,
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      run: async (input) => answerOf(await cronDelete(context, input)),
    },
    {
      name: "CronList",
      description: "Lists the scheduled tasks of this project with their ids, next and last fires.",
      schema: cronListInput,
      annotations: { readOnlyHint: true, openWorldHint: false },
      run: async (input) => answerOf(await cronList(context, input)),
    },
    {
      name: "Wakeup",
      description:
        "Only in a turn of a self-paced loop (loop auto), as its last act: says when the next turn comes, or ends the loop. A turn without it ends the loop.",
      schema: wakeupInput,
      alwaysLoad: true,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input) => answerOf(await wakeup(context, context.currentFire() ?? NO_FIRE, input)),
    },
    {
      name: "loop_report",
      description:
        "Only in a turn of a goal loop, as its last act: what you did and what is left. It is a claim; the loop runs the checks itself.",
      schema: loopReportInput,
      alwaysLoad: true,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
      run: async (input) => answerOf(await loopReport(context, input)),
    },
    {
      name: "loop_status",
      description: "How a goal loop stands: criteria with their evidence, steps, limits and what was spent.",
      schema: loopStatusInput,
      annotations: { readOnlyHint: true, openWorldHint: false },
      run: async (input) => answerOf(await loopStatus(context, input)),
    },
  ];
}

/** Belongs to no task: the input is still looked at first, and then that no turn is running. */
const NO_FIRE = "" as FireId;

export function answerOf<T extends object>(result: ToolResult<T>, runner?: () => string): ToolAnswer {
  if (!result.ok) return { text: result.error, isError: true };
  const { ok: _, ...value } = result;
  return { text: JSON.stringify({ ...value, runner: runner?.() }) };
}
