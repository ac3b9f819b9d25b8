/** Finds the files that were built with this program, in the folders above the running program. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { LoopError } from "../../../errors.ts";

/** Calls `look` for each folder from the running program up to the root. Returns the first result that is not null. */
export function lookUpwards<T>(look: (dir: string) => T | null): T | null {
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    const found = look(dir);
    if (found !== null || dir === dirname(dir)) return found;
  }
}

/** `what`: the name that the person knows. */
export function notBuilt(what: string): LoopError {
  return new LoopError(
    "surroundings",
    `The built ${what} is missing next to this program.`,
    "Install the package again. In a checkout, run: npm run build",
  );
}

/** The marketplace folder of the plugin. It contains the whole command line program. */
export function builtMarketplace(): string {
  // in a bundle in dist/, in the plugin's own copy, or in a checkout
  const found = lookUpwards(
    (dir) => [dir, join(dir, "plugins"), join(dir, "dist", "plugins")].find(isMarketplace) ?? null,
  );
  if (found === null) throw notBuilt("plugin");
  return found;
}

/** The plugin's sources are in a folder of the same name, but without programs. */
function isMarketplace(dir: string): boolean {
  return (
    existsSync(join(dir, ".claude-plugin", "marketplace.json")) &&
    existsSync(join(dir, "claude-code", "bin", "files.json"))
  );
}
