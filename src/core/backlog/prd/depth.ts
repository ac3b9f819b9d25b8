/**
 * How much effort a story gets (D7): its depth decides on the model and on the number of tokens its agents may write.
 * A budget that is nearly used lowers the depth.
 */
import type { Backlog } from "../backlog.ts";
import { DEPTHS, type Depth, type Story } from "../stories.ts";

/** Output tokens of a story, all attempts together. Input tokens come mostly from caches and do not count. */
const TOKENS: Readonly<Record<Depth, number>> = { quick: 8_000, standard: 20_000, thorough: 45_000 };

const ONE_DOWN_AT = 0.7;
const LEAST_AT = 0.9;

const USUAL_DEPTH: Depth = "standard";

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

/** A story that has used all its tokens is blocked; the run goes on. */
export function storyTokens(
  { id, depth }: Pick<Story, "id" | "depth">,
  { receipts }: Pick<Backlog, "receipts">,
): { readonly used: number; readonly limit: number } {
  const own = receipts.filter(({ story }) => story === id);
  const used = own.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  return { used, limit: TOKENS[depth ?? USUAL_DEPTH] };
}
