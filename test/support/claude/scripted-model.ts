/**
 * A Messages API on loopback that says what a test tells it to. Enough of the protocol for Claude Code: streamed and
 * plain answers, calls of tools, words that wait for the test, errors with a status and headers, and a request that
 * is never answered. What was asked is kept whole, with the times of question and answer.
 *
 * Only requests of a conversation use up replies. The client also makes small requests of its own that carry no
 * tools (titles, summaries of what it did): these are answered with a word and kept apart.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "../until.ts";

export type Reply =
  | { readonly kind: "text"; readonly text: string; readonly tokens?: Tokens }
  | ({ readonly kind: "tool"; readonly tokens?: Tokens } & Call)
  | {
      /** Calls that are made at once, after a text if there is one. */
      readonly kind: "calls";
      readonly text?: string;
      readonly calls: readonly Call[];
      readonly tokens?: Tokens;
    }
  | SlowReply
  | {
      readonly kind: "error";
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "silence" };

export interface Call {
  readonly name: string;
  readonly input: object;
}

/** A text whose words come when the test lets them, and calls after the last of them. Made by `slow`. */
export interface SlowReply {
  readonly kind: "slow";
  readonly text: string;
  readonly calls: readonly Call[];
  readonly tokens?: Tokens;
  words(): AsyncIterable<string>;
  /** Lets so many more words go; without a number all of them. */
  release(words?: number): void;
}

/** What an answer is said to have used, in and out. */
export type Tokens = readonly [number, number];

/** A reply, or how it follows from what was asked. */
export type Script = Reply | ((asked: Asked) => Reply);

export interface Asked {
  readonly system: string;
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[];
  readonly messages: readonly Message[];
}

export interface Message {
  /** "user", "assistant", or "system" for what the client adds by itself. */
  readonly role: string;
  /** All of its text, `<system-reminder>` parts too; calls of tools and their results have none. */
  readonly text: string;
  /** What tools that were called returned. */
  readonly results: readonly string[];
}

/** A request, with times of `performance.now()`. */
export interface Body extends Asked {
  /** As it came. */
  readonly json: MessagesRequest;
  readonly askedAt: number;
  /** When the last byte of the answer was handed over; null: not yet, or never. */
  readonly answeredAt: number | null;
  /** The client hung up before the last byte. */
  readonly isCut: boolean;
}

export interface ScriptedModel {
  readonly url: string;
  /** The text of the last user message of every request so far. */
  readonly prompts: readonly string[];
  readonly bodies: readonly Body[];
  /** The same as `bodies`, as scripts see them. */
  readonly asked: readonly Asked[];
  /** The client's own small requests. */
  readonly helpers: readonly Body[];
  /** From the next request on these replies count, and no others. */
  script(...scripts: readonly [Script, ...Script[]]): void;
  /** Waits until so many requests were made, and returns the last of these. */
  asks(count: number, withinMs?: number): Promise<Body>;
  /** Waits for a request that has this in a message; returns the first. */
  hears(pattern: RegExp, withinMs?: number): Promise<Body>;
  close(): Promise<void>;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: Content;
}

type Content = string | readonly Block[];

export interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly system?: Content;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: Content }[];
}

export type Answer = Exclude<Reply, { kind: "error" | "silence" }>;
type Part =
  | { readonly type: "text"; readonly text: string }
  | ({ readonly type: "tool_use"; id: string } & Call);
type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export const TOKENS: Tokens = [1_000, 50];
/** A client that starts on a busy machine takes its time. */
const WAIT_MS = 40_000;

/** One reply after the other; the last one stays. */
export async function startScriptedModel(...scripts: readonly [Script, ...Script[]]): Promise<ScriptedModel> {
  let current: { readonly scripts: readonly [Script, ...Script[]]; used: number } = { scripts, used: 0 };
  const prompts: string[] = [];
  const bodies: Body[] = [];
  const helpers: Body[] = [];
  const replyTo = (body: Body): Reply => {
    if (body.tools.length === 0) {
      helpers.push(body);
      return { kind: "text", text: "ok" };
    }
    bodies.push(body);
    prompts.push(body.messages.findLast(({ role }) => role === "user")?.text ?? "");
    const script = current.scripts[Math.min(current.used, current.scripts.length - 1)] ?? current.scripts[0];
    current.used += 1;
    return typeof script === "function" ? script(body) : script;
  };
  const server = createServer(async (request, response) => {
    const askedAt = performance.now();
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const text = await readAll(request);
    if (text === null) return;
    if (request.method !== "POST" || pathname !== "/v1/messages") {
      sendJson(response, 404, { type: "error", error: { type: "not_found_error", message: pathname } });
      return;
    }
    const body = watch(response, JSON.parse(text) as MessagesRequest, askedAt);
    const reply = replyTo(body);
    await answer(response, body.json, reply, `${bodies.length}_${helpers.length}`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    prompts,
    bodies,
    asked: bodies,
    helpers,
    script: (...next) => {
      current = { scripts: next, used: 0 };
    },
    asks: (count, withinMs = WAIT_MS) =>
      until(() => bodies[count - 1], `the model was asked ${count} times`, withinMs),
    hears: (pattern, withinMs = WAIT_MS) =>
      until(
        () => bodies.find(({ messages }) => messages.some(({ text }) => pattern.test(text))),
        `the model hears ${pattern}`,
        withinMs,
      ),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/**
 * So many words come at once, the others as they are released. A terminal shows whole lines only: where a test looks
 * at the screen, its words end with line ends.
 */
export function slow(text: string, { words = 1, calls = [] as readonly Call[] } = {}): SlowReply {
  let allowed = words;
  let waiting: (() => void)[] = [];
  return {
    kind: "slow",
    text,
    calls,
    async *words() {
      for (const [index, word] of (text.match(/\S+\s*/g) ?? []).entries()) {
        while (index >= allowed) await new Promise<void>((go) => waiting.push(go));
        yield word;
      }
    },
    release(more = Number.POSITIVE_INFINITY) {
      allowed += more;
      const released = waiting;
      waiting = [];
      for (const go of released) go();
    },
  };
}

function watch(response: ServerResponse, json: MessagesRequest, askedAt: number): Body {
  const body: Writable<Body> = {
    system: textOf(json.system ?? ""),
    tools: (json.tools ?? []).map(({ name }) => name),
    messages: json.messages.map(({ role, content }) => ({
      role,
      text: textOf(content),
      results: resultsOf(content),
    })),
    json,
    askedAt,
    answeredAt: null,
    isCut: false,
  };
  response.once("finish", () => {
    body.answeredAt = performance.now();
  });
  response.once("close", () => {
    body.isCut = !response.writableFinished;
  });
  return body;
}

/** Also for models that speak more than this protocol: see agents/model.ts. */
export async function answer(
  response: ServerResponse,
  request: Pick<MessagesRequest, "model" | "stream">,
  reply: Reply,
  id: string,
): Promise<void> {
  if (reply.kind === "silence") return;
  if (reply.kind === "error") {
    const { status, type, message, headers } = reply;
    sendJson(response, status, { type: "error", error: { type, message } }, headers);
    return;
  }
  const parts = partsOf(reply, id);
  const usage = usageOf(reply.tokens ?? TOKENS);
  const isCalling = parts.some(({ type }) => type === "tool_use");
  const stop = { stop_reason: isCalling ? "tool_use" : "end_turn", stop_sequence: null };
  const message = { id: `msg_${id}`, type: "message", role: "assistant", model: request.model };
  if (request.stream !== true) {
    sendJson(response, 200, { ...message, ...stop, content: parts, usage });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, data: object): void => {
    if (!response.destroyed) response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null };
  send("message_start", { message: { ...begun, usage: { ...usage, output_tokens: 1 } } });
  for (const [index, part] of parts.entries()) {
    const empty = part.type === "text" ? { text: "" } : { input: {} };
    send("content_block_start", { index, content_block: { ...part, ...empty } });
    for await (const delta of deltasOf(part, reply)) send("content_block_delta", { index, delta });
    send("content_block_stop", { index });
  }
  send("message_delta", { delta: stop, usage });
  send("message_stop", {});
  response.end();
}

function partsOf(reply: Answer, id: string): readonly Part[] {
  const calls = reply.kind === "tool" ? [reply] : reply.kind === "text" ? [] : reply.calls;
  const text = reply.kind === "tool" ? undefined : reply.text;
  return [
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ name, input }, n) => ({
      type: "tool_use" as const,
      id: `toolu_${id}_${n}`,
      name,
      input,
    })),
  ];
}

async function* deltasOf(part: Part, reply: Answer): AsyncIterable<object> {
  if (part.type === "tool_use") yield { type: "input_json_delta", partial_json: JSON.stringify(part.input) };
  else if (reply.kind !== "slow") yield { type: "text_delta", text: part.text };
  else for await (const text of reply.words()) yield { type: "text_delta", text };
}

function usageOf([input_tokens, output_tokens]: Tokens): object {
  return { input_tokens, output_tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
}

export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map((block) => block.text ?? "").join("\n");
}

export function resultsOf(content: Content): readonly string[] {
  if (typeof content === "string") return [];
  return content.flatMap((block) => (block.type === "tool_result" ? [textOf(block.content ?? "")] : []));
}

/** Null: the client hung up first. */
export function readAll(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  return new Promise((done) => {
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => done(Buffer.concat(chunks).toString("utf8")));
    request.on("error", () => done(null));
  });
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
