/** Where the plugin and the client's settings are. Writes nothing. */
import { join } from "node:path";
import { absolutePath, dataFolder, homeFolder } from "../../conversation/install/data-folder.ts";

export const MARKETPLACE = "loopwright";
/** The client's id: plugin@marketplace. */
export const PLUGIN_ID = "loopwright@loopwright";

export interface Places {
  /** The marketplace folder that the client knows. It survives npx, updates and deleted checkouts. */
  readonly marketplace: string;
  readonly plugin: string;
  /** The record of the settings that an installation wrote. */
  readonly receipt: string;
  /** The client's folder with the person's settings. */
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
