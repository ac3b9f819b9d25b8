/** A codex conversation: its thread and the tokens used so far, because codex reports totals per thread. */
import type { Usage } from "../../core/event.ts";
import type { CodexTokens } from "./events.ts";

export interface CodexThread {
  readonly id: string;
  readonly used: CodexTokens;
}

const NOTHING: CodexTokens = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0 };
const FORM = /^([0-9a-f]{8}-[0-9a-f-]{27})(?::(\d{1,15}):(\d{1,15}):(\d{1,15}))?$/;

/** null: not a conversation of codex. */
export function parseThread(conversationId: string): CodexThread | null {
  const [, id, input = 0, cached = 0, output = 0] = FORM.exec(conversationId) ?? [];
  if (id === undefined) return null;
  const used = {
    input_tokens: Number(input),
    cached_input_tokens: Number(cached),
    output_tokens: Number(output),
  };
  return { id, used };
}

/** `tokens`: the totals now; null: unknown, so that this turn counts with the next one. */
export function renderThread(id: string, tokens: CodexTokens | null, before: CodexThread | null): string {
  const used = tokens ?? before?.used ?? NOTHING;
  return `${id}:${used.input_tokens}:${used.cached_input_tokens ?? 0}:${used.output_tokens}`;
}

/** The usage of this turn only. */
export function usageSince(before: CodexThread | null, tokens: CodexTokens, model: string | null): Usage {
  // a lower total means that the count started again
  const from = before === null || tokens.input_tokens < before.used.input_tokens ? NOTHING : before.used;
  const cacheReadTokens = Math.max(0, (tokens.cached_input_tokens ?? 0) - (from.cached_input_tokens ?? 0));
  return {
    costUsd: null,
    inputTokens: tokens.input_tokens - from.input_tokens,
    outputTokens: Math.max(0, tokens.output_tokens - from.output_tokens),
    ...(model === null ? {} : { model }),
    ...(cacheReadTokens > 0 ? { cacheReadTokens } : {}),
  };
}
