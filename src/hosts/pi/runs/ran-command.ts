/** A command that pi's agent ran, as `tool_result` tells it; null: it was another tool. */
import type { RanCommand } from "../../conversation/tool-use.ts";
import type { PiEvents } from "../api.ts";
import { asObject, textOf } from "./run-end.ts";

/** pi gives no exit code for a command that went well, and puts it last where it did not. */
const CODE = /Command exited with code (\d+)\s*$/;

export function ranCommand({
  toolName,
  input,
  content,
  isError,
}: PiEvents["tool_result"]): RanCommand | null {
  const command = toolName === "bash" ? textOf(asObject(input).command) : "";
  if (command === "") return null;
  const parts = Array.isArray(content) ? content.map((part) => textOf(asObject(part).text)) : [];
  const output = parts.join("\n");
  if (!isError) return { command, exitCode: 0, output };
  const code = CODE.exec(output)?.[1];
  return { command, exitCode: code === undefined ? null : Number(code), output };
}
