import { join } from "node:path";
import type { Failure, FailureClass } from "../../core/goal/goal.ts";
import type { Agent, AgentEvent, Turn } from "../../ports/agent.ts";
import { writeAtomic } from "../../system/files.ts";
import { foldLine } from "../display.ts";
import { type Finished, makeFailure } from "../process/reasons.ts";
import { runFolder } from "../process/run-folder.ts";
import { parseJson } from "../quietly.ts";
import { createStreamAgent, type StreamAgentOptions, type StreamReading } from "../stream/stream-agent.ts";
import * as streams from "../stream/stream-events.ts";
import type { TurnPermissions } from "../stream/stream-permissions.ts";
import { parseThread, renderThread, usageSince } from "./conversation.ts";
import { CodexEvent, type CodexItem } from "./events.ts";
import { type Rollout, readRollout } from "./rollout.ts";

/** Codex, headless: `codex exec --json`, with the prompt on stdin. */
export function createCodexAgent(options: StreamAgentOptions): Agent {
  const env = options.env ?? process.env;
  return createStreamAgent(options, {
    name: "codex",
    argv: (turn, permissions) => [options.executable, ...argumentsOf(turn, permissions, options.projectDir)],
    read: (finished, turn, projectDir) => readCodex(finished, turn, projectDir, env),
    readLine: readCodexLine,
    owns: (id) => parseThread(id) !== null,
  });
}

function argumentsOf(turn: Turn, permissions: TurnPermissions | null, projectDir: string): readonly string[] {
  const { conversation, model, answerSchema } = turn;
  const thread = conversation === null ? null : parseThread(conversation.id);
  // the sandbox replaces permissions: commands may write to the project, or to nothing
  const sandbox = permissions?.edits ? "workspace-write" : "read-only";
  return [
    ...["exec", ...(thread === null ? [] : ["resume"]), "--json", "--skip-git-repo-check"],
    // `resume` has no --sandbox
    ...(permissions === null ? [] : ["-c", `sandbox_mode="${sandbox}"`]),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(answerSchema === undefined ? [] : ["--output-schema", writeSchema(answerSchema, turn, projectDir)]),
    ...(thread === null ? [] : [thread.id]),
    "-",
  ];
}

function writeSchema(schema: object, turn: Turn, projectDir: string): string {
  const path = join(runFolder(projectDir, turn), "answer-schema.json");
  writeAtomic(path, JSON.stringify(schema), false);
  return path;
}

export function readCodex(
  { answer: stream, stderr }: Finished,
  { conversation, model }: Pick<Turn, "conversation" | "model">,
  projectDir: string,
  env: NodeJS.ProcessEnv,
): StreamReading {
  const events = streams.parseEvents(CodexEvent, stream);
  const started = events.find((event) => event.type === "thread.started");
  const completed = events.findLast((event) => event.type === "turn.completed");
  const failed = events.findLast((event) => event.type === "turn.failed");
  const before = conversation === null ? null : parseThread(conversation.id);
  const rollout = started === undefined ? null : readRollout(started.thread_id, env);
  const tokens = completed?.usage ?? (failed === undefined ? null : rollout?.tokens) ?? null;
  // codex reads files with shell commands, so the list of read files is unknown
  const { reads: _, ...activity } = streams.activityOf(
    [...callsOf(events), ...refusalsIn(stderr)],
    projectDir,
  );
  const items = events.flatMap((event) => (event.type === "item.completed" ? [event.item] : []));
  return {
    answer: items.findLast(({ type, text }) => type === "agent_message" && text)?.text ?? "",
    usage: tokens === null ? null : usageSince(before, tokens, rollout?.model ?? model ?? null),
    conversation:
      started === undefined ? null : { id: renderThread(started.thread_id, tokens, before), costUsd: null },
    activity,
    failure: failed === undefined ? null : failureOf(failed.error.message, rollout),
    isOver: completed !== undefined || failed !== undefined,
  };
}

export function readCodexLine(line: string, projectDir: string): readonly AgentEvent[] {
  const event = streams.parseEvent(CodexEvent, line);
  if (event?.type === "item.completed" && event.item.type === "agent_message")
    return streams.showText(event.item.text);
  const isDeclined = event?.type === "item.completed" && event.item.status === "declined";
  if (event?.type === "item.started" || isDeclined)
    return callOf(event.item).flatMap((call) => streams.showCall(call, projectDir));
  if (event?.type === "error") return [{ type: "failure", failure: failureOf(event.message, null) }];
  return [];
}

/** The last event of an item is valid. */
function callsOf(events: readonly CodexEvent[]): readonly streams.StreamToolCall[] {
  const items = new Map<string, CodexItem>();
  for (const event of events)
    if (event.type === "item.started" || event.type === "item.completed")
      items.set(event.item.id ?? `${items.size}`, event.item);
  return [...items.values()].flatMap(callOf);
}

const OUTCOMES: Readonly<Record<string, streams.StreamToolCall["outcome"]>> = {
  completed: "done",
  failed: "failed",
  declined: "denied",
};

function callOf(item: CodexItem): readonly streams.StreamToolCall[] {
  const outcome = OUTCOMES[item.status ?? ""] ?? "open";
  switch (item.type) {
    case "command_execution":
      return [{ name: "shell", detail: item.command ?? "", outcome }];
    case "file_change":
      return [
        { name: "apply_patch", detail: "", edits: (item.changes ?? []).map(({ path }) => path), outcome },
      ];
    case "mcp_tool_call":
    case "collab_tool_call":
      return [{ name: [item.server, item.tool].filter(Boolean).join(".") || item.type, detail: "", outcome }];
    case "web_search":
      return [{ name: "web_search", detail: item.query ?? "", outcome }];
    default:
      return [];
  }
}

/** A refused request to leave the sandbox has no event. Only the client's log has it. */
function refusalsIn(stderr: string): readonly streams.StreamToolCall[] {
  const refused = stderr.match(/ ERROR codex_core::tools::router: error=approval policy is /g) ?? [];
  return refused.map(() => ({ name: "shell", detail: "outside the sandbox", outcome: "denied" }));
}

/** Kinds that decide the class. For all other kinds the HTTP status decides. */
const KINDS: ReadonlyMap<string, FailureClass> = new Map([
  ["usage_limit_exceeded", "quota"],
  ["context_window_exceeded", "overflow"],
  ["session_budget_exceeded", "timeout"],
  ["server_overloaded", "outage"],
  ["internal_server_error", "outage"],
  ["unauthorized", "auth"],
  ["sandbox_error", "denied"],
]);

/** Two errors of codex start with a status. */
const STATUS = /^(?:unexpected status |exceeded retry limit, last status: )(\d{3})\b/;

const OF_CONNECTION: ReadonlySet<string> = new Set([
  "http_connection_failed",
  "response_stream_connection_failed",
  "response_stream_disconnected",
  "response_too_many_failed_attempts",
]);

/** From the recorded kind, or from the codes in the printed error (B13). `rollout` null: codex recorded nothing. */
function failureOf(message: string, rollout: Rollout | null): Failure {
  const type = classOf(message, rollout?.error ?? null);
  const resetsAt = type === "quota" ? (rollout?.resetsAt ?? null) : null;
  return makeFailure(type, `codex: ${foldLine(message)}`, resetsAt);
}

function classOf(message: string, error: Rollout["error"]): FailureClass {
  const known = KINDS.get(error?.kind ?? "");
  if (known !== undefined) return known;
  const status = error?.status ?? streams.numberIn(STATUS, message);
  if (status !== null) return streams.classOfHttpStatus(status);
  if (OF_CONNECTION.has(error?.kind ?? "")) return "outage";
  // for an invalid request the message is the body of the response
  const body = parseJson(message) as { error?: { code?: unknown } } | null;
  return body?.error?.code === "context_length_exceeded" ? "overflow" : "fault";
}
