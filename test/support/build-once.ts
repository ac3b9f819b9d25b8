import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The CLI tests run what a user runs: the bundle. It is built anew before every run of the suite. */
export default function setup(): void {
  const build = fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url));
  execFileSync(process.execPath, [build, "--keep-recent"], { stdio: "inherit" });
}
