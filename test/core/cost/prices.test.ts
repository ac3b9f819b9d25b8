import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Usage } from "../../../src/core/base.ts";
import {
  findPrices,
  type Price,
  type Prices,
  type PriceTable,
  priceOf,
} from "../../../src/core/cost/prices.ts";
import { spend, sumUsage } from "../../../src/core/cost/usage.ts";
import type { Spent } from "../../../src/core/goal/goal.ts";
import { parsePrices, SHIPPED_PRICES } from "../../../src/schema/prices.ts";

const table = (models: Record<string, Price>, date = "2026-11-01"): PriceTable => ({ date, models });
const prices = (more: Partial<Prices> = {}): Prices => ({
  own: null,
  project: null,
  shipped: table({ "gpt-5": { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 2 } }),
  ...more,
});
const used = (inputTokens: number | null, outputTokens: number | null, more: Partial<Usage> = {}): Usage => ({
  costUsd: null,
  inputTokens,
  outputTokens,
  ...more,
});

describe("tokens times a price table", () => {
  test.each([
    [used(1_000_000, 0), 1],
    [used(0, 1_000_000), 10],
    [used(1_000_000, 100_000), 2],
    [used(1_000_000, 0, { cacheReadTokens: 900_000 }), 0.19],
    [used(1_000_000, 0, { cacheReadTokens: 400_000, cacheWriteTokens: 500_000 }), 1.14],
    [used(1_000, 0, { cacheReadTokens: 5_000 }), 0.0001],
    [used(0, 0), 0],
  ])("E3 %o costs $%d", (usage, costUsd) => {
    const priced = priceOf(usage, "gpt-5", prices());
    expect(priced?.costUsd).toBeCloseTo(costUsd, 10);
    expect(priced?.from).toMatchObject({ table: "shipped", date: "2026-11-01", name: "gpt-5" });
  });

  test("E3 what a table leaves out costs what input costs", () => {
    const bare = prices({ shipped: table({ m: { input: 3, output: 1 } }) });
    const usage = used(1_000_000, 0, { cacheReadTokens: 500_000, cacheWriteTokens: 250_000 });
    expect(priceOf(usage, "m", bare)?.costUsd).toBeCloseTo(3);
  });

  test.each([
    ["no input", used(null, 10)],
    ["no output", used(10, null)],
    ["neither", used(null, null)],
    ["less than nothing", used(-1, 10)],
    ["no number", used(Number.NaN, 10)],
  ])("E3 with %s told the cost stays unknown", (_, usage) => {
    expect(priceOf(usage, "gpt-5", prices())).toBeNull();
  });

  test("E3 a model that no table knows stays without a price", () => {
    expect(priceOf(used(1, 1), "gpt-50", prices())).toBeNull();
    expect(priceOf(used(1, 1), "", prices())).toBeNull();
    expect(priceOf(used(1, 1), "gpt-5-fast", prices())).toBeNull();
  });
});

describe("the name of a model", () => {
  test.each([
    ["gpt-5.5", "gpt-5.5"],
    ["GPT-5.5", "gpt-5.5"],
    ["openai/gpt-5.5", "gpt-5.5"],
    ["openrouter/openai/gpt-5.5", "gpt-5.5"],
    ["gpt-5.5-2026-04-24", "gpt-5.5"],
    ["gpt-5.5/high", "gpt-5.5"],
    ["openai/gpt-5.5/xhigh", "gpt-5.5"],
    ["gpt-5.4-mini", "gpt-5.4-mini"],
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
    ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
    ["claude-haiku-4-5-latest", "claude-haiku-4-5"],
    ["models/gemini-2.5-pro", "gemini-2.5-pro"],
    ["gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"],
    ["gemini-3.1-pro-preview", "gemini-3.1-pro"],
    ["qwen/qwen3-coder-plus-2025-09-23", "qwen3-coder-plus"],
  ])("E3 %s is found in the shipped table as %s", (model, name) => {
    const [found] = findPrices(model, prices({ shipped: SHIPPED_PRICES }));
    expect(found?.name).toBe(name);
  });

  test("E3 a name comes before a pattern, and the longest pattern before the others", () => {
    const price = (input: number): Price => ({ input, output: 0 });
    const shipped = table({ "*": price(1), "gpt-*": price(2), "gpt-5*": price(3), "gpt-5.5": price(4) });
    const find = (model: string) => findPrices(model, prices({ shipped }))[0]?.price.input;
    expect(["gpt-5.5-2026-04-24", "gpt-5-mini", "gpt-4", "other"].map(find)).toEqual([4, 3, 2, 1]);
  });

  test("E3 a pattern matches as a whole, with anything where it has a star", () => {
    const piece = fc.stringMatching(/^[a-c]{0,3}$/);
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 2, maxLength: 4 }),
        fc.stringMatching(/^[a-c]{1,8}$/),
        (parts, name) => {
          const pattern = parts.join("*");
          const expected = new RegExp(`^${parts.join(".*")}$`).test(name);
          const found = findPrices(name, prices({ shipped: table({ [pattern]: { input: 1, output: 1 } }) }));
          expect(found.length).toBe(expected ? 1 : 0);
        },
      ),
    );
  });
});

describe("whose table counts", () => {
  const usage = used(1_000_000, 1_000_000);
  const flat = (amount: number, date?: string) => table({ "gpt-5": { input: amount, output: 0 } }, date);

  test("E3 the person's own has the first word, also a lower one", () => {
    const all = prices({ own: flat(0.5, "2026-11-15"), project: flat(100) });
    expect(priceOf(usage, "gpt-5", all)).toMatchObject({
      costUsd: 0.5,
      from: { table: "own", date: "2026-11-15" },
    });
  });

  test("E3 H2 a project can make a known model dearer and never cheaper", () => {
    expect(priceOf(usage, "gpt-5", prices({ project: flat(0) }))).toMatchObject({
      costUsd: 11,
      from: { table: "shipped" },
    });
    expect(priceOf(usage, "gpt-5", prices({ project: flat(50) }))).toMatchObject({
      costUsd: 50,
      from: { table: "project" },
    });
  });

  test("E3 H2 no table of a project lowers what a turn counts", () => {
    const price = fc.record({ input: fc.nat(100), output: fc.nat(100), cacheRead: fc.nat(100) });
    const tokens = fc.nat(10_000_000);
    fc.assert(
      fc.property(
        price,
        price,
        tokens,
        tokens,
        tokens,
        (shipped, project, input, output, cacheReadTokens) => {
          const turn = used(input, output, { cacheReadTokens });
          const before =
            priceOf(turn, "gpt-5", prices({ shipped: table({ "gpt-5": shipped }) }))?.costUsd ?? 0;
          const both = prices({ shipped: table({ "gpt-5": shipped }), project: table({ "*": project }) });
          expect(priceOf(turn, "gpt-5", both)?.costUsd).toBeGreaterThanOrEqual(before);
        },
      ),
    );
  });

  test("E3 a project adds models", () => {
    const project = table({ "house-model": { input: 2, output: 2 } });
    expect(priceOf(usage, "house-model", prices({ project }))).toMatchObject({ costUsd: 4 });
  });
});

describe("the form of a table", () => {
  test("E3 the shipped one has it", () => {
    const result = parsePrices({ date: SHIPPED_PRICES.date, currency: "USD", models: SHIPPED_PRICES.models });
    expect(result).toEqual({ kind: "ok", table: SHIPPED_PRICES });
    for (const { input, output, cacheRead = input } of Object.values(SHIPPED_PRICES.models)) {
      expect(output).toBeGreaterThan(input);
      expect(cacheRead).toBeLessThanOrEqual(input);
    }
  });

  test.each([
    [{}, /^date: /],
    [{ date: "yesterday", models: {} }, /^date: expected a day such as 2026-11-06$/],
    [{ date: "2026-02-31", models: {} }, /^date: expected a day/],
    [{ date: "2026-11-06", currency: "EUR", models: {} }, /^currency: /],
    [{ date: "2026-11-06" }, /^models: /],
    [{ date: "2026-11-06", models: { m: { input: 1 } } }, /^models\.m\.output: /],
    [{ date: "2026-11-06", models: { m: { input: -1, output: 1 } } }, /^models\.m\.input: /],
    [{ date: "2026-11-06", models: { m: { input: "1", output: 1 } } }, /^models\.m\.input: /],
    [{ date: "2026-11-06", models: { m: { input: 1, output: 1, out: 1 } } }, /^models\.m: .*out/],
    [{ date: "2026-11-06", models: {}, prices: {} }, /prices/],
    [[], /./],
    ["", /./],
  ])("E3 %j is refused with its place", (content, message) => {
    expect(parsePrices(content)).toMatchObject({ kind: "invalid", message: expect.stringMatching(message) });
  });
});

describe("what is added up", () => {
  const amount = fc.option(fc.nat(1_000_000), { nil: null });
  const anyUsage = fc.record(
    {
      costUsd: amount,
      inputTokens: amount,
      outputTokens: amount,
      costFrom: fc.constant("prices" as const),
      pricesDate: fc.constantFrom("2026-01-01", "2026-11-06"),
      model: fc.constantFrom("a", "b"),
      cacheReadTokens: fc.nat(1_000),
    },
    { requiredKeys: ["costUsd", "inputTokens", "outputTokens"] },
  );

  test("B12 two turns together are what they are one after the other, whichever came first", () => {
    fc.assert(
      fc.property(anyUsage, anyUsage, (a, b) => {
        expect(sumUsage(a, b)).toEqual(sumUsage(b, a));
        const nothing: Spent = { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 };
        const apart = spend({ ...nothing, ...spend(nothing, a) }, b);
        const together = spend(nothing, sumUsage(a, b));
        expect(together.costUsd).toBe(apart.costUsd);
        expect(together.tokens).toBe(apart.tokens);
        // of a sum that is in part by prices nobody knows which part
        expect(together.estimatedUsd ?? 0).toBeGreaterThanOrEqual(apart.estimatedUsd ?? 0);
      }),
    );
  });

  test("B12 what a table says counts against the budget, and is known to be from one", () => {
    const spent: Spent = { costUsd: 1, tokens: 10, timeMs: 0, unpriced: 0 };
    expect(spend(spent, used(1, 1, { costUsd: 0.5, costFrom: "prices" }))).toEqual({
      costUsd: 1.5,
      tokens: 12,
      estimatedUsd: 0.5,
    });
    expect(spend(spent, used(1, 1, { costUsd: 0.5 }))).toEqual({ costUsd: 1.5, tokens: 12 });
  });
});
