import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The CLI tests run what a user runs: the bundle. It is built anew before every run of the suite. Nothing is written to
 * the person's own folder.
 */
export default function setup(): () => void {
  const config = mkdtempSync(join(tmpdir(), "loop-config-"));
  process.env.XDG_CONFIG_HOME = config;
  const build = fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url));
  execFileSync(process.execPath, [build, "--keep-recent"], { stdio: "inherit" });
  return () => rmSync(config, { recursive: true, force: true });
}
