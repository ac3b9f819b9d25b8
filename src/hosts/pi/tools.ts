/** Registers the agent's tools in pi. `src/tools` implements them. */
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
  loop_status: "Status of a goal",
};

/** Each call uses the session that is open at that moment. */
export function registerTools(pi: PiApi, current: () => PiSession | null): void {
  const sessionNow = () => {
    const session = current();
    if (session === null) throw usageError("This conversation has ended.");
    return session;
  };
  for (const tool of conversationTools(sessionNow)) {
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

/** In pi a tool reports a failure by throwing. */
async function call(tool: McpTool, input: unknown, signal: AbortSignal) {
  const answer = (await runTool(tool, input, { signal, isFromModel: true })) as {
    content: { type: "text"; text: string }[];
    isError?: boolean;
  };
  if (answer.isError) throw new Error(answer.content[0]?.text ?? `${tool.name} failed`);
  return { content: answer.content, details: {} };
}
