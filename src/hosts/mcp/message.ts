/** JSON-RPC 2.0 for MCP: one message per line or request, no batches. */
import * as z from "zod";

export type MessageId = string | number;

export type Message =
  | ({ readonly kind: "request" } & McpRequest)
  | { readonly kind: "notification"; readonly method: string; readonly params: Params }
  /** We send no requests, so an answer is ignored. */
  | { readonly kind: "answer" }
  /** `answer`: the error for the sender. */
  | { readonly kind: "wrong"; readonly answer: string };

export interface McpRequest {
  readonly id: MessageId;
  readonly method: string;
  readonly params: Params;
}

export type Params = Readonly<Record<string, unknown>>;

export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
const PARSE_ERROR = -32700;

const Id = z.union([z.string(), z.number()]);

const Envelope = z.object({
  jsonrpc: z.literal("2.0"),
  id: Id.optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
});

export function parseMessage(line: string): Message {
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch {
    return wrong(null, PARSE_ERROR, "The message is not JSON.");
  }
  if (Array.isArray(content))
    return wrong(null, INVALID_REQUEST, "Batches are not supported: send one message at a time.");
  const parsed = Envelope.safeParse(content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join(".") || "message";
    return wrong(idOf(content), INVALID_REQUEST, `${where}: ${issue?.message ?? "not valid"}`);
  }
  const { id, method, params = {} } = parsed.data;
  if (method === undefined)
    return isAnswer(content) ? { kind: "answer" } : wrong(id ?? null, INVALID_REQUEST, "method: missing");
  return id === undefined
    ? { kind: "notification", method, params }
    : { kind: "request", id, method, params };
}

export function renderResult(id: MessageId, result: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
}

export function renderRpcError(id: MessageId | null, code: number, message: string, data?: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } })}\n`;
}

export function renderNotification(method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`;
}

/** The id of the call that a `notifications/cancelled` names; null: none. */
export function cancelledId(params: Params): MessageId | null {
  return z.object({ requestId: Id }).safeParse(params).data?.requestId ?? null;
}

function wrong(id: MessageId | null, code: number, message: string): Message {
  return { kind: "wrong", answer: renderRpcError(id, code, message) };
}

/** The id of an invalid message, so that the sender can match the error. */
function idOf(content: unknown): MessageId | null {
  return z.object({ id: Id }).safeParse(content).data?.id ?? null;
}

function isAnswer(content: unknown): boolean {
  return typeof content === "object" && content !== null && ("result" in content || "error" in content);
}
