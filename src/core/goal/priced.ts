/** Adds the price of a finished turn to its receipt and to the goal's total, once. */

import type { Usage } from "../base.ts";
import { pricesOf, spend } from "../cost/usage.ts";
import { change, UNCHANGED } from "../decision.ts";
import type { GoalDecision } from "./change.ts";
import type { Goal, JobId, Receipt } from "./goal.ts";

export function decidePriced(goal: Goal, jobId: JobId, usage: Usage): GoalDecision {
  const receipt = goal.receipts.find((each) => each.jobId === jobId);
  if (receipt === undefined) return UNCHANGED;
  const isCounted = receipt.inputTokens !== null || receipt.outputTokens !== null;
  const isPriced = receipt.costUsd !== null;
  const tokens = isCounted ? null : { input: usage.inputTokens, output: usage.outputTokens };
  const costUsd = isPriced ? null : usage.costUsd;
  if (tokens === null && costUsd === null) return UNCHANGED;
  const priced: Receipt = {
    ...receipt,
    ...(tokens === null ? {} : { inputTokens: tokens.input, outputTokens: tokens.output }),
    ...(costUsd === null ? {} : { costUsd, ...pricesOf(usage) }),
  };
  const { spent } = goal;
  // a failed turn that cost no iteration was never counted as unpriced
  const isUnpriced = receipt.failure === null || receipt.charged;
  return change(goal, {
    receipts: goal.receipts.map((each) => (each === receipt ? priced : each)),
    spent: {
      ...spent,
      ...spend(spent, {
        costUsd,
        inputTokens: tokens?.input ?? null,
        outputTokens: tokens?.output ?? null,
        ...pricesOf(usage),
      }),
      unpriced: costUsd !== null && isUnpriced ? Math.max(0, spent.unpriced - 1) : spent.unpriced,
    },
  });
}
