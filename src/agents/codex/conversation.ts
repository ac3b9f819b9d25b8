/** A codex conversation: its thread and the tokens used so far, because codex reports totals per thread. */
import type { Usage } from "../../core/event.ts";
import type { CodexTokens } from "./events.ts";

export interface CodexThread {
  readonly id: string;
  readonly used: Used;
}

interface Used {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

const NOTHING: Used = { input: 0, cached: 0, output: 0 };
const FORM = /^([0-9a-f]{8}-[0-9a-f-]{27})(?::(\d{1,15}):(\d{1,15}):(\d{1,15}))?$/;

/** null: not a conversation of codex. */
export function parseThread(conversationId: string): CodexThread | null {
  const [, id, input, cached, output] = FORM.exec(conversationId) ?? [];
  if (id === undefined) return null;
  if (input === undefined) return { id, used: NOTHING };
  return { id, used: { input: Number(input), cached: Number(cached), output: Number(output) } };
}

/** `tokens`: the totals now; null: unknown, so that this turn counts with the next one. */
export function renderThread(id: string, tokens: CodexTokens | null, before: CodexThread | null): string {
  const { input, cached, output } = tokens === null ? (before?.used ?? NOTHING) : usedOf(tokens);
  return `${id}:${input}:${cached}:${output}`;
}

/** The usage of this turn only. */
export function usageSince(before: CodexThread | null, tokens: CodexTokens, model: string | null): Usage {
  const now = usedOf(tokens);
  // a lower total means that the count started again
  const from = before === null || now.input < before.used.input ? NOTHING : before.used;
  const cacheReadTokens = Math.max(0, now.cached - from.cached);
  return {
    costUsd: null,
    inputTokens: now.input - from.input,
    outputTokens: Math.max(0, now.output - from.output),
    ...(model === null ? {} : { model }),
    ...(cacheReadTokens > 0 ? { cacheReadTokens } : {}),
  };
}

function usedOf(tokens: CodexTokens): Used {
  return {
    input: tokens.input_tokens,
    cached: tokens.cached_input_tokens ?? 0,
    output: tokens.output_tokens,
  };
}
