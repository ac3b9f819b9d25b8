/** Reads the price tables of a project. */
import { join } from "node:path";
import type { Prices, PriceTable } from "../../core/cost/prices.ts";
import { LoopError } from "../../errors.ts";
import { parsePrices, SHIPPED_PRICES } from "../../schema/prices.ts";
import { ownFile } from "../../system/user-folder.ts";
import { parseJsonFile, readText, readTextThroughLinks } from "./read-text.ts";

/** Throws a sentence with the place of the first fault, because budgets depend on the prices. */
export function readPrices(project: { readonly dir: string } | null, env: NodeJS.ProcessEnv): Prices {
  const own = ownPricesFile(env);
  const ofProject = project === null ? null : join(project.dir, "prices.json");
  return {
    own: readTable(own, readTextThroughLinks(own)),
    project: ofProject === null ? null : readTable(ofProject, readText(ofProject)),
    shipped: SHIPPED_PRICES,
  };
}

export function ownPricesFile(env: NodeJS.ProcessEnv): string {
  return ownFile(env, "prices.json");
}

function readTable(path: string, text: string | null): PriceTable | null {
  if (text === null) return null;
  const result = parsePrices(parseJsonFile(path, text));
  if (result.kind === "ok") return result.table;
  throw new LoopError("surroundings", `${path}: ${result.message}.`, "Fix or remove it.");
}
