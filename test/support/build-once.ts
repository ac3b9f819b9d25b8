import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { userKey } from "../../src/store/signed/user-key.ts";

/** The CLI tests run what a user runs: the bundle. It is built anew before every run of the suite. */
export default function setup(): () => void {
  // the tests sign with a key of their own, and leave the person's folder alone
  const config = mkdtempSync(join(tmpdir(), "loopwright-test-config-"));
  mkdirSync(config, { recursive: true, mode: 0o700 });
  process.env.XDG_CONFIG_HOME = config;
  userKey(process.env);
  const build = fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url));
  execFileSync(process.execPath, [build, "--keep-recent"], { stdio: "inherit" });
  return () => rmSync(config, { recursive: true, force: true });
}
