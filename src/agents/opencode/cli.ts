import { sumUsage } from "../../core/cost/usage.ts";
import type { Usage } from "../../core/event.ts";
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import type { Agent, AgentEvent, Turn } from "../../ports/agent.ts";
import { foldLine } from "../display.ts";
import { type Finished, makeFailure } from "../process/reasons.ts";
import { createStreamAgent, type StreamAgentOptions, type StreamReading } from "../stream/stream-agent.ts";
import * as streams from "../stream/stream-events.ts";
import type { TurnPermissions } from "../stream/stream-permissions.ts";
import { type ErrorInfo, OpencodeEvent, type StepPart, type ToolPart } from "./events.ts";

/** opencode, headless: `opencode run --format json`, with the prompt on stdin. */
export function createOpencodeAgent(options: StreamAgentOptions): Agent {
  const shell = options.shell ?? "/bin/sh";
  return createStreamAgent(options, {
    name: "opencode",
    argv: (turn, permissions) => {
      const rules = permissions === null ? "" : JSON.stringify(permissionsOf(permissions));
      return [shell, "-c", IN_PRIVATE, "opencode", rules, options.executable, ...argumentsOf(turn)];
    },
    read: readOpencode,
    readLine: readOpencodeLine,
    owns: (id) => /^ses_[A-Za-z0-9]+$/.test(id),
  });
}

// opencode leaves a library of some megabytes in TMPDIR at each start.
const IN_PRIVATE = `
[ -z "$1" ] || { OPENCODE_PERMISSION=$1; export OPENCODE_PERMISSION; }
shift
if d=$(mktemp -d); then
  TMPDIR=$d
  export TMPDIR
  trap 'rm -rf "$d"' EXIT
  trap 'exit 143' TERM
  trap 'exit 130' INT
fi
"$@"
`;

function argumentsOf({ conversation, model }: Turn): readonly string[] {
  return [
    ...["run", "--format", "json"],
    ...(conversation === null ? [] : [`--session=${conversation.id}`]),
    ...(model === undefined ? [] : [`--model=${model}`]),
  ];
}

/** Replaces the person's rules for these tools, so it lists all. A question would end the turn. */
function permissionsOf({ edits, commands, isMute }: TurnPermissions): object {
  const edit = edits ? { "*": "allow", ".loop/*": "deny", ".git/*": "deny" } : "deny";
  if (commands === "all") return { edit, bash: "allow" };
  const bash = commands.map(({ glob, isAllowed }) => [glob, isAllowed ? "allow" : "deny"]);
  return { edit, bash: isMute ? "deny" : { "*": "deny", ...Object.fromEntries(bash) } };
}

export function readOpencode(
  { answer: stream, exitCode }: Finished,
  { conversation }: Pick<Turn, "conversation">,
  projectDir: string,
): StreamReading {
  const events = streams.parseEvents(OpencodeEvent, stream);
  const calls = events.flatMap((event) => (event.type === "tool_use" ? [callOf(event.part)] : []));
  const activity = streams.activityOf(calls, projectDir);
  const steps = events.flatMap((event) => (event.type === "step_finish" ? [usageOf(event.part)] : []));
  const usage = steps.reduce<Usage | null>(sumUsage, null);
  const id = events.find((event) => event.sessionID)?.sessionID ?? null;
  const before = conversation?.costUsd ?? (conversation === null ? 0 : null);
  const last = events.findLast((event) => event.type === "step_finish" || event.type === "error");
  return {
    answer: lastMessage(events),
    usage,
    conversation:
      id === null ? null : { id, costUsd: before === null ? null : before + (usage?.costUsd ?? 0) },
    activity,
    failure: failureIn(events, exitCode, activity.denials),
    isOver: last !== undefined,
  };
}

export function readOpencodeLine(line: string, projectDir: string): readonly AgentEvent[] {
  const event = streams.parseEvent(OpencodeEvent, line);
  switch (event?.type) {
    case "text":
      return streams.showText(event.part.text);
    case "tool_use":
      return streams.showCall(callOf(event.part), projectDir);
    case "step_finish":
      return [{ type: "usage", usage: usageOf(event.part) }];
    case "error":
      return [{ type: "failure", failure: failureOf(event.error, event.timestamp ?? null) }];
    default:
      return [];
  }
}

/** The texts of the last message; empty when tools were called after it. */
function lastMessage(events: readonly OpencodeEvent[]): string {
  const from = events.findLastIndex((event) => event.type === "step_start");
  const texts = events.slice(from + 1).flatMap((event) => (event.type === "text" ? [event.part.text] : []));
  return texts.join("\n");
}

const FILE_TOOLS = { editors: ["write", "edit", "patch", "apply_patch", "multiedit"], reader: "read" };
/** How the client's own refusals start. Errors of tools start differently. */
const REFUSALS = ["The user rejected permission", "The user has specified a rule which prevents"];

function callOf({ tool, state }: ToolPart): streams.StreamToolCall {
  const isRefused = REFUSALS.some((words) => state.error?.startsWith(words));
  const outcome = isRefused ? "denied" : state.status === "completed" ? "done" : "failed";
  return streams.callWith(FILE_TOOLS, tool, state.input ?? {}, outcome);
}

function usageOf({ cost, tokens }: StepPart): Usage {
  const { read, write } = tokens?.cache ?? {};
  return {
    // the cost is 0 when opencode does not know the price
    costUsd: cost || null,
    inputTokens: streams.sum([tokens?.input, read, write]),
    outputTokens: streams.sum([tokens?.output, tokens?.reasoning]),
    ...(read ? { cacheReadTokens: read } : {}),
    ...(write ? { cacheWriteTokens: write } : {}),
  };
}

const NAMES: ReadonlyMap<string, FailureClass> = new Map([
  ["ProviderAuthError", "auth"],
  ["ContextOverflowError", "overflow"],
  ["MessageOutputLengthError", "timeout"],
]);

/** From the name and status of the error, or because it stopped too early (B13). null: no failure found. */
function failureIn(
  events: readonly OpencodeEvent[],
  exitCode: number,
  denied: readonly string[],
): Failure | null {
  const error = events.findLast((event) => event.type === "error");
  if (error !== undefined) return failureOf(error.error, error.timestamp ?? null);
  if (exitCode !== 0) return null;
  const last = events.findLast((event) => event.type === "step_finish");
  // exits with 0 when nobody answers a request for permission
  if (last?.part.reason === "tool-calls" && denied.length > 0)
    return makeFailure(
      "denied",
      `opencode: nobody could answer its request for permission: ${denied.join(", ")}`,
    );
  if (last?.part.reason === "tool-calls")
    return makeFailure("fault", "opencode: it stopped before the turn was complete");
  if (last?.part.reason === "length")
    return makeFailure("timeout", "opencode: the answer reached its length limit");
  return null;
}

function failureOf({ name, data }: ErrorInfo, at: number | null): Failure {
  const status = data?.statusCode ?? null;
  const type = NAMES.get(name ?? "") ?? (name === "APIError" ? streams.classOfHttpStatus(status) : "fault");
  const words = [name ?? "error", status, data?.message].filter((part) => part != null && part !== "");
  return makeFailure(
    type,
    `opencode: ${foldLine(words.join(" "))}`,
    type === "quota" ? resetOf(data, at) : null,
  );
}

/** The header counts seconds from the response. */
function resetOf(data: ErrorInfo["data"], at: number | null): number | null {
  const seconds = Number(data?.responseHeaders?.["retry-after"] ?? Number.NaN);
  return at === null || !(seconds > 0) ? null : at + Math.round(seconds * 1000);
}
