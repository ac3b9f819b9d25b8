/** The price tables that hold for a project. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Prices, PriceTable } from "../../core/cost/prices.ts";
import { LoopError } from "../../errors.ts";
import { parsePrices, SHIPPED_PRICES } from "../../schema/prices.ts";
import { parseJsonFile, readText, readTextThroughLinks } from "./read-text.ts";

/** What is wrong in one of them is said with its place: a budget is counted by them. */
export function readPrices(project: { readonly dir: string } | null, env: NodeJS.ProcessEnv): Prices {
  const own = ownPricesFile(env);
  return {
    own: readTable(own, readTextThroughLinks(own)),
    project: project === null ? null : readProjectTable(join(project.dir, "prices.json")),
    shipped: SHIPPED_PRICES,
  };
}

export function ownPricesFile(env: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME: config = "", HOME: home = "" } = env;
  const folder = isAbsolute(config) ? config : join(isAbsolute(home) ? home : homedir(), ".config");
  return join(folder, "loopwright", "prices.json");
}

function readProjectTable(path: string): PriceTable | null {
  return readTable(path, readText(path));
}

function readTable(path: string, text: string | null): PriceTable | null {
  if (text === null) return null;
  const result = parsePrices(parseJsonFile(path, text));
  if (result.kind === "ok") return result.table;
  throw new LoopError("surroundings", `${path}: ${result.message}.`, "Mend or remove it.");
}
