/** What this program was built together with: it is found upwards from the program that runs, wherever that lies. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { LoopError } from "../../../errors.ts";

/** The first answer that is not null, from the folder of the running program up to the root. */
export function lookUpwards<T>(look: (dir: string) => T | null): T | null {
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    const found = look(dir);
    if (found !== null || dir === dirname(dir)) return found;
  }
}

/** `what`: as the person knows it. */
export function notBuilt(what: string): LoopError {
  return new LoopError(
    "surroundings",
    `The ${what} is not beside this program.`,
    "Install the package anew; in a checkout: npm run build",
  );
}

/** The marketplace folder of the plugin, which has the whole command line program in it. */
export function builtMarketplace(): string {
  // in a bundle in dist/, in the copy inside the plugin itself, or in a checkout
  const found = lookUpwards(
    (dir) => [dir, join(dir, "plugins"), join(dir, "dist", "plugins")].find(isMarketplace) ?? null,
  );
  if (found === null) throw notBuilt("plugin");
  return found;
}

/** The sources of the plugin lie in a folder of the same name, without programs. */
function isMarketplace(dir: string): boolean {
  return (
    existsSync(join(dir, ".claude-plugin", "marketplace.json")) &&
    existsSync(join(dir, "claude-code", "bin", "files.json"))
  );
}
