/** A form in which agents talk to their models: where its requests arrive, what they say, and how it is answered. */
import type { ServerResponse } from "node:http";
import { type Answer, type Asked, type Call, type Reply, TOKENS } from "../claude/scripted-model.ts";

export interface Wire {
  readonly name: "messages" | "chat" | "responses" | "gemini";
  /** Of the path, without a query. */
  readonly path: RegExp;
  parse(json: object): Asked;
  /** Errors are answered as this vendor does. */
  answer(response: ServerResponse, request: Request, reply: Said, id: string): Promise<void>;
}

export interface Request {
  readonly path: string;
  readonly json: object;
}

/** What is answered at all. */
export type Said = Exclude<Reply, { kind: "silence" }>;
export type Failed = Extract<Reply, { kind: "error" }>;

/** The text of an answer, word by word as the script lets it go. */
export async function* wordsOf(reply: Answer): AsyncIterable<string> {
  if (reply.kind === "slow") yield* reply.words();
  else if (reply.kind !== "tool" && reply.text !== undefined) yield* reply.text.match(/\S+\s*/g) ?? [];
}

export function textIn(reply: Answer): string {
  return reply.kind === "tool" ? "" : (reply.text ?? "");
}

export function callsIn(reply: Answer): readonly Call[] {
  if (reply.kind === "text") return [];
  return reply.kind === "tool" ? [reply] : reply.calls;
}

export function tokensIn(reply: Answer): { readonly input: number; readonly output: number } {
  const [input, output] = reply.tokens ?? TOKENS;
  return { input, output };
}

/** Opens a stream of events; what is sent after the client hung up is lost, as it is anywhere. */
export function openStream(response: ServerResponse): (data: object | string, event?: string) => void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  return (data, event) => {
    if (response.destroyed) return;
    const text = typeof data === "string" ? data : JSON.stringify(data);
    response.write(`${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`);
  };
}

/** All the text below: vendors nest it in blocks, parts and outputs. */
export function allText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(allText).filter(Boolean).join("\n");
  if (typeof content !== "object" || content === null) return "";
  const { text, content: inner, output } = content as Record<string, unknown>;
  return allText(text ?? inner ?? output ?? "");
}
