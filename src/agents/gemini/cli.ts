import { join } from "node:path";
import type { Usage } from "../../core/event.ts";
import type { Agent, AgentEvent, Turn } from "../../ports/agent.ts";
import { writeAtomic } from "../../system/files.ts";
import type { Finished } from "../process/reasons.ts";
import { runFolder } from "../process/run-folder.ts";
import { createStreamAgent, type StreamAgentOptions, type StreamReading } from "../stream/stream-agent.ts";
import {
  activityOf,
  describeInput,
  pathsIn,
  type StreamToolCall,
  showCall,
} from "../stream/stream-events.ts";
import type { CommandPermission, TurnPermissions } from "../stream/stream-permissions.ts";
import {
  type GeminiEvent,
  type GeminiResult,
  type GeminiToolResult,
  parseGeminiEvent,
  parseGeminiStream,
  type ToolUse,
} from "./events.ts";
import { classifyGeminiFailure } from "./failure.ts";

/** Gemini CLI, headless: `gemini --output-format stream-json`, with the prompt on stdin. */
export function createGeminiAgent(options: StreamAgentOptions): Agent {
  return createStreamAgent(options, {
    name: "gemini",
    argv: (turn, permissions) => [options.executable, ...argumentsOf(turn, permissions, options.projectDir)],
    read: readGemini,
    readLine: readGeminiLine,
    owns: (id) => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id),
  });
}

function argumentsOf(turn: Turn, permissions: TurnPermissions | null, projectDir: string): readonly string[] {
  const { conversation, model } = turn;
  return [
    "--output-format=stream-json",
    ...(permissions === null ? [] : permissionArguments(permissions, turn, projectDir)),
    ...(conversation === null ? [] : [`--resume=${conversation.id}`]),
    ...(model === undefined ? [] : [`--model=${model}`]),
  ];
}

/** Nobody can answer a question, so the client does not offer tools that would ask. */
function permissionArguments(
  { edits, commands }: TurnPermissions,
  turn: Turn,
  projectDir: string,
): readonly string[] {
  if (edits && commands === "all") return ["--approval-mode=yolo"];
  const mode = `--approval-mode=${edits ? "auto_edit" : "default"}`;
  const all = commands === "all" ? [{ glob: "*", isAllowed: true }] : commands;
  return all.length === 0 ? [mode] : [mode, `--policy=${writePolicy(all, turn, projectDir)}`];
}

function writePolicy(commands: readonly CommandPermission[], turn: Turn, projectDir: string): string {
  const path = join(runFolder(projectDir, turn), "policy.toml");
  // a JSON string is a TOML string; the matching rule with the highest priority wins
  const rules = commands
    .slice(0, 800)
    .map(({ glob, isAllowed }, index) =>
      [
        "[[rule]]",
        'toolName = "run_shell_command"',
        ...(glob.trim() === "*" ? [] : [`commandRegex = ${JSON.stringify(commandPattern(glob))}`]),
        `decision = "${isAllowed ? "allow" : "deny"}"`,
        `priority = ${100 + index}`,
      ].join("\n"),
    );
  writeAtomic(path, `${rules.join("\n\n")}\n`, false);
  return path;
}

/** Matches the call's arguments as JSON, up to the quote after the command. `*` never matches a second command. */
function commandPattern(glob: string): string {
  const parts = glob
    .trim()
    .split(/\*+/)
    .map((part) =>
      JSON.stringify(part)
        .slice(1, -1)
        .replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
    );
  return `${parts.join('[^;&|<>`$()\\\\"]*')}"`;
}

export function readGemini(
  finished: Finished,
  { conversation }: Pick<Turn, "conversation">,
  projectDir: string,
): StreamReading {
  const events = parseGeminiStream(finished.answer);
  const init = events.find((event) => event.type === "init");
  const result = events.findLast((event) => event.type === "result");
  // the client does not store an empty conversation
  const isKept = conversation !== null || events.some(isSpoken);
  return {
    answer: lastMessage(events),
    usage: usageOf(result),
    conversation: isKept && init?.session_id ? { id: init.session_id, costUsd: null } : null,
    activity: activityOf(callsOf(events), projectDir),
    failure: classifyGeminiFailure(finished, events, conversation !== null),
    isOver: result !== undefined,
  };
}

export function readGeminiLine(line: string, projectDir: string): readonly AgentEvent[] {
  const event = parseGeminiEvent(line);
  switch (event?.type) {
    case "message":
      return event.role === "assistant" && event.content !== ""
        ? [{ type: "text", text: event.content }]
        : [];
    case "tool_use":
      return showCall(callOf(event, undefined), projectDir);
    case "tool_result":
      // only the call has the name, but the id starts with it
      return isDenied(event)
        ? [{ type: "permission", tool: (event.tool_id ?? "").replace(/__.*$/, ""), answer: "denied" }]
        : [];
    case "result": {
      const usage = usageOf(event);
      return usage === null ? [] : [{ type: "usage", usage }];
    }
    default:
      return [];
  }
}

function isSpoken(event: GeminiEvent): boolean {
  return event.type === "tool_use" || (event.type === "message" && event.role === "assistant");
}

/** The text after the last tool call. */
function lastMessage(events: readonly GeminiEvent[]): string {
  const from = events.findLastIndex((event) => event.type === "tool_use" || event.type === "tool_result");
  const pieces = events
    .slice(from + 1)
    .flatMap((event) => (event.type === "message" && event.role === "assistant" ? [event.content] : []));
  return pieces.join("");
}

function callsOf(events: readonly GeminiEvent[]): readonly StreamToolCall[] {
  const results = new Map<string, GeminiToolResult>();
  for (const event of events) if (event.type === "tool_result") results.set(event.tool_id ?? "", event);
  return events.flatMap((event) =>
    event.type === "tool_use" ? [callOf(event, results.get(event.tool_id ?? ""))] : [],
  );
}

const EDITORS: ReadonlySet<string> = new Set(["write_file", "replace"]);
const READERS: ReadonlySet<string> = new Set(["read_file"]);

function callOf({ tool_name, parameters }: ToolUse, result: GeminiToolResult | undefined): StreamToolCall {
  const input = parameters ?? {};
  const file = pathsIn(input, "file_path", "absolute_path", "path");
  return {
    name: tool_name,
    detail: describeInput(input),
    edits: EDITORS.has(tool_name) ? file : [],
    reads: READERS.has(tool_name) ? file : [],
    outcome: result === undefined ? "open" : outcomeOf(result),
  };
}

function outcomeOf(result: GeminiToolResult): StreamToolCall["outcome"] {
  if (isDenied(result)) return "denied";
  return result.status === "success" ? "done" : "failed";
}

/** Also denied: a path outside the workspace. */
const DENIALS: ReadonlySet<string> = new Set(["policy_violation", "path_not_in_workspace"]);

function isDenied({ error }: GeminiToolResult): boolean {
  return DENIALS.has(error?.type ?? "");
}

function usageOf(result: GeminiResult | undefined): Usage | null {
  const stats = result?.stats;
  if (stats?.input_tokens == null) return null;
  const models = Object.entries(stats.models ?? {}).filter(([, used]) => (used.total_tokens ?? 0) > 0);
  const [most] = models.sort(([, a], [, b]) => (b.total_tokens ?? 0) - (a.total_tokens ?? 0));
  const input = stats.input_tokens;
  return {
    costUsd: null,
    inputTokens: input,
    // only the total includes thoughts
    outputTokens: Math.max(stats.output_tokens ?? 0, (stats.total_tokens ?? 0) - input),
    ...(most === undefined ? {} : { model: most[0] }),
    ...(stats.cached ? { cacheReadTokens: stats.cached } : {}),
  };
}
