/** The plugin for Claude Code, as the build makes it. */
import { fileURLToPath } from "node:url";

export const PLUGIN =
  process.env.LOOP_TEST_PLUGIN ??
  fileURLToPath(new URL("../../../dist/plugins/claude-code", import.meta.url));
