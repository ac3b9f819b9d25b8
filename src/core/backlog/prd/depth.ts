/**
 * How much thought a story gets (D7): its depth chooses the model, and how many tokens its agents may write. Pressure on
 * the budget of the run takes depth away.
 */
import type { Backlog } from "../backlog.ts";
import { DEPTHS, type Depth, type Story } from "../stories.ts";

/** Tokens that the agents of a story may write, all attempts together. What they read comes mostly from caches. */
const TOKENS: Readonly<Record<Depth, number>> = { quick: 8_000, standard: 20_000, thorough: 45_000 };

const ONE_DOWN_AT = 0.7;
const LEAST_AT = 0.9;

/** What a story without a depth of its own has. */
export const USUAL_DEPTH: Depth = "standard";

export function depthOf(
  { depth }: Pick<Story, "depth">,
  { spent, terms }: Pick<Backlog, "spent" | "terms">,
): Depth {
  const wanted = depth ?? USUAL_DEPTH;
  const pressure = terms.budgetUsd === 0 ? 1 : spent.costUsd / terms.budgetUsd;
  if (pressure >= LEAST_AT) return DEPTHS[0];
  const down = pressure >= ONE_DOWN_AT ? 1 : 0;
  return DEPTHS[Math.max(0, DEPTHS.indexOf(wanted) - down)] ?? wanted;
}

/** `used` of the tokens of a story, and how that is: one that has used them up is blocked, and not the run. */
export function storyTokens(
  story: Pick<Story, "id" | "depth">,
  { receipts }: Pick<Backlog, "receipts">,
): { readonly used: number; readonly limit: number; readonly state: "ok" | "warn" | "exhausted" } {
  const used = receipts
    .filter((receipt) => receipt.story === story.id)
    .reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  const limit = TOKENS[story.depth ?? USUAL_DEPTH];
  return { used, limit, state: used >= limit ? "exhausted" : used >= 0.8 * limit ? "warn" : "ok" };
}
