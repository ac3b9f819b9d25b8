/**
 * One model on loopback for every agent: it speaks the forms of all vendors and says what a test tells it to. The
 * words are those of scripted-model.ts (text, calls of tools, words that wait for the test, errors, silence); a
 * request of any form is told to scripts in the same words too, so that one script serves all agents.
 *
 * Only requests of a conversation use up replies. Agents also make small requests of their own that carry no tools
 * (titles, which model to take): these are answered with a word and kept apart.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Asked,
  type Message,
  type Reply,
  readAll,
  type Script,
  sendJson,
} from "../claude/scripted-model.ts";
import { until } from "../until.ts";
import type { Failed, Wire } from "./wire.ts";
import { geminiWire } from "./wire-gemini.ts";
import { messagesWire } from "./wire-messages.ts";
import { chatWire, responsesWire } from "./wire-openai.ts";

/** A request, with times of `performance.now()`. */
export interface Heard extends Asked {
  readonly wire: Wire["name"];
  /** As it came. */
  readonly json: object;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly askedAt: number;
  /** The agent hung up before the last byte. */
  readonly isCut: boolean;
}

export interface AgentModel {
  readonly url: string;
  /** Requests of conversations, in their order. */
  readonly heard: readonly Heard[];
  /** The agents' own small requests. */
  readonly helpers: readonly Heard[];
  /** Whatever else was asked of this address: `<method> <path>`. */
  readonly others: readonly string[];
  /** From the next request on these replies count, one after the other; the last one stays. */
  script(...scripts: readonly [Script, ...Script[]]): void;
  /** Waits until so many requests were made, and returns the last of these. */
  asks(count: number, withinMs?: number): Promise<Heard>;
  /** Waits for a request that has this in a message or in what a tool returned; returns the first. */
  hears(pattern: RegExp, withinMs?: number): Promise<Heard>;
  close(): Promise<void>;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const WIRES: readonly Wire[] = [messagesWire, chatWire, responsesWire, geminiWire];
/** An agent that starts on a busy machine takes its time. */
const WAIT_MS = 60_000;

export async function startModel(...scripts: readonly [Script, ...Script[]]): Promise<AgentModel> {
  let current = { scripts, used: 0 };
  const heard: Heard[] = [];
  const helpers: Heard[] = [];
  const others: string[] = [];
  const replyTo = (request: Heard): Reply => {
    if (request.tools.length === 0) {
      helpers.push(request);
      return { kind: "text", text: "ok" };
    }
    heard.push(request);
    const script = current.scripts[Math.min(current.used, current.scripts.length - 1)] ?? current.scripts[0];
    current.used += 1;
    return typeof script === "function" ? script(request) : script;
  };
  const server = createServer(async (request, response) => {
    const { pathname: path } = new URL(request.url ?? "/", "http://localhost");
    const text = await readAll(request);
    if (text === null) return;
    const wire = request.method === "POST" ? WIRES.find((one) => one.path.test(path)) : undefined;
    if (wire === undefined) {
      others.push(`${request.method} ${path}`);
      answerOther(response, path);
      return;
    }
    const json = JSON.parse(text) as object;
    const reply = replyTo(watch(response, wire, json, request.headers));
    if (reply.kind === "silence") return;
    await wire.answer(response, { path, json }, reply, `${heard.length}_${helpers.length}`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    helpers,
    others,
    script: (...next) => {
      current = { scripts: next, used: 0 };
    },
    asks: (count, withinMs = WAIT_MS) =>
      until(() => heard[count - 1], `the model was asked ${count} times`, withinMs),
    hears: (pattern, withinMs = WAIT_MS) =>
      until(() => heard.find((one) => contains(one, pattern)), `the model hears ${pattern}`, withinMs),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** What vendors say with this status. The headers keep agents from trying again, or from waiting before they do. */
export function refusal(status: number, headers: Readonly<Record<string, string>> = {}): Failed {
  const types: Readonly<Record<number, string>> = { 401: "authentication_error", 429: "rate_limit_error" };
  const type = types[status] ?? "api_error";
  return {
    ...{ kind: "error", status, type, message: `scripted refusal ${status}` },
    headers: { "x-should-retry": "false", "retry-after-ms": "1", ...headers },
  };
}

/** What tools returned since the last thing that a person said. */
export function resultsSince({ messages }: Asked): readonly string[] {
  return messages.slice(lastUserAt(messages) + 1).flatMap(({ results }) => results);
}

/** What a person said last. */
export function lastUserText({ messages }: Asked): string {
  return messages[lastUserAt(messages)]?.text ?? "";
}

function lastUserAt(messages: readonly Message[]): number {
  return messages.findLastIndex(
    ({ role, text, results }) => role === "user" && text !== "" && results.length === 0,
  );
}

function contains({ messages }: Asked, pattern: RegExp): boolean {
  return messages.some(({ text, results }) => [text, ...results].some((one) => pattern.test(one)));
}

function watch(
  response: ServerResponse,
  wire: Wire,
  json: object,
  headers: Readonly<Record<string, unknown>>,
): Heard {
  const request: Writable<Heard> = {
    ...wire.parse(json),
    wire: wire.name,
    json,
    headers,
    askedAt: performance.now(),
    isCut: false,
  };
  response.once("close", () => {
    request.isCut = !response.writableFinished;
  });
  return request;
}

function answerOther(response: ServerResponse, path: string): void {
  if (/count_tokens$/.test(path)) sendJson(response, 200, { input_tokens: 1_000 });
  else if (/:countTokens$/.test(path)) sendJson(response, 200, { totalTokens: 1_000 });
  else if (/\/models$/.test(path))
    sendJson(response, 200, { object: "list", data: [{ id: "scripted", object: "model" }] });
  else sendJson(response, 404, { error: { message: `no ${path} here` } });
}
