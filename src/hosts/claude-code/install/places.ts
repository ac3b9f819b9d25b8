/** Where the plugin comes from, where it is kept, and where the client keeps its settings. Writes nothing. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { LoopError } from "../../../errors.ts";

export const MARKETPLACE = "loopwright";
/** As the client names it: plugin@marketplace. */
export const PLUGIN_ID = "loopwright@loopwright";

export interface Places {
  /** The marketplace folder that the client is told of. Outlives npx, updates and checkouts. */
  readonly marketplace: string;
  readonly plugin: string;
  /** What an installation wrote elsewhere, so that it can be taken back. */
  readonly receipt: string;
  /** The client's own folder, with the person's settings. */
  readonly config: string;
}

export function placesOf(env: NodeJS.ProcessEnv): Places {
  const home = absolute(env.HOME) ?? homedir();
  const data =
    absolute(env.XDG_DATA_HOME) ??
    (process.platform === "win32" ? absolute(env.LOCALAPPDATA) : null) ??
    join(home, ".local", "share");
  const marketplace = join(data, "loopwright", "plugins");
  return {
    marketplace,
    plugin: join(marketplace, "claude-code"),
    receipt: join(data, "loopwright", "claude-install.json"),
    config: absolute(env.CLAUDE_CONFIG_DIR) ?? join(home, ".claude"),
  };
}

/** The marketplace folder that this program was built with. */
export function builtMarketplace(): string {
  const found = findBuilt(dirname(fileURLToPath(import.meta.url)));
  if (found === null)
    throw new LoopError(
      "surroundings",
      "The plugin is not beside this program.",
      "Install the package anew; in a checkout: npm run build",
    );
  return found;
}

/** This file is a part of a bundle in dist/, of the copy inside the plugin itself, or of a checkout. */
function findBuilt(from: string): string | null {
  for (let dir = from; ; dir = dirname(dir)) {
    const found = [dir, join(dir, "plugins"), join(dir, "dist", "plugins")].find(isBuilt);
    if (found !== undefined || dir === dirname(dir)) return found ?? null;
  }
}

/** The sources of the plugin lie in a folder of the same name, without programs. */
function isBuilt(dir: string): boolean {
  return (
    existsSync(join(dir, ".claude-plugin", "marketplace.json")) &&
    existsSync(join(dir, "claude-code", "bin", "files.json"))
  );
}

function absolute(path: string | undefined): string | null {
  return path !== undefined && isAbsolute(path) ? path : null;
}
