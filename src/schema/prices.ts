/**
 * Price tables: the shipped table (`prices.json` in this folder), the person's table
 * (`$XDG_CONFIG_HOME/loopwright/prices.json`) and the project's table (`.loop/prices.json`).
 */
import * as z from "zod";
import type { PriceTable } from "../core/cost/prices.ts";
import { type Invalid, renderFault } from "./fault.ts";
import shipped from "./prices.json" with { type: "json" };

const amount = z.number().min(0).max(100_000);

const price = z.strictObject({
  input: amount,
  output: amount,
  cacheRead: amount.optional(),
  cacheWrite: amount.optional(),
});

export const pricesSchema = z.strictObject({
  $schema: z.string().optional(),
  /** The day on which these prices were valid. */
  date: z.iso.date({ error: "expected a day such as 2026-11-06" }),
  currency: z.literal("USD").default("USD"),
  /** In US dollars for a million tokens. */
  models: z.record(z.string().min(1).max(200), price),
});

export function parsePrices(content: unknown): { readonly kind: "ok"; readonly table: PriceTable } | Invalid {
  const result = pricesSchema.safeParse(content);
  if (!result.success) return { kind: "invalid", message: renderFault(result.error) };
  const { date, models } = result.data;
  // the schema allows `undefined` where the type only allows a missing key
  return { kind: "ok", table: { date, models: models as PriceTable["models"] } };
}

/** The table of this version. docs/prices.md names the source of each price. */
export const SHIPPED_PRICES: PriceTable = { date: shipped.date, models: shipped.models };
