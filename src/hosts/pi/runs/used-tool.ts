/** A call of a tool by pi's agent, as `tool_result` tells it. */
import type { RanCommand, UsedTool } from "../../conversation/tool-use.ts";
import type { PiEvents } from "../api.ts";
import { asObject, textOfMessage } from "./run-end.ts";

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

/** pi gives no exit code for a command that went well, and puts it last where it did not. */
const CODE = /Command exited with code (\d+)\s*$/;

function ranCommand({ input, content, isError }: PiEvents["tool_result"]): RanCommand | null {
  const command = textOfMessage(asObject(input).command);
  if (command === "") return null;
  const parts = Array.isArray(content) ? content.map((part) => textOfMessage(asObject(part).text)) : [];
  const output = parts.join("\n");
  if (!isError) return { command, exitCode: 0, output };
  const code = CODE.exec(output)?.[1];
  return { command, exitCode: code === undefined ? null : Number(code), output };
}
