import { join } from "node:path";
import type { Usage } from "../../core/event.ts";
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import type { Agent, AgentEvent, Turn } from "../../ports/agent.ts";
import { writeAtomic } from "../../system/files.ts";
import { foldLine } from "../display.ts";
import { describeExit, type Finished, makeFailure } from "../process/reasons.ts";
import { runFolder } from "../process/run-folder.ts";
import { createStreamAgent, type StreamAgentOptions, type StreamReading } from "../stream/stream-agent.ts";
import * as streams from "../stream/stream-events.ts";
import type { CommandPermission, TurnPermissions } from "../stream/stream-permissions.ts";
import { GeminiEvent, type GeminiResult, type GeminiToolResult, type ToolUse } from "./events.ts";

/** Gemini CLI, headless: `gemini --output-format stream-json`, with the prompt on stdin. */
export function createGeminiAgent(options: StreamAgentOptions): Agent {
  return createStreamAgent(options, {
    name: "gemini",
    argv: (turn, permissions) => [options.executable, ...argumentsOf(turn, permissions, options.projectDir)],
    read: readGemini,
    readLine: readGeminiLine,
    openLines: openGeminiLines,
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
  const events = streams.parseEvents(GeminiEvent, finished.answer);
  const init = events.find((event) => event.type === "init");
  const result = events.findLast((event) => event.type === "result");
  // the client does not store an empty conversation
  const isKept = conversation !== null || events.some(isSpoken);
  return {
    answer: lastMessage(events),
    usage: usageOf(result),
    conversation: isKept && init?.session_id ? { id: init.session_id, costUsd: null } : null,
    activity: streams.activityOf(callsOf(events), projectDir),
    failure: failureIn(finished, events, conversation !== null),
    isOver: result !== undefined,
  };
}

/** The text comes in pieces, and a secret may be in two of them. It is shown when a line is complete. */
export function openGeminiLines(projectDir: string): (line: string) => readonly AgentEvent[] {
  let unshown = "";
  return (line) => {
    const shown = readGeminiLine(line, projectDir);
    const [first] = shown;
    const isText = first?.type === "text";
    const lines = `${unshown}${isText ? first.text : ""}`.split("\n");
    unshown = isText ? (lines.pop() ?? "") : "";
    const whole = lines.filter((text) => text.trim() !== "");
    return [...whole.flatMap((text) => streams.showText(text)), ...(isText ? [] : shown)];
  };
}

export function readGeminiLine(line: string, projectDir: string): readonly AgentEvent[] {
  const event = streams.parseEvent(GeminiEvent, line);
  switch (event?.type) {
    case "message":
      return event.role === "assistant" ? streams.showText(event.content) : [];
    case "tool_use":
      return streams.showCall(callOf(event, undefined), projectDir);
    case "tool_result":
      // only the call has the name, but the id starts with it
      return isDenied(event)
        ? [{ type: "permission", tool: (event.tool_id ?? "").replace(/__.*$/, ""), answer: "denied" }]
        : [];
    case "result":
      return streams.showUsage(usageOf(event));
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

function callsOf(events: readonly GeminiEvent[]): readonly streams.StreamToolCall[] {
  const results = new Map<string, GeminiToolResult>();
  for (const event of events) if (event.type === "tool_result") results.set(event.tool_id ?? "", event);
  return events.flatMap((event) =>
    event.type === "tool_use" ? [callOf(event, results.get(event.tool_id ?? ""))] : [],
  );
}

const FILE_TOOLS = { editors: ["write_file", "replace"], reader: "read_file" };

function callOf(
  { tool_name, parameters }: ToolUse,
  result: GeminiToolResult | undefined,
): streams.StreamToolCall {
  return streams.callWith(FILE_TOOLS, tool_name, parameters ?? {}, outcomeOf(result));
}

function outcomeOf(result: GeminiToolResult | undefined): streams.StreamToolCall["outcome"] {
  if (result === undefined) return "open";
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

/** The exit code is the client's own (B13), or the last eight bits of the HTTP status. */
const EXITS: ReadonlyMap<number, FailureClass> = new Map([
  [41, "auth"],
  // limit of turns reached
  [53, "timeout"],
  // the person did not trust this folder
  [55, "denied"],
]);

/** null: no failure found. `isResumed`: the turn resumed a conversation. */
function failureIn(finished: Finished, events: readonly GeminiEvent[], isResumed: boolean): Failure | null {
  const result = events.findLast((event) => event.type === "result");
  if (finished.exitCode === 0 && result?.status === "success") return hiddenFailure(result, events);
  const own = EXITS.get(finished.exitCode);
  if (own !== undefined) return makeFailure(own, `gemini: ${reasonOf(result, finished)}`);
  if (result === undefined || result.status === "success") return null;
  const status = statusOf(finished.exitCode);
  const reason = `gemini: ${status === null ? "" : `${status} `}${reasonOf(result, finished)}`;
  // an invalid request in a resumed conversation: a fresh conversation helps
  if (status === 400 && isResumed) return makeFailure("overflow", reason);
  return makeFailure(status === null ? "fault" : streams.classOfHttpStatus(status), reason);
}

/** The client exits with 0 and no text when the prompt does not fit into the context. */
function hiddenFailure(result: GeminiResult, events: readonly GeminiEvent[]): Failure | null {
  const hasSpoken = events.some((event) => event.type === "message" && event.role === "assistant");
  if (hasSpoken) return null;
  const error = events.findLast((event) => event.type === "error" && event.severity === "error");
  if (error?.type === "error") return makeFailure("fault", `gemini: ${foldLine(error.message ?? "error")}`);
  if (result.stats?.total_tokens !== 0) return null;
  return makeFailure("overflow", "gemini: the prompt does not fit into the context");
}

/** 500 becomes 244. Statuses from 512 on are too small to recognise. */
function statusOf(exitCode: number): number | null {
  const status = exitCode + 256;
  return status >= 400 && status < 512 ? status : null;
}

function reasonOf(result: GeminiResult | undefined, finished: Finished): string {
  const message = result?.error?.message ?? "";
  return foldLine(message) || describeExit({ ...finished, answer: "" });
}
