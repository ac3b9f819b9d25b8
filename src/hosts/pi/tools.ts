/** The tools of the agent as pi takes them. What they do is in `src/tools`. */
import { newLoopId } from "../../compose.ts";
import type { FireId } from "../../core/loop.ts";
import { usageError } from "../../errors.ts";
import { localTimeZone, readConfig } from "../../store/config-file.ts";
import { ensureLoopDir } from "../../store/loop-dir.ts";
import { ownerOf } from "../../store/session-records.ts";
import { loopTools } from "../../tools/loop-tools.ts";
import { describeTool, type McpTool, runTool } from "../mcp/tool.ts";
import type { PiApi } from "./api.ts";
import type { OpenPi } from "./open-conversation.ts";
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
  for (const tool of agentTools(current)) {
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

function agentTools(current: () => PiSession | null): readonly McpTool[] {
  const session = () => {
    const there = current();
    if (there === null) throw usageError("The conversation is over.");
    return there;
  };
  const open = (): OpenPi => {
    const there = session().openIfThere();
    if (there === null) throw usageError("There is no loop in this project yet.");
    return there;
  };
  const config = () => readConfig({ dir: session().dir });
  const context = {
    get store() {
      return open().store;
    },
    get session() {
      return ownerOf(session().id);
    },
    get tz() {
      return localTimeZone(config());
    },
    get maxTasks() {
      return config().maxTasks;
    },
    get expiresMs() {
      return config().expiresMs;
    },
    get jitter() {
      return config().jitter;
    },
    get turnTimeoutMs() {
      return config().turnTimeoutMs;
    },
    now: Date.now,
    newId: newLoopId,
    currentFire: () => {
      const { turn } = open().seat.record;
      return (turn?.end === null ? turn.id : null) as FireId | null;
    },
  };
  return loopTools(context).map((tool) => ({
    ...tool,
    run: async (input, call) => {
      // `.loop/` is made by the first task, and not by being looked at
      if (tool.name === "CronCreate") ensureLoopDir(session().root);
      try {
        return await tool.run(input, call);
      } finally {
        current()?.open?.engine.nudge();
      }
    },
  }));
}
