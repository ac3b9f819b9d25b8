/** What a run of Claude Code used. */
import type { Usage } from "../../core/event.ts";
import type { Conversation } from "../../ports/agent.ts";
import { sum } from "../stream/stream-events.ts";
import type { ResultEvent } from "./events.ts";

/** `results`: all results of the run, including `last`. `resumed`: the conversation that was resumed. */
export function readClaudeUsage(
  last: ResultEvent,
  results: readonly ResultEvent[],
  resumed: Conversation | null,
): Usage {
  const parts = results.map((result) => result.model_usage_since_last_result);
  const isComplete = parts.every((part) => part != null);
  const models = parts.flatMap((part) => Object.values(part ?? {}));
  const costUsd = costOf(last, isComplete ? sum(models.map((model) => model.costUSD)) : null, resumed);
  if (isComplete) {
    return {
      costUsd,
      inputTokens: sum(
        models.map((m) => m.inputTokens + m.cacheReadInputTokens + m.cacheCreationInputTokens),
      ),
      outputTokens: sum(models.map((model) => model.outputTokens)),
    };
  }
  const { usage } = last;
  const input = [usage?.input_tokens, usage?.cache_creation_input_tokens, usage?.cache_read_input_tokens];
  return {
    costUsd,
    inputTokens: usage?.input_tokens == null ? null : sum(input),
    outputTokens: usage?.output_tokens ?? null,
  };
}

/** The larger of two figures: the total may have started again at 0, the parts may miss an earlier run. */
function costOf(last: ResultEvent, parts: number | null, resumed: Conversation | null): number | null {
  const total = last.total_cost_usd ?? null;
  const before = resumed?.costUsd ?? null;
  if (total === null || before === null) return parts ?? total;
  const difference = total < before ? total : total - before;
  return Math.max(difference, parts ?? 0);
}
