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
  const costUsd = receipt.costUsd === null ? usage.costUsd : null;
  if (isCounted && costUsd === null) return UNCHANGED;
  const tokens = isCounted ? {} : { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens };
  const prices = pricesOf(usage);
  const priced: Receipt = { ...receipt, ...tokens, ...(costUsd === null ? {} : { costUsd, ...prices }) };
  const added: Usage = { inputTokens: null, outputTokens: null, ...tokens, costUsd, ...prices };
  const { spent } = goal;
  // a failed turn that cost no iteration was never counted as unpriced
  const isUnpriced = costUsd !== null && (receipt.failure === null || receipt.charged);
  return change(goal, {
    receipts: goal.receipts.map((each) => (each === receipt ? priced : each)),
    spent: {
      ...spent,
      ...spend(spent, added),
      unpriced: isUnpriced ? Math.max(0, spent.unpriced - 1) : spent.unpriced,
    },
  });
}
