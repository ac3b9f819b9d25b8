/**
 * What an agent said and did in one turn, collected from its updates. Decides nothing.
 *
 * 1. The answer is the last message: the text after the last tool call, or else the text before it.
 * 2. An edit counts when its call has succeeded.
 * 3. A call of the engine's own tools is a report, not work.
 * 4. Text is shown line by line, when a line is complete.
 */
import type { Activity, AgentEvent } from "../../ports/agent.ts";
import { foldLine, shortenPath } from "../display.ts";
import { ANSWER_CAP_BYTES } from "../process/launch.ts";
import { lastBytes } from "../process/lines.ts";
import { makeFailure } from "../process/reasons.ts";
import { activityOf, textIn } from "../stream/stream-events.ts";
import {
  addTokens,
  type Content,
  readSessionFailure,
  Tokens,
  type ToolCall,
  type Update,
} from "./connection/messages.ts";
import { classOfSessionFailure } from "./failures/failure-class.ts";
import { denialOf, describeCall, isOwnTool, nameOfCall, touchedPaths } from "./tool-call.ts";

export class AcpTurnRecord {
  hasSaid = false;
  /** The last piece of text. */
  lastChunk = "";
  /** The cost of the conversation so far, in USD; null: unknown. */
  costTotal: number | null = null;
  /** The tokens of all requests that were reported with a message; null: none. */
  chunkTokens: Tokens | null = null;
  /** When the limit resets; null: unknown. */
  resetsAt: number | null = null;
  /** The model that answered, if the agent reports it. */
  model: string | null = null;
  /** The agent's last notice of an error. */
  lastNotice: string | null = null;
  readonly #projectDir: string;
  readonly #calls = new Map<string, ToolCall>();
  readonly #titles = new Map<string, Set<string>>();
  readonly #shown = new Set<string>();
  readonly #denials = new Set<string>();
  readonly #permanent = new Set<string>();
  #message = "";
  #messageId: string | null = null;
  /** The last message that was not blank. */
  #lastMessage = "";
  #unshown = "";

  constructor(projectDir: string) {
    this.#projectDir = projectDir;
  }

  add(update: Update): readonly AgentEvent[] {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        this.#addTokens(update._meta?.usage);
        return this.#addText(textOf(update.content), update.messageId ?? null);
      case "tool_call":
      case "tool_call_update":
        return this.#addCall(update);
      case "usage_update":
        if (update.cost?.currency === "USD") this.costTotal = update.cost.amount;
        this.resetsAt = resetOf(update._meta?.["_claude/rateLimit"]) ?? this.resetsAt;
        this.model = textIn(update._meta, "_claude/model") ?? this.model;
        return [];
      case "session_info_update":
        return warningOf(update._meta);
      case "notice":
        return this.#addNotice(update);
      case "agent_thought_chunk":
      case "current_mode_update":
      case "config_option_update":
        return [];
    }
  }

  flush(): readonly AgentEvent[] {
    const rest = this.#unshown.trim();
    this.#unshown = "";
    return rest === "" ? [] : [{ type: "text", text: rest }];
  }

  deny(call: ToolCall): void {
    this.#denials.add(denialOf(call));
    // some agents do not report how a denied call ended
    this.#calls.set(call.toolCallId, { ...call, status: "failed" });
  }

  allowForever(call: ToolCall): void {
    this.#permanent.add(denialOf(call));
  }

  /** Everything known about a call, together with `part`. */
  callWith(part: ToolCall): ToolCall {
    const known = this.#calls.get(part.toolCallId);
    if (known === undefined) return part;
    const given = Object.entries(part).filter(([, value]) => value !== null && value !== undefined);
    return { ...known, ...Object.fromEntries(given) };
  }

  /** All titles of a call so far. Some agents give the full one first. */
  titlesOf(id: string): readonly string[] {
    return [...(this.#titles.get(id) ?? [])];
  }

  answer(): string {
    return lastBytes(this.#message.trim() === "" ? this.#lastMessage : this.#message, ANSWER_CAP_BYTES);
  }

  /** Without the engine's own tools. */
  activity(): Activity {
    const calls = [...this.#calls.values()]
      .filter((call) => isCall(call) && !isOwnTool(call, this.titlesOf(call.toolCallId)))
      .map((call) => ({
        name: nameOfCall(call),
        detail: "",
        edits: editsOf(call, this.#projectDir),
        reads: call.kind === "read" ? touchedPaths(call) : [],
        outcome: call.status === "completed" ? ("done" as const) : ("failed" as const),
      }));
    const permanent = this.#permanent.size === 0 ? {} : { permanent: [...this.#permanent] };
    return { ...activityOf(calls, this.#projectDir), denials: [...this.#denials], ...permanent };
  }

  /** Does a tool run? Then silence means nothing. */
  isBusy(): boolean {
    return [...this.#calls.values()].some(({ status }) => status === "pending" || status === "in_progress");
  }

  /** Was any tool called, including the engine's own? */
  hasCalled(): boolean {
    return [...this.#calls.values()].some(isCall);
  }

  #addTokens(usage: unknown): void {
    const { data: more } = Tokens.safeParse(usage);
    const sum = this.chunkTokens;
    if (more !== undefined) this.chunkTokens = sum === null ? more : addTokens(sum, more);
  }

  #addNotice({ severity, title, description }: Extract<Update, { sessionUpdate: "notice" }>) {
    if (severity !== "error" && severity !== "warning") return [];
    const text = [title, description].map((part) => foldLine(part ?? "")).filter((part) => part !== "");
    const reason = text.join(": ") || "the agent gives no reason";
    if (severity === "error") this.lastNotice = reason;
    return [{ type: "notice", severity, text: reason } as const];
  }

  #endMessage(): readonly AgentEvent[] {
    if (this.#message.trim() !== "") this.#lastMessage = this.#message;
    this.#message = "";
    return this.flush();
  }

  #addText(text: string, id: string | null): readonly AgentEvent[] {
    const isNext = id !== null && this.#messageId !== null && id !== this.#messageId;
    const before = isNext ? this.#endMessage() : [];
    this.#messageId = id;
    if (text === "") return before;
    this.hasSaid ||= text.trim() !== "";
    this.lastChunk = text;
    this.#message = `${this.#message}${text}`;
    // cut at twice the limit, so that not every chunk copies the whole message
    if (this.#message.length > 2 * ANSWER_CAP_BYTES) this.#message = this.#message.slice(-ANSWER_CAP_BYTES);
    const lines = `${this.#unshown}${text}`.split("\n");
    this.#unshown = lines.pop() ?? "";
    const whole = lines.filter((line) => line.trim() !== "");
    return [...before, ...whole.map((line): AgentEvent => ({ type: "text", text: line }))];
  }

  #addCall(part: ToolCall): readonly AgentEvent[] {
    const id = part.toolCallId;
    const earlier = this.#calls.get(id);
    const events: AgentEvent[] = earlier === undefined ? [...this.#endMessage()] : [];
    const call = this.callWith(part);
    this.#calls.set(id, call);
    this.#titles.set(id, (this.#titles.get(id) ?? new Set()).add(call.title ?? ""));
    if (isTold(call) && !this.#shown.has(id)) {
      this.#shown.add(id);
      events.push({ type: "tool", name: nameOfCall(call), detail: describeCall(call, this.#projectDir) });
    }
    if (call.status === "completed" && earlier?.status !== "completed")
      events.push(...editsOf(call, this.#projectDir).map((path): AgentEvent => ({ type: "file", path })));
    return events;
  }
}

/** A link is a Markdown link. Pictures and sound have no text. */
function textOf(content: Content): string {
  if (content?.type === "text") return content.text ?? "";
  const link = content?.type === "resource" ? content.resource : content;
  if (!["resource_link", "resource"].includes(content?.type ?? "") || !link?.uri) return "";
  return `\n[${foldLine(link.title || link.name || link.uri)}](${foldLine(link.uri)})\n`;
}

/** Agents announce a call before they know its arguments. */
function isTold({ status, rawInput, locations }: ToolCall): boolean {
  if (status !== "pending") return true;
  // the working directory alone says nothing
  const hasInput = typeof rawInput === "object" && Object.keys(rawInput ?? {}).some((key) => key !== "cwd");
  return hasInput || (rawInput === undefined && (locations ?? []).length > 0);
}

/** Some agents report plans and thoughts as calls. */
function isCall({ kind }: ToolCall): boolean {
  return kind !== "think";
}

function editsOf(call: ToolCall, projectDir: string): readonly string[] {
  if (!["edit", "delete", "move"].includes(call.kind ?? "")) return [];
  return [...new Set(touchedPaths(call).map((path) => shortenPath(path, projectDir)))];
}

function resetOf(limit: unknown): number | null {
  const { status, resetsAt } = (limit ?? {}) as { status?: unknown; resetsAt?: unknown };
  if (status !== "rejected" || typeof resetsAt !== "number" || resetsAt <= 0) return null;
  return Math.round(resetsAt < 1e11 ? resetsAt * 1000 : resetsAt);
}

/** A warning means that the agent retries by itself. */
function warningOf(meta: unknown): readonly AgentEvent[] {
  const failure = readSessionFailure(meta);
  if (failure?.severity !== "warning") return [];
  const type = classOfSessionFailure(failure);
  return [{ type: "failure", failure: makeFailure(type, failure.title ?? failure.category) }];
}
