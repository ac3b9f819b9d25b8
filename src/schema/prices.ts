/**
 * Price tables: the one that is shipped (`prices.json` beside this file), the person's own
 * (`$XDG_CONFIG_HOME/loopwright/prices.json`) and that of a project (`.loop/prices.json`). Numbers only.
 */
import * as z from "zod";
import type { Price, PriceTable } from "../core/cost/prices.ts";
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
  /** The day on which these prices held. */
  date: z.iso.date({ error: "expected a day such as 2026-11-06" }),
  currency: z.literal("USD").default("USD"),
  /** In US dollars for a million tokens. */
  models: z.record(z.string().min(1).max(200), price),
});

export type PricesResult =
  | { readonly kind: "ok"; readonly table: PriceTable }
  | { readonly kind: "invalid"; readonly message: string };

export function parsePrices(content: unknown): PricesResult {
  const result = pricesSchema.safeParse(content);
  if (result.success) {
    const { date, models } = result.data;
    // the schema says `undefined` where the type says "left out"
    return { kind: "ok", table: { date, models: models as Readonly<Record<string, Price>> } };
  }
  const issue = result.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return { kind: "invalid", message: `${where}${issue?.message ?? "not valid"}` };
}

/** The table of this version; docs/prices.md says where each price is from. */
export const SHIPPED_PRICES: PriceTable = { date: shipped.date, models: shipped.models };
