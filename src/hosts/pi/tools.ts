/** The tools of the agent as pi takes them. What they do is in `src/tools`. */
import { usageError } from "../../errors.ts";
import { conversationTools } from "../conversation/conversation-tools.ts";
import { describeTool, type McpTool, runTool } from "../mcp/tool.ts";
import type { PiApi } from "./api.ts";
import type { PiSession } from "./session.ts";

const LABELS: Readonly<Record<string, string>> = {
  CronCreate: "Schedule a task",
  CronDelete: "Delete a task",
  CronList: "List the tasks",
  Wakeup: "Wake up later",
  loop_report: "Report to the loop",
  loop_status: "How a goal stands",
};

/** For the session as it is when they are called. */
export function registerTools(pi: PiApi, current: () => PiSession | null): void {
  for (const tool of conversationTools(() => sessionNow(current))) {
    const { inputSchema } = describeTool(tool) as { inputSchema: object };
    pi.registerTool({
      name: tool.name,
      label: LABELS[tool.name] ?? tool.name,
      description: tool.description,
      parameters: inputSchema,
      execute: (_id, input, signal) => call(tool, input, signal ?? NEVER),
    });
  }
}

const NEVER = new AbortController().signal;

/** pi knows that a tool failed by what it throws. */
async function call(tool: McpTool, input: unknown, signal: AbortSignal) {
  const answer = (await runTool(tool, input, { signal, isFromModel: true })) as {
    content: { type: "text"; text: string }[];
    isError?: boolean;
  };
  if (answer.isError) throw new Error(answer.content[0]?.text ?? `${tool.name} failed`);
  return { content: answer.content, details: {} };
}

function sessionNow(current: () => PiSession | null): PiSession {
  const there = current();
  if (there === null) throw usageError("The conversation is over.");
  return there;
}
