/** Translates Claude Code's hook payloads into events of the conversation. */
import type { ConversationEvent, PromptRef } from "../../conversation/event.ts";
import { textOf } from "../../conversation/fields.ts";
import type { RanCommand, UsedTool } from "../../conversation/tool-use.ts";
import { claudeFailureOf } from "../turn-failure.ts";
import { wakeIn } from "../wake.ts";
import type { HookPayload } from "./payload.ts";

/** The command that a person types. The client also accepts the full names of the plugin's commands. */
export const CLAUDE_COMMAND_NAME = "/loopwright";
const TYPED = /^\/loopwright(?::loop|:loopwright)?(?:\s+([\s\S]*))?$/;

/** The text after the command; null: the prompt is not a loop command. */
export function typedIn(prompt: string): string | null {
  const found = TYPED.exec(prompt.trim());
  return found === null ? null : (found[1] ?? "").trim();
}

/** null: the conversation ignores this payload. */
export function claudeEvent(payload: HookPayload): ConversationEvent | null {
  const { promptId, transcript, prompt } = payload;
  const at: PromptRef = { promptId, transcript };
  switch (payload.event) {
    case "Stop":
      return { ...at, type: "stopped", answer: payload.answer };
    case "StopFailure":
      return { ...at, type: "failed", failure: claudeFailureOf(payload) };
    // a loop command arrives a second time, as UserPromptExpansion
    case "UserPromptSubmit":
      return typedIn(prompt) === null ? { ...at, type: "prompted", wake: wakeIn(prompt) } : null;
    case "UserPromptExpansion": {
      const words = typedIn(prompt);
      return words === null ? { ...at, type: "other" } : { ...at, type: "typed", words };
    }
    case "PostToolUse":
    case "PostToolUseFailure":
      return { ...at, type: "tool", used: claudeUsedTool(payload) };
    case "Notification":
      return { ...at, type: "idle" };
    case "SessionStart":
      return { ...at, type: "session-started", isCompacted: payload.source === "compact" };
    case "SessionEnd":
      return { ...at, type: "session-ended" };
    case "PreToolUse":
      return null;
  }
}

export function claudeUsedTool(payload: HookPayload): UsedTool {
  const { tool, toolUseId, durationMs, agentId } = payload;
  return {
    tool,
    id: toolUseId,
    durationMs,
    isOk: payload.event === "PostToolUse",
    isOfSubAgent: agentId !== "",
    ran: tool === "Bash" ? ranCommand(payload) : null,
  };
}

/** The client gives no exit code for a successful command. For a failed one it is on the first line. */
function ranCommand({ event, toolInput, toolResponse, error }: HookPayload): RanCommand | null {
  const command = textOf(toolInput, "command");
  if (command === "") return null;
  if (event === "PostToolUse") return { command, exitCode: 0, output: textOf(toolResponse, "stdout") };
  const [, code] = /^Exit code (\d+)(?:\n|$)/.exec(error) ?? [];
  return { command, exitCode: code === undefined ? null : Number(code), output: error };
}

const OUR_TOOLS = /^mcp__plugin_loopwright_loop__(?!hook$)/;

/** Is the agent about to call one of our tools? */
export function isOurCall({ event, tool }: Pick<HookPayload, "event" | "tool">): boolean {
  return event === "PreToolUse" && OUR_TOOLS.test(tool);
}
