/** Shared by the readers of event streams: lines, HTTP statuses and tool calls. */
import * as z from "zod";
import type { Usage } from "../../core/event.ts";
import type { FailureClass } from "../../core/goal/goal.ts";
import type { Activity, AgentEvent } from "../../ports/agent.ts";
import { foldLine, shortenPath } from "../display.ts";
import { parseJson } from "../quietly.ts";

/** A value of another shape counts as missing: a newer client is understood as far as possible. */
export function lenient<T extends z.ZodType>(schema: T) {
  return schema.nullish().catch(null);
}

export const Text = lenient(z.string());
export const Count = lenient(z.number().nonnegative());
export const Input = lenient(z.record(z.string(), z.unknown()));

export function parseEvents<T>(schema: z.ZodType<T>, stream: string): readonly T[] {
  return objectLines(stream).flatMap((line) => parseEvent(schema, line) ?? []);
}

/** Real turns have far fewer events. Without a limit, 60 MB of short lines would take minutes. */
const MOST_LINES = 50_000;

/** The lines that start an object. Of a stream with too many of them: the first and the last ones. */
export function objectLines(stream: string): readonly string[] {
  const starts: number[] = stream.startsWith("{") ? [0] : [];
  let from = 0;
  while (starts.length < MOST_LINES && from !== -1) {
    from = stream.indexOf("\n{", from);
    if (from !== -1) starts.push(++from);
  }
  const last: number[] = [];
  for (let at = stream.length; from !== -1 && last.length < MOST_LINES; ) {
    at = stream.lastIndexOf("\n{", at - 1);
    if (at < from) break;
    last.push(at + 1);
  }
  return [...starts, ...last.reverse()].map((start) => {
    const end = stream.indexOf("\n", start);
    return stream.slice(start, end === -1 ? stream.length : end);
  });
}

export function parseEvent<T>(schema: z.ZodType<T>, line: string): T | null {
  return line.startsWith("{") ? (schema.safeParse(parseJson(line)).data ?? null) : null;
}

/** The class of a failed request to a model. null: no response. */
export function classOfHttpStatus(status: number | null): FailureClass {
  if (status === null) return "outage";
  if (status === 429) return "quota";
  if (status === 401 || status === 402 || status === 403) return "auth";
  if (status === 413) return "overflow";
  return status === 408 || status >= 500 ? "outage" : "fault";
}

/** The number that `pattern` captures, such as an HTTP status; null: no match. */
export function numberIn(pattern: RegExp, text: string): number | null {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

export interface StreamToolCall {
  readonly name: string;
  readonly detail: string;
  readonly edits?: readonly string[];
  readonly reads?: readonly string[];
  readonly outcome: "open" | "done" | "failed" | "denied";
}

/** An edit that failed or was denied does not count. */
export function activityOf(calls: readonly StreamToolCall[], projectDir: string): Activity {
  const done = calls.filter(({ outcome }) => outcome === "done");
  const edits: Record<string, number> = {};
  for (const path of done.flatMap((call) => call.edits ?? [])) {
    const name = shortenPath(path, projectDir);
    edits[name] = (edits[name] ?? 0) + 1;
  }
  const denied = calls.filter(({ outcome }) => outcome === "denied");
  return {
    toolCalls: calls.length,
    edits,
    reads: done.flatMap((call) => call.reads ?? []).map((path) => shortenPath(path, projectDir)),
    denials: [...new Set(denied.map(({ name }) => name))],
  };
}

export function showCall(call: StreamToolCall, projectDir: string): readonly AgentEvent[] {
  if (call.outcome === "denied") return [{ type: "permission", tool: call.name, answer: "denied" }];
  const files = (call.edits ?? []).map((path) => shortenPath(path, projectDir));
  const detail = foldLine(files[0] ?? shortenPath(call.reads?.[0] ?? call.detail, projectDir));
  return [
    { type: "tool", name: call.name, detail },
    ...files.map((path) => ({ type: "file", path }) as const),
  ];
}

export function showText(text: string | null | undefined): readonly AgentEvent[] {
  return text ? [{ type: "text", text }] : [];
}

export function showUsage(usage: Usage | null): readonly AgentEvent[] {
  return usage === null ? [] : [{ type: "usage", usage }];
}

/** The agent's names for its tools that write and read one file. */
export interface FileTools {
  readonly editors: readonly string[];
  readonly reader: string;
}

export function callWith(
  { editors, reader }: FileTools,
  name: string,
  input: Readonly<Record<string, unknown>>,
  outcome: StreamToolCall["outcome"],
): StreamToolCall {
  const path = textIn(input, "filePath", "file_path", "absolute_path", "path");
  const files = path === null ? [] : [path];
  return {
    name,
    detail: describeInput(input),
    edits: editors.includes(name) ? files : [],
    reads: name === reader ? files : [],
    outcome,
  };
}

/** The most informative arguments first. */
const TELLING = ["command", "cmd", "pattern", "url", "query", "description", "prompt"];

export function describeInput(input: unknown): string {
  return textIn(input, ...TELLING) ?? "";
}

/** The first of these fields that is a text; null: none. */
export function textIn(input: unknown, ...keys: readonly string[]): string | null {
  const fields = Object(input) as Readonly<Record<string, unknown>>;
  const texts = keys.map((key) => fields[key]).filter((value) => typeof value === "string");
  return texts.find((text) => text !== "") ?? null;
}

export function sum(numbers: readonly (number | null | undefined)[]): number {
  return numbers.reduce<number>((total, number) => total + (number ?? 0), 0);
}
