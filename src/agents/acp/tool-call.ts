/** The name, files and command of a tool call. Agents put them in different places. */
import { resolve } from "node:path";
import type { ToolKind } from "../../core/permissions.ts";
import { foldLine, shortenPath } from "../display.ts";
import { textIn } from "../stream/stream-events.ts";
import type { ToolCall } from "./connection/messages.ts";
import type { AcpProfile } from "./profiles.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  search: "read",
  edit: "edit",
  move: "edit",
  delete: "delete",
  execute: "execute",
  fetch: "fetch",
};
const PATH_KEYS = ["file_path", "filePath", "path", "notebook_path", "absolute_path"];
/** The engine's own tools, as Claude, Codex, Gemini and Qwen, opencode and Copilot name them. */
const OWN_TOOL =
  /^(?:mcp__loopwright__\w+|mcp\.loopwright\.\w+|\w+ \(loopwright MCP Server\)|loopwright[_-]\w+)$/;

/** The agent's name for its tool, or else the kind of the tool. */
export function nameOfCall(call: ToolCall): string {
  const { _meta: meta, name, kind } = call;
  return textIn(meta?.claudeCode, "toolName") ?? (name || textIn(meta, "toolName")) ?? kind ?? "tool";
}

/** Is it a tool of the engine? Such a tool only reports. `titles`: all titles of the call so far. */
export function isOwnTool(call: ToolCall, titles: readonly string[]): boolean {
  const isCommand = textIn(call.rawInput, "command") !== null;
  return !isCommand && [nameOfCall(call), call.title ?? "", ...titles].some((name) => OWN_TOOL.test(name));
}

/** What was denied. Of a command only the program and a plain first word: the rest may be a secret. */
export function denialOf(call: ToolCall): string {
  const name = nameOfCall(call);
  if (call.kind !== "execute") return name;
  const [program] =
    /^[\w./-]+(?= |$)(?: [a-z][a-z0-9:-]{0,30}(?= |$))?/.exec(textIn(call.rawInput, "command") ?? "") ?? [];
  return program === undefined ? name : `${name} (${program} …)`;
}

export function describeCall(call: ToolCall, projectDir: string): string {
  const [path] = call.kind === "execute" ? [] : touchedPaths(call);
  const otherwise = path === undefined ? (call.title ?? "") : shortenPath(path, projectDir);
  return foldLine(textIn(call.rawInput, "command", "url") ?? otherwise);
}

/** The files of the call. A diff is most exact: a location may be the working directory. */
export function touchedPaths(call: ToolCall): readonly string[] {
  const diffs = diffPaths(call);
  if (diffs.length > 0) return [...new Set(diffs)];
  const named = textIn(call.rawInput, ...PATH_KEYS);
  if (named !== null) return [named];
  return [...new Set((call.locations ?? []).map(({ path }) => path))];
}

/** Every file that the call names. Each one needs permission. */
export function namedPaths(call: ToolCall, projectDir: string): readonly string[] {
  const inputs = PATH_KEYS.flatMap((key) => textIn(call.rawInput, key) ?? []);
  const locations = (call.locations ?? []).map(({ path }) => path);
  return [...new Set([...diffPaths(call), ...inputs, ...locations].map((path) => resolve(projectDir, path)))];
}

function diffPaths({ content }: ToolCall): readonly string[] {
  return (content ?? []).flatMap(({ type, path }) => (type === "diff" && path ? [path] : []));
}

/** null: the call runs no command, or does not name it. */
export function commandOfCall(call: ToolCall, profile: AcpProfile): string | null {
  const { rawInput } = call;
  const list = typeof rawInput === "object" && rawInput !== null && "command" in rawInput && rawInput.command;
  if (Array.isArray(list)) return fromArgv(list.filter((part) => typeof part === "string"));
  const command = textIn(rawInput, "command", "cmd");
  if (command !== null) return command;
  return profile.titleIsCommand && call.kind === "execute" ? (call.title ?? null) : null;
}

/** Decides by what the call does, not by its declared kind: a call that runs a command is not a read. */
export function kindOfCall(call: ToolCall, command: string | null): ToolKind {
  const kind = KINDS[call.kind ?? ""];
  if (command !== null) return "execute";
  const isEdit = (call.content ?? []).some(({ type }) => type === "diff");
  if (isEdit && kind !== "delete") return "edit";
  return kind ?? "other";
}

/** `bash -lc "…"` is the command in the quotes. */
function fromArgv(argv: readonly string[]): string {
  const [shell = "", flag = "", line] = argv;
  const isShell = /(?:^|\/)(?:ba|da|z)?sh$/.test(shell) && /^-l?c$/.test(flag);
  return isShell && argv.length === 3 && line !== undefined ? line : argv.join(" ");
}
