import type { Usage } from "../../core/event.ts";
import type { Agent, AgentEvent, Turn } from "../../ports/agent.ts";
import { type Finished, makeFailure } from "../process/reasons.ts";
import { createStreamAgent, type StreamAgentOptions, type StreamReading } from "../stream/stream-agent.ts";
import {
  activityOf,
  describeInput,
  pathsIn,
  type StreamToolCall,
  showCall,
  sum,
} from "../stream/stream-events.ts";
import type { TurnPermissions } from "../stream/stream-permissions.ts";
import {
  type OpencodeEvent,
  parseOpencodeEvent,
  parseOpencodeStream,
  type StepPart,
  type ToolPart,
} from "./events.ts";
import { classifyOpencodeFailure } from "./failure.ts";

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
  const events = parseOpencodeStream(stream);
  const calls = events.flatMap((event) => (event.type === "tool_use" ? [callOf(event.part)] : []));
  const activity = activityOf(calls, projectDir);
  const steps = events.flatMap((event) => (event.type === "step_finish" ? [event.part] : []));
  const usage = usageOf(steps);
  const id = events.find((event) => event.sessionID)?.sessionID ?? null;
  const before = conversation?.costUsd ?? (conversation === null ? 0 : null);
  const last = events.findLast((event) => event.type === "step_finish" || event.type === "error");
  return {
    answer: lastMessage(events),
    usage,
    conversation:
      id === null ? null : { id, costUsd: before === null ? null : before + (usage?.costUsd ?? 0) },
    activity,
    failure: classifyOpencodeFailure(events, exitCode, activity.denials),
    isOver: last !== undefined,
  };
}

export function readOpencodeLine(line: string, projectDir: string): readonly AgentEvent[] {
  const event = parseOpencodeEvent(line);
  switch (event?.type) {
    case "text":
      return event.part.text === "" ? [] : [{ type: "text", text: event.part.text }];
    case "tool_use":
      return showCall(callOf(event.part), projectDir);
    case "step_finish": {
      const usage = usageOf([event.part]);
      return usage === null ? [] : [{ type: "usage", usage }];
    }
    case "error": {
      const failure = classifyOpencodeFailure([event], 1, []) ?? makeFailure("fault", "opencode: error");
      return [{ type: "failure", failure }];
    }
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

const EDITORS: ReadonlySet<string> = new Set(["write", "edit", "patch", "apply_patch", "multiedit"]);
/** How the client's own refusals start. Errors of tools start differently. */
const REFUSALS = ["The user rejected permission", "The user has specified a rule which prevents"];

function callOf({ tool, state }: ToolPart): StreamToolCall {
  const input = state.input ?? {};
  const file = pathsIn(input, "filePath", "file_path", "path");
  const isRefused = REFUSALS.some((words) => state.error?.startsWith(words));
  return {
    name: tool,
    detail: describeInput(input),
    edits: EDITORS.has(tool) ? file : [],
    reads: tool === "read" ? file : [],
    outcome: isRefused ? "denied" : state.status === "completed" ? "done" : "failed",
  };
}

function usageOf(steps: readonly StepPart[]): Usage | null {
  if (steps.length === 0) return null;
  const read = sum(steps.map(({ tokens }) => tokens?.cache?.read));
  const written = sum(steps.map(({ tokens }) => tokens?.cache?.write));
  const input = sum(steps.map(({ tokens }) => tokens?.input)) + read + written;
  const outputs = steps.map(({ tokens }) => (tokens?.output ?? 0) + (tokens?.reasoning ?? 0));
  const costs = steps.flatMap(({ cost }) => cost ?? []);
  return {
    // the cost is 0 when opencode does not know the price
    costUsd: sum(costs) > 0 ? sum(costs) : null,
    inputTokens: input,
    outputTokens: sum(outputs),
    ...(read > 0 ? { cacheReadTokens: read } : {}),
    ...(written > 0 ? { cacheWriteTokens: written } : {}),
  };
}
