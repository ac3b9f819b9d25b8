/**
 * What an agent said and did in one turn, put together from its updates. Owns what has to be remembered of it; decides
 * nothing.
 *
 * 1. The answer is the last message: what was said after the last tool call, or, if that is nothing, before it.
 * 2. An edit counts when its call has succeeded; one that failed or was denied wrote nothing.
 * 3. A call of the engine's own tools is a report, and no work.
 * 4. Text is shown line by line, as lines are complete.
 */
import type { Activity, AgentEvent } from "../../ports/agent.ts";
import { ANSWER_CAP_BYTES } from "../process/launch.ts";
import { makeFailure } from "../process/reasons.ts";
import { readSessionFailure, Tokens, type ToolCall, type Update } from "./connection/messages.ts";
import { classOfSessionFailure } from "./failures/failure-class.ts";
import { denialOf, describeCall, isOwnTool, nameOfCall, shorten, touchedPaths } from "./tool-call.ts";

export interface TurnRecord {
  /** What of it is shown to people who watch. */
  add(update: Update): readonly AgentEvent[];
  /** What is left to show at the end. */
  flush(): readonly AgentEvent[];
  deny(call: ToolCall): void;
  /** All that is known of a call by now, together with `part`. */
  callWith(part: ToolCall): ToolCall;
  /** All that it was called so far: some say it more fully at first. */
  titlesOf(toolCallId: string): readonly string[];
  answer(): string;
  activity(): Activity;
  /** Is a tool at work? Then silence means nothing. */
  isBusy(): boolean;
  hasSaid(): boolean;
  /** Was any tool called, also one of the engine's own? */
  hasCalled(): boolean;
  /** The last piece of text as it came. */
  lastChunk(): string;
  /** What the conversation has cost by now, in USD; null: not told. */
  costTotal(): number | null;
  /** Of all requests whose tokens came with a message; null: none came. */
  chunkTokens(): Tokens | null;
  /** When the limit that was hit is over. */
  resetsAt(): number | null;
  /** The model that answered, where the agent tells it with the figures. */
  model(): string | null;
}

export function createRecord(projectDir: string): TurnRecord {
  const calls = new Map<string, ToolCall>();
  const titles = new Map<string, Set<string>>();
  const shown = new Set<string>();
  const denials = new Set<string>();
  let message = "";
  let messageId: string | null = null;
  /** The last message that was more than nothing. */
  let lastMessage = "";
  let unshown = "";
  let chunk = "";
  let said = false;
  let cost: number | null = null;
  let tokens: Tokens | null = null;
  let resets: number | null = null;
  let model: string | null = null;

  function endMessage(): readonly AgentEvent[] {
    if (message.trim() !== "") lastMessage = message;
    message = "";
    const rest = unshown.trim();
    unshown = "";
    return rest === "" ? [] : [{ type: "text", text: rest }];
  }

  function addText(text: string, id: string | null): readonly AgentEvent[] {
    const isNext = id !== null && messageId !== null && id !== messageId;
    const before = isNext ? endMessage() : [];
    messageId = id;
    if (text === "") return before;
    said ||= text.trim() !== "";
    chunk = text;
    // twice the cap, so that not every piece has to move all of it
    message = `${message}${text}`;
    if (message.length > 2 * ANSWER_CAP_BYTES) message = message.slice(-ANSWER_CAP_BYTES);
    const lines = `${unshown}${text}`.split("\n");
    unshown = lines.pop() ?? "";
    const whole = lines.filter((line) => line.trim() !== "");
    return [...before, ...whole.map((line): AgentEvent => ({ type: "text", text: line }))];
  }

  function addCall(part: ToolCall): readonly AgentEvent[] {
    const isNew = !calls.has(part.toolCallId);
    const before = isNew ? endMessage() : [];
    const wasDone = calls.get(part.toolCallId)?.status === "completed";
    const call = callWith(part);
    calls.set(part.toolCallId, call);
    const known = titles.get(part.toolCallId) ?? new Set();
    titles.set(part.toolCallId, known.add(call.title ?? ""));
    const events: AgentEvent[] = [...before];
    if (isTold(call) && !shown.has(part.toolCallId)) {
      shown.add(part.toolCallId);
      events.push({ type: "tool", name: nameOfCall(call), detail: describeCall(call, projectDir) });
    }
    if (call.status === "completed" && !wasDone)
      events.push(...editsOf(call, projectDir).map((path): AgentEvent => ({ type: "file", path })));
    return events;
  }

  function callWith(part: ToolCall): ToolCall {
    const known = calls.get(part.toolCallId);
    if (known === undefined) return part;
    const given = Object.entries(part).filter(([, value]) => value !== null && value !== undefined);
    return { ...known, ...Object.fromEntries(given) };
  }

  /** Calls of all tools but the engine's own. */
  function others(): readonly ToolCall[] {
    return [...calls.values()].filter((call) => !isOwnTool(call, titlesOf(call.toolCallId)));
  }

  function titlesOf(id: string): readonly string[] {
    return [...(titles.get(id) ?? [])];
  }

  return {
    add(update) {
      switch (update.sessionUpdate) {
        case "agent_message_chunk":
          tokens = addTokens(tokens, update._meta?.usage);
          return update.content?.type === "text"
            ? addText(update.content.text ?? "", update.messageId ?? null)
            : [];
        case "tool_call":
        case "tool_call_update":
          return addCall(update);
        case "usage_update":
          if (update.cost?.currency === "USD") cost = update.cost.amount;
          resets = resetOf(update._meta?.["_claude/rateLimit"]) ?? resets;
          model = textOf(update._meta?.["_claude/model"]) ?? model;
          return [];
        case "session_info_update":
          return warningOf(update._meta);
        case "agent_thought_chunk":
          return [];
      }
    },
    flush: () => {
      const rest = unshown.trim();
      unshown = "";
      return rest === "" ? [] : [{ type: "text", text: rest }];
    },
    deny(call) {
      denials.add(denialOf(call));
      // not all agents say what became of it
      calls.set(call.toolCallId, { ...call, status: "failed" });
    },
    callWith,
    titlesOf,
    answer: () => capped(message.trim() === "" ? lastMessage : message),
    activity: () => activityOf(others(), [...denials], projectDir),
    isBusy: () => [...calls.values()].some(({ status }) => status === "pending" || status === "in_progress"),
    hasSaid: () => said,
    hasCalled: () => [...calls.values()].some(isCall),
    lastChunk: () => chunk,
    costTotal: () => cost,
    chunkTokens: () => tokens,
    resetsAt: () => resets,
    model: () => model,
  };
}

/** Agents announce a call before they know what it is of. */
function isTold({ status, rawInput, locations }: ToolCall): boolean {
  if (status !== "pending") return true;
  // the folder that it works in is no news
  const hasInput = typeof rawInput === "object" && Object.keys(rawInput ?? {}).some((key) => key !== "cwd");
  return hasInput || (rawInput === undefined && (locations ?? []).length > 0);
}

function activityOf(calls: readonly ToolCall[], denials: readonly string[], projectDir: string): Activity {
  const edits = new Map<string, number>();
  const reads: string[] = [];
  for (const call of calls.filter(({ status }) => status === "completed")) {
    for (const path of editsOf(call, projectDir)) edits.set(path, (edits.get(path) ?? 0) + 1);
    if (call.kind === "read") reads.push(...touchedPaths(call).map((path) => shorten(path, projectDir)));
  }
  return { toolCalls: calls.filter(isCall).length, edits: Object.fromEntries(edits), reads, denials };
}

/** Some tell of plans and thoughts in the same way. */
function isCall({ kind }: ToolCall): boolean {
  return kind !== "think";
}

function editsOf(call: ToolCall, projectDir: string): readonly string[] {
  if (!["edit", "delete", "move"].includes(call.kind ?? "")) return [];
  return [...new Set(touchedPaths(call).map((path) => shorten(path, projectDir)))];
}

function addTokens(sum: Tokens | null, more: unknown): Tokens | null {
  const parsed = Tokens.safeParse(more);
  if (!parsed.success) return sum;
  if (sum === null) return parsed.data;
  const keys = Object.keys(Tokens.shape) as (keyof Tokens)[];
  return Object.fromEntries(keys.map((key) => [key, (sum[key] ?? 0) + (parsed.data[key] ?? 0)])) as Tokens;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function resetOf(limit: unknown): number | null {
  const { status, resetsAt } = (limit ?? {}) as { status?: unknown; resetsAt?: unknown };
  if (status !== "rejected" || typeof resetsAt !== "number" || resetsAt <= 0) return null;
  return Math.round(resetsAt < 1e11 ? resetsAt * 1000 : resetsAt);
}

/** The agent tries again by itself. */
function warningOf(meta: unknown): readonly AgentEvent[] {
  const failure = readSessionFailure(meta);
  if (failure?.severity !== "warning") return [];
  const type = classOfSessionFailure(failure);
  return [{ type: "failure", failure: makeFailure(type, failure.title ?? failure.category) }];
}

function capped(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= ANSWER_CAP_BYTES) return text;
  let from = bytes.length - ANSWER_CAP_BYTES;
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.toString("utf8", from);
}
