import { describe, expect, test } from "vitest";
import { withPrices } from "../../src/agents/prices.ts";
import type { Usage } from "../../src/core/base.ts";
import type { Prices } from "../../src/core/cost/prices.ts";
import type { Agent, TurnEnd, TurnFate } from "../../src/ports/agent.ts";
import { makeControl, makeTurn, makeWatcher, plainEnd } from "../fixtures/agents/project.ts";

const PRICES: Prices = {
  own: null,
  project: null,
  shipped: { date: "2026-11-06", models: { known: { input: 2, output: 8, cacheRead: 0.2 } } },
};
const TOKENS: Usage = { costUsd: null, inputTokens: 1_000_000, outputTokens: 500_000 };
const PRICED = { costUsd: 6, costFrom: "prices", pricesDate: "2026-11-06" };

function agentWith(end: TurnEnd, fate: TurnFate = { kind: "never" }, during: Usage | null = null): Agent {
  return {
    name: "played",
    run: async (_, { onEvent }) => {
      if (during !== null) onEvent?.({ type: "usage", usage: during });
      onEvent?.({ type: "text", text: "hello" });
      return end;
    },
    reconcile: async () => fate,
    close: async () => {},
  };
}

const ending = (usage: Usage | null): TurnEnd => ({ ...plainEnd("done"), usage }) as TurnEnd;
const usageOf = (end: TurnEnd) => (end.kind === "cancelled" ? null : end.usage);

describe("an agent that tells tokens and no cost", () => {
  test.each([
    ["the model that the agent named", { ...TOKENS, model: "vendor/known-20260101" }, {}, PRICED],
    ["the model that was asked for", TOKENS, { model: "known" }, PRICED],
    ["the agent's word before the wish", { ...TOKENS, model: "known" }, { model: "dear" }, PRICED],
    ["tokens of a cache", { ...TOKENS, model: "known", cacheReadTokens: 1_000_000 }, {}, { costUsd: 4.2 }],
  ])("E3 is priced by %s", async (_, usage, turn, expected) => {
    const end = await withPrices(agentWith(ending(usage)), PRICES).run(makeTurn(turn), makeControl());
    expect(usageOf(end)).toMatchObject({ ...usage, ...expected });
  });

  test.each([
    ["its own figure", { ...TOKENS, costUsd: 0.5, model: "known" }],
    ["its own figure of nothing", { ...TOKENS, costUsd: 0, model: "known" }],
    ["a model that nobody knows", { ...TOKENS, model: "unheard-of" }],
    ["no model", TOKENS],
    ["no tokens", { costUsd: null, inputTokens: null, outputTokens: null, model: "known" }],
    ["no usage at all", null],
  ])("E3 B12 with %s it stays as it is", async (_, usage) => {
    const end = await withPrices(agentWith(ending(usage)), PRICES).run(makeTurn(), makeControl());
    expect(usageOf(end)).toEqual(usage);
  });

  test("E3 a turn that failed cost something too; one that was stopped tells nothing", async () => {
    const failure = { class: "fault", reason: "broken", resetsAt: null } as const;
    const failed = { ...ending({ ...TOKENS, model: "known" }), kind: "failed", failure } as TurnEnd;
    const run = (end: TurnEnd) => withPrices(agentWith(end), PRICES).run(makeTurn(), makeControl());
    expect(usageOf(await run(failed))).toMatchObject(PRICED);
    expect(await run({ kind: "cancelled" })).toEqual({ kind: "cancelled" });
  });

  test("E3 H1 is priced after a runner's death too", async () => {
    const end = ending({ ...TOKENS, model: "known" });
    const reconcile = (fate: TurnFate) =>
      withPrices(agentWith(end, fate), PRICES).reconcile(makeTurn(), makeControl());
    const priced = { usage: { ...TOKENS, ...PRICED } };
    expect(await reconcile({ kind: "ended", end })).toMatchObject({ kind: "ended", end: priced });
    const running = await reconcile({ kind: "running", process: null, end: Promise.resolve(end) });
    expect(running.kind === "running" && (await running.end)).toMatchObject(priced);
    for (const fate of [{ kind: "never" }, { kind: "lost", reason: "gone" }] as const)
      expect(await reconcile(fate)).toEqual(fate);
  });

  test("E3 what is shown while it runs is priced as well, and nothing else is touched", async () => {
    const control = makeWatcher();
    const agent = withPrices(
      agentWith(ending(null), { kind: "never" }, { ...TOKENS, model: "known" }),
      PRICES,
    );
    await agent.run(makeTurn(), control);
    expect(control.events).toEqual([
      { type: "usage", usage: { ...TOKENS, model: "known", ...PRICED } },
      { type: "text", text: "hello" },
    ]);
    expect(agent).toMatchObject({ name: "played", close: expect.any(Function) });
  });
});
