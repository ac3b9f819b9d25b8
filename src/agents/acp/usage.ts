/** What a turn used, by the meaning of the agent's numbers. */
import * as z from "zod";
import type { Usage } from "../../core/event.ts";
import { lenient } from "../stream/stream-events.ts";
import { addTokens, type PromptResult, Tokens } from "./connection/messages.ts";
import type { AcpProfile } from "./profiles.ts";
import type { AcpTurnRecord } from "./record.ts";

export interface SessionTotals {
  readonly costUsd: number | null;
  readonly tokens: Tokens | null;
}

const Quota = z.object({
  quota: z.object({
    token_count: lenient(
      z.object({ input_tokens: z.number().nonnegative(), output_tokens: z.number().nonnegative() }),
    ),
    model_usage: lenient(z.array(z.object({ model: z.string() }))),
  }),
});

/** `before`: the totals after the previous turn. `model`: the session's name for it. */
export function readAcpUsage(
  profile: AcpProfile,
  record: AcpTurnRecord,
  result: PromptResult | null,
  before: SessionTotals,
  model: string | null,
): { readonly usage: Usage | null; readonly totals: SessionTotals } {
  const quota = Quota.safeParse(result?._meta).data?.quota ?? null;
  const total = profile.tokens === "cumulative" ? (result?.usage ?? null) : null;
  const tokens = tokensOf(profile, record, result, before, quota?.token_count ?? null);
  const costTotal = profile.cost === "none" ? null : record.costTotal;
  const totals = { costUsd: costTotal ?? before.costUsd, tokens: total ?? before.tokens };
  const costUsd = costTotal === null ? null : grown(costTotal, before.costUsd ?? 0);
  if (tokens === null && costUsd === null) return { usage: null, totals };
  const named =
    quota?.model_usage?.at(-1)?.model ?? record.model ?? (model === null ? null : plainModel(model));
  const counts = tokens === null ? null : countTokens(tokens);
  return {
    usage: {
      costUsd,
      inputTokens: counts?.input ?? null,
      outputTokens: counts?.output ?? null,
      ...(named === null ? {} : { model: named }),
      ...(tokens?.cachedReadTokens ? { cacheReadTokens: tokens.cachedReadTokens } : {}),
      ...(tokens?.cachedWriteTokens ? { cacheWriteTokens: tokens.cachedWriteTokens } : {}),
    },
    totals,
  };
}

/** Removes what some agents add to the name: `$runtime|openai|name(openai)`, `name[high]`. */
function plainModel(model: string): string {
  return model.replace(/^.*\|/, "").replace(/\([^)]*\)$|\[[^\]]*\]$/, "");
}

function tokensOf(
  { tokens: source }: AcpProfile,
  record: AcpTurnRecord,
  result: PromptResult | null,
  before: SessionTotals,
  quota: { readonly input_tokens: number; readonly output_tokens: number } | null,
): Tokens | null {
  const told = result?.usage ?? null;
  switch (source) {
    case "turn":
      return told;
    case "last-step":
      return record.hasCalled() ? null : told;
    case "cumulative":
      return told === null ? null : since(told, before.tokens);
    case "chunks":
      return record.chunkTokens;
    case "quota":
      return quota === null
        ? null
        : Tokens.parse({ inputTokens: quota.input_tokens, outputTokens: quota.output_tokens });
  }
}

/** A total that is lower than before started again at 0. Rounded: 0.05 - 0.03 is 0.020000000000000004. */
function grown(total: number, before: number): number {
  return total < before ? total : Number((total - before).toFixed(12));
}

function since(total: Tokens, before: Tokens | null): Tokens {
  if (before === null || total.inputTokens < before.inputTokens) return total;
  return addTokens(total, before, -1);
}

/** The input includes cached tokens. Some agents count them in the input, others beside it. */
function countTokens(tokens: Tokens): { readonly input: number; readonly output: number } {
  const { inputTokens, outputTokens, totalTokens, thoughtTokens } = tokens;
  const cached = (tokens.cachedReadTokens ?? 0) + (tokens.cachedWriteTokens ?? 0);
  const total = totalTokens ?? inputTokens + outputTokens;
  const rest = total - inputTokens - outputTokens;
  const input = rest >= cached ? inputTokens + cached : inputTokens;
  const isThoughtBeside = total - input - outputTokens === (thoughtTokens ?? 0);
  return { input, output: outputTokens + (isThoughtBeside ? (thoughtTokens ?? 0) : 0) };
}
