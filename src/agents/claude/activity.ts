/** What Claude Code did in a turn, and what is shown meanwhile. Includes sub-agents. */
import type { Activity, AgentEvent } from "../../ports/agent.ts";
import { foldLine, shortenPath } from "../display.ts";
import { activityOf, describeInput, showText, textIn } from "../stream/stream-events.ts";
import { type ClaudeEvent, type ContentBlock, parseClaudeEvent } from "./events.ts";
import { classifyRetry } from "./failure.ts";
import { OUR_TOOLS } from "./tools.ts";
import { readClaudeUsage } from "./usage.ts";

/** Tools that write files, and their argument for the file. */
const EDITORS: ReadonlyMap<string, string> = new Map([
  ["Edit", "file_path"],
  ["MultiEdit", "file_path"],
  ["Write", "file_path"],
  ["NotebookEdit", "notebook_path"],
]);

export function readActivity(events: readonly ClaudeEvent[], projectDir: string): Activity {
  const calls = new Map<string, ContentBlock>();
  const failed = new Set<string>();
  const denials = new Set<string>();
  for (const event of events) {
    if (event.type === "assistant")
      for (const call of callsOf(event.message.content)) calls.set(call.id, call);
    if (event.type === "user")
      for (const block of event.message.content) if (block.is_error) failed.add(block.tool_use_id ?? "");
    if (event.type === "system" && event.subtype === "permission_denied" && event.tool_name)
      denials.add(event.tool_name);
    if (event.type === "result")
      for (const { tool_name } of event.permission_denials ?? []) denials.add(tool_name);
  }
  const read = [...calls].map(([id, call]) => ({
    name: call.name ?? "",
    detail: "",
    edits: [editedFile(call, projectDir)].filter((path) => path !== null),
    reads: [call.name === "Read" ? textIn(call.input, "file_path") : null].filter((path) => path !== null),
    outcome: failed.has(id) ? ("failed" as const) : ("done" as const),
  }));
  return { ...activityOf(read, projectDir), denials: [...denials] };
}

export function readActivityLine(line: string, projectDir: string): readonly AgentEvent[] {
  const event = parseClaudeEvent(line);
  if (event?.type === "system") {
    if (event.subtype === "permission_denied" && event.tool_name)
      return [{ type: "permission", tool: event.tool_name, answer: "denied" }];
    return event.subtype === "api_retry" ? [{ type: "failure", failure: classifyRetry(event) }] : [];
  }
  // earlier messages only have the counts from their start
  if (event?.type === "result") return [{ type: "usage", usage: readClaudeUsage(event, [event], null) }];
  if (event?.type !== "assistant") return [];
  const isMain = event.parent_tool_use_id == null;
  return event.message.content.flatMap((block) => showBlock(block, isMain, projectDir));
}

/** The text of a sub-agent is for the main agent. Its actions are shown. */
function showBlock(block: ContentBlock, isMain: boolean, projectDir: string): readonly AgentEvent[] {
  if (block.type === "text") return isMain ? showText(block.text) : [];
  if (block.type !== "tool_use" || !block.name) return [];
  const path = editedFile(block, projectDir);
  const tool = { type: "tool", name: block.name, detail: describeCall(block, projectDir) } as const;
  return path === null ? [tool] : [tool, { type: "file", path }];
}

function callsOf(blocks: readonly ContentBlock[]): readonly (ContentBlock & { readonly id: string })[] {
  return blocks.flatMap((block) =>
    block.type === "tool_use" && block.id && !OUR_TOOLS.test(block.name ?? "")
      ? [{ ...block, id: block.id }]
      : [],
  );
}

function editedFile(call: ContentBlock, projectDir: string): string | null {
  const path = textIn(call.input, EDITORS.get(call.name ?? "") ?? "");
  return path === null ? null : shortenPath(path, projectDir);
}

function describeCall(call: ContentBlock, projectDir: string): string {
  const path = textIn(call.input, "file_path", "notebook_path");
  return foldLine(path === null ? describeInput(call.input) : shortenPath(path, projectDir));
}
