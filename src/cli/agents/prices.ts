/**
 * `loop prices [model]`: shows the token prices for agents that report tokens but no cost.
 *
 * JSON: `{ model, prices: [{ name, table: "own" | "shipped" | "project", date, input, output, cacheRead, cacheWrite }] }`,
 * in US dollars per million tokens. `model` is null if none was given.
 */
import { findPrices, type PriceSource, type Prices } from "../../core/cost/prices.ts";
import { surroundingsError } from "../../errors.ts";
import { ownPricesFile, readPrices } from "../../store/files/prices-file.ts";
import { answer, type Io, terminalWidth } from "../io.ts";
import { openProjectToRead, type ProjectFlags } from "../project.ts";
import { renderTable } from "../render/table.ts";

export async function pricesCommand(model: string | undefined, flags: ProjectFlags, io: Io): Promise<number> {
  const prices = readPrices(openProjectToRead(flags, io), process.env);
  const rows = model === undefined ? allOf(prices) : findPrices(model, prices);
  if (model !== undefined && rows.length === 0)
    throw surroundingsError(
      `No price is known for ${JSON.stringify(model)}, so the cost of its turns is unknown.`,
      `Add a price to ${ownPricesFile(process.env)}; docs/prices.md shows the format.`,
    );
  const view = { model: model ?? null, prices: rows.map(viewPrice) };
  return answer(flags, io, view, renderPrices(rows, terminalWidth(), io));
}

function allOf(prices: Prices): readonly PriceSource[] {
  return (["own", "project", "shipped"] as const).flatMap((table) => {
    const { date = "", models = {} } = prices[table] ?? {};
    return Object.entries(models).map(([name, price]) => ({ table, date, name, price }));
  });
}

function viewPrice({ name, table, date, price }: PriceSource): object {
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  return { name, table, date, input, output, cacheRead, cacheWrite };
}

export function renderPrices(rows: readonly PriceSource[], width: number, io: Pick<Io, "colour">): string {
  const head = ["Model", "Input", "Output", "Cache read", "Cache write", "Table"];
  const lines = rows.map(({ name, table, date, price }) => {
    const { input, output, cacheRead = input, cacheWrite = input } = price;
    return [name, ...[input, output, cacheRead, cacheWrite].map(dollars), `${table}, ${date}`];
  });
  const note =
    "US dollars per million tokens. Your own table comes first, then the higher of the project's and the shipped price.";
  return `${renderTable([head, ...lines], width, io)}\n${note}`;
}

function dollars(amount: number): string {
  return `$${amount < 1 ? String(amount) : amount.toFixed(2)}`;
}
