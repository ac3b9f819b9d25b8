/** Where the plugin is kept, and where the client keeps its settings. Writes nothing. */
import { join } from "node:path";
import { absolutePath, dataFolder, homeFolder } from "../../conversation/install/data-folder.ts";

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
  const data = dataFolder(env);
  const marketplace = join(data, "plugins");
  return {
    marketplace,
    plugin: join(marketplace, "claude-code"),
    receipt: join(data, "claude-install.json"),
    config: absolutePath(env.CLAUDE_CONFIG_DIR) ?? join(homeFolder(env), ".claude"),
  };
}
