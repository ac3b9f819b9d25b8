/** Reads a tool call from pi's `tool_result` event. */
import { textOf } from "../../conversation/fields.ts";
import type { RanCommand, UsedTool } from "../../conversation/tool-use.ts";
import type { PiEvents } from "../api.ts";

export function piUsedTool(event: PiEvents["tool_result"]): UsedTool {
  const { toolName, toolCallId, isError } = event;
  return {
    tool: toolName,
    id: toolCallId,
    isOk: !isError,
    durationMs: null,
    isOfSubAgent: false,
    ran: toolName === "bash" ? ranCommand(event) : null,
  };
}

/** pi gives no exit code for a successful command. For a failed one it is on the last line. */
const CODE = /Command exited with code (\d+)\s*$/;

function ranCommand({ input, content, isError }: PiEvents["tool_result"]): RanCommand | null {
  const command = textOf(input, "command");
  if (command === "") return null;
  const parts = Array.isArray(content) ? content.map((part) => textOf(part, "text")) : [];
  const output = parts.join("\n");
  if (!isError) return { command, exitCode: 0, output };
  const code = CODE.exec(output)?.[1];
  return { command, exitCode: code === undefined ? null : Number(code), output };
}
