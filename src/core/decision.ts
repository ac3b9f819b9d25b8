/** The shapes of a decision that all kinds of loops share. */
import type { Changed, Decision, Effect, Outcome } from "./event.ts";
import type { Loop } from "./loop.ts";

export const UNCHANGED = { kind: "none" } as const;

/** The message is a sentence for the person. */
export function refuse(message: string): Decision<never> {
  return { kind: "refused", message };
}

export function change<L extends Loop>(
  loop: L,
  fields: Partial<L>,
  effects: readonly Effect[] = [],
  outcomes: readonly Outcome[] = [],
): Changed<L> {
  return { kind: "change", loop: { ...loop, ...fields, version: loop.version + 1 }, effects, outcomes };
}

/** A notice stays in the loop until it is delivered. */
export function keepNotice<L extends Loop>(decision: Decision<L>): Decision<L> {
  if (decision.kind !== "change") return decision;
  const notify = decision.effects.findLast((effect) => effect.kind === "notify");
  return notify === undefined ? decision : { ...decision, loop: { ...decision.loop, notice: notify.notice } };
}
