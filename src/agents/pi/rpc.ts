import type { Usage } from "../../core/event.ts";
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import type { Agent, AgentEvent, Conversation, Turn } from "../../ports/agent.ts";
import { withInterpreter } from "../../system/find-program.ts";
import { foldLine } from "../display.ts";
import { type Finished, makeFailure } from "../process/reasons.ts";
import { createStreamAgent, type StreamAgentOptions, type StreamReading } from "../stream/stream-agent.ts";
import * as streams from "../stream/stream-events.ts";
import type { TurnPermissions } from "../stream/stream-permissions.ts";
import { driverArgv } from "./driver.ts";
import { PiEvent, type PiMessage } from "./events.ts";

/** pi, headless: `pi --mode rpc`, one process for each turn, controlled by driver.ts. */
export function createPiAgent(options: StreamAgentOptions): Agent {
  const { executable, env = process.env, projectDir } = options;
  return createStreamAgent(options, {
    name: "pi",
    argv: (turn, permissions) =>
      driverArgv(withInterpreter([executable, ...argumentsOf(turn, permissions)], env, projectDir)),
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
  const events = streams.parseEvents(PiEvent, stream);
  const messages = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
  const usage = usageOf(messages);
  const failure = failureIn(events);
  return {
    answer: textOf(messages.at(-1)),
    usage,
    conversation: conversationOf(events, usage, conversation),
    activity: streams.activityOf([...callsOf(events), ...questionsIn(events)], projectDir),
    failure,
    isOver: failure !== null || events.some((event) => event.type === "agent_end"),
  };
}

export function readPiLine(line: string, projectDir: string): readonly AgentEvent[] {
  const event = streams.parseEvent(PiEvent, line);
  switch (event?.type) {
    case "message_end":
      return [...streams.showText(textOf(event.message)), ...streams.showUsage(usageOf([event.message]))];
    case "tool_execution_start":
      return streams.showCall(
        streams.callWith(FILE_TOOLS, event.toolName, event.args ?? {}, "open"),
        projectDir,
      );
    case "extension_ui_request":
      return questionsIn([event]).flatMap((call) => streams.showCall(call, projectDir));
    case "auto_retry_start":
      return [{ type: "failure", failure: retryOf(event.errorMessage ?? "") }];
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

const FILE_TOOLS = { editors: ["write", "edit"], reader: "read" };

function callsOf(events: readonly PiEvent[]): readonly streams.StreamToolCall[] {
  const ends = new Map<string, streams.StreamToolCall["outcome"]>();
  for (const event of events)
    if (event.type === "tool_execution_end")
      ends.set(event.toolCallId ?? "", event.isError ? "failed" : "done");
  return events.flatMap((event) =>
    event.type === "tool_execution_start"
      ? [
          streams.callWith(
            FILE_TOOLS,
            event.toolName,
            event.args ?? {},
            ends.get(event.toolCallId ?? "") ?? "open",
          ),
        ]
      : [],
  );
}

const QUESTIONS: ReadonlySet<string> = new Set(["select", "confirm", "input", "editor"]);

/** Questions of an extension to a person, all refused. Its other requests only show something. */
function questionsIn(events: readonly PiEvent[]): readonly streams.StreamToolCall[] {
  return events.flatMap((event) =>
    event.type === "extension_ui_request" && QUESTIONS.has(event.method ?? "")
      ? [{ name: event.title || (event.method ?? "question"), detail: "", outcome: "denied" } as const]
      : [],
  );
}

function usageOf(messages: readonly PiMessage[]): Usage | null {
  const used = messages.flatMap(({ usage }) => usage ?? []);
  if (used.length === 0) return null;
  const read = streams.sum(used.map(({ cacheRead }) => cacheRead));
  const written = streams.sum(used.map(({ cacheWrite }) => cacheWrite));
  const cost = streams.sum(used.map((one) => one.cost?.total));
  const model = messages.findLast((message) => message.model)?.model;
  return {
    // the cost is 0 when pi does not know the price
    costUsd: cost > 0 ? cost : null,
    inputTokens: streams.sum(used.map(({ input }) => input)) + read + written,
    outputTokens: streams.sum(used.map(({ output }) => output)),
    ...(model ? { model } : {}),
    ...(read > 0 ? { cacheReadTokens: read } : {}),
    ...(written > 0 ? { cacheWriteTokens: written } : {}),
  };
}

/** API clients start their errors with the status: `429 …`, `500: {…}`. */
const STATUS = /^([45]\d\d)[ :]/;

/** pi exits with 0; its last message has `stopReason: "error"` (B13). null: no failure found. */
function failureIn(events: readonly PiEvent[]): Failure | null {
  const refused = events.find(
    (event) => event.type === "response" && event.id === "prompt" && !event.success,
  );
  // no model or no key: only a person can fix it
  if (refused?.type === "response")
    return makeFailure("auth", `pi: ${foldLine(refused.error ?? "the prompt was refused")}`);
  const last = events.findLast((event) => event.type === "message_end")?.message;
  if (last?.stopReason === "length") return makeFailure("timeout", "pi: the answer reached its length limit");
  if (last?.stopReason === "aborted") return makeFailure("fault", `pi: ${wordsOf(last)}`);
  return last?.stopReason === "error" ? makeFailure(classOf(last, events), `pi: ${wordsOf(last)}`) : null;
}

/** An API error after which pi retries by itself. */
function retryOf(errorMessage: string): Failure {
  const type = streams.classOfHttpStatus(streams.numberIn(STATUS, errorMessage));
  return makeFailure(type, `pi retries: ${foldLine(errorMessage)}`);
}

function classOf({ errorMessage }: PiMessage, events: readonly PiEvent[]): FailureClass {
  const last = events.findLast((event) => event.type === "compaction_end");
  if (last?.reason === "overflow" && last.errorMessage) return "overflow";
  const status = streams.numberIn(STATUS, errorMessage ?? "");
  if (status !== null) return streams.classOfHttpStatus(status);
  // pi retries only errors that may pass
  return events.some((event) => event.type === "auto_retry_end" && event.success === false)
    ? "outage"
    : "fault";
}

function wordsOf({ errorMessage, stopReason }: PiMessage): string {
  return foldLine(errorMessage || stopReason || "error");
}
