import type { Usage } from "../core/base.ts";
import { type Prices, priceOf } from "../core/cost/prices.ts";
import type { Agent, Turn, TurnControl, TurnEnd } from "../ports/agent.ts";

/** Adds a cost from the price tables when the agent reports tokens and a model but no cost. */
export function withPrices<A extends Agent>(agent: A, prices: Prices): A {
  return {
    ...agent,
    async run(turn, control) {
      return pricedEnd(await agent.run(turn, pricedControl(control, turn, prices)), turn, prices);
    },
    async reconcile(turn, control) {
      const fate = await agent.reconcile(turn, pricedControl(control, turn, prices));
      if (fate.kind === "ended") return { ...fate, end: pricedEnd(fate.end, turn, prices) };
      if (fate.kind !== "running") return fate;
      return { ...fate, end: fate.end.then((end) => pricedEnd(end, turn, prices)) };
    },
  };
}

function pricedControl(control: TurnControl, turn: Turn, prices: Prices): TurnControl {
  const { onEvent } = control;
  if (onEvent === undefined) return control;
  return {
    ...control,
    onEvent: (event) =>
      onEvent(
        event.type === "usage" ? { ...event, usage: pricedUsage(event.usage, prices, turn.model) } : event,
      ),
  };
}

function pricedEnd(end: TurnEnd, turn: Turn, prices: Prices): TurnEnd {
  if (end.kind === "cancelled" || end.usage === null) return end;
  return { ...end, usage: pricedUsage(end.usage, prices, turn.model) };
}

/** `otherwise`: the requested model, used when the usage names none. */
export function pricedUsage(usage: Usage, prices: Prices, otherwise?: string): Usage {
  const model = usage.model ?? otherwise;
  if (usage.costUsd !== null || model === undefined) return usage;
  const priced = priceOf(usage, model, prices);
  if (priced === null) return usage;
  return { ...usage, costUsd: priced.costUsd, costFrom: "prices", pricesDate: priced.from.date };
}
