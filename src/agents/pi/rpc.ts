import type { Usage } from "../../core/event.ts";
import type { Agent, AgentEvent, Conversation, Turn } from "../../ports/agent.ts";
import type { Finished } from "../process/reasons.ts";
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
import { driverArgv } from "./driver.ts";
import { type PiEvent, type PiMessage, parsePiEvent, parsePiStream } from "./events.ts";
import { classifyPiFailure, classifyPiRetry } from "./failure.ts";

/** pi, headless: `pi --mode rpc`, one process for each turn, controlled by driver.ts. */
export function createPiAgent(options: StreamAgentOptions): Agent {
  return createStreamAgent(options, {
    name: "pi",
    argv: (turn, permissions) => driverArgv([options.executable, ...argumentsOf(turn, permissions)]),
    read: readPi,
    readLine: readPiLine,
    owns: (id) => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id),
  });
}

function argumentsOf({ conversation, model }: Turn, permissions: TurnPermissions | null): readonly string[] {
  return [
    ...["--mode", "rpc"],
    ...(permissions === null ? [] : toolsOf(permissions)),
    ...(conversation === null ? [] : ["--session", conversation.id]),
    ...(model === undefined ? [] : ["--model", model]),
  ];
}

/** pi never asks: a tool is available or not. A turn that works has all tools that no rule removes. */
function toolsOf({ edits, isMute }: TurnPermissions): readonly string[] {
  if (edits && !isMute) return [];
  const tools = ["read,grep,find,ls", ...(isMute ? [] : ["bash"]), ...(edits ? ["edit,write"] : [])];
  return ["--tools", tools.join(",")];
}

export function readPi(
  { answer: stream }: Finished,
  { conversation }: Pick<Turn, "conversation">,
  projectDir: string,
): StreamReading {
  const events = parsePiStream(stream);
  const messages = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
  const usage = usageOf(messages);
  const failure = classifyPiFailure(events);
  return {
    answer: textOf(messages.at(-1)),
    usage,
    conversation: conversationOf(events, usage, conversation),
    activity: activityOf([...callsOf(events), ...questionsIn(events)], projectDir),
    failure,
    isOver: failure !== null || events.some((event) => event.type === "agent_end"),
  };
}

export function readPiLine(line: string, projectDir: string): readonly AgentEvent[] {
  const event = parsePiEvent(line);
  switch (event?.type) {
    case "message_end": {
      const text = textOf(event.message);
      const usage = usageOf([event.message]);
      return [
        ...(text === "" ? [] : [{ type: "text", text } as const]),
        ...(usage === null ? [] : [{ type: "usage", usage } as const]),
      ];
    }
    case "tool_execution_start":
      return showCall(callOf(event.toolName, event.args ?? {}, "open"), projectDir);
    case "extension_ui_request":
      return questionsIn([event]).flatMap((call) => showCall(call, projectDir));
    case "auto_retry_start":
      return [{ type: "failure", failure: classifyPiRetry(event.errorMessage ?? "") }];
    default:
      return [];
  }
}

/** A killed run reports no total: uses the previous total and the cost of its messages. */
function conversationOf(
  events: readonly PiEvent[],
  usage: Usage | null,
  resumed: Conversation | null,
): Conversation | null {
  const told = events.flatMap((event) => (event.type === "response" ? (event.data ?? []) : []));
  const id = told.find(({ sessionId }) => sessionId)?.sessionId ?? null;
  // pi stores nothing before the model's first answer
  const isKept = resumed !== null || events.some((event) => event.type === "message_end");
  if (id === null || !isKept) return null;
  const total = told.findLast(({ cost }) => cost != null)?.cost ?? null;
  const before = resumed === null ? 0 : resumed.costUsd;
  return { id, costUsd: total ?? (before === null ? null : before + (usage?.costUsd ?? 0)) };
}

function textOf(message: PiMessage | undefined): string {
  const texts = (message?.content ?? []).flatMap(({ type, text }) => (type === "text" && text ? [text] : []));
  return texts.join("\n");
}

function callsOf(events: readonly PiEvent[]): readonly StreamToolCall[] {
  const ends = new Map<string, StreamToolCall["outcome"]>();
  for (const event of events)
    if (event.type === "tool_execution_end")
      ends.set(event.toolCallId ?? "", event.isError ? "failed" : "done");
  return events.flatMap((event) =>
    event.type === "tool_execution_start"
      ? [callOf(event.toolName, event.args ?? {}, ends.get(event.toolCallId ?? "") ?? "open")]
      : [],
  );
}

function callOf(
  name: string,
  input: Readonly<Record<string, unknown>>,
  outcome: StreamToolCall["outcome"],
): StreamToolCall {
  const file = pathsIn(input, "path", "file_path");
  return {
    name,
    detail: describeInput(input),
    edits: name === "write" || name === "edit" ? file : [],
    reads: name === "read" ? file : [],
    outcome,
  };
}

const QUESTIONS: ReadonlySet<string> = new Set(["select", "confirm", "input", "editor"]);

/** Questions of an extension to a person, all refused. Its other requests only show something. */
function questionsIn(events: readonly PiEvent[]): readonly StreamToolCall[] {
  return events.flatMap((event) =>
    event.type === "extension_ui_request" && QUESTIONS.has(event.method ?? "")
      ? [{ name: event.title || (event.method ?? "question"), detail: "", outcome: "denied" } as const]
      : [],
  );
}

function usageOf(messages: readonly PiMessage[]): Usage | null {
  const used = messages.flatMap(({ usage }) => usage ?? []);
  if (used.length === 0) return null;
  const read = sum(used.map(({ cacheRead }) => cacheRead));
  const written = sum(used.map(({ cacheWrite }) => cacheWrite));
  const cost = sum(used.map((one) => one.cost?.total));
  const model = messages.findLast((message) => message.model)?.model;
  return {
    // the cost is 0 when pi does not know the price
    costUsd: cost > 0 ? cost : null,
    inputTokens: sum(used.map(({ input }) => input)) + read + written,
    outputTokens: sum(used.map(({ output }) => output)),
    ...(model ? { model } : {}),
    ...(read > 0 ? { cacheReadTokens: read } : {}),
    ...(written > 0 ? { cacheWriteTokens: written } : {}),
  };
}
