// node scripts/install-client.mjs <name>: installs test/clients/<name> (pinned, with its own lock file) into a
// cache outside of the checkout and prints the folder. Several may run at once; what is there stays.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// What npm would run as install scripts, which newer versions refuse by default. Named here one by one.
const AFTER_INSTALL = { claude: ["node_modules/@anthropic-ai/claude-code/install.cjs"] };

const name = process.argv[2] ?? "";
const manifest = fileURLToPath(new URL(`../test/clients/${name}/`, import.meta.url));
if (!/^[a-z0-9-]+$/.test(name) || !existsSync(join(manifest, "package-lock.json"))) {
  console.error(`install-client: there is no client "${name}" under test/clients`);
  process.exit(64);
}
const hash = createHash("sha256")
  .update(readFileSync(join(manifest, "package-lock.json")))
  .digest("hex")
  .slice(0, 16);
const cache =
  process.env.LOOPWRIGHT_CLIENTS ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "loopwright-clients");
const target = join(cache, `${name}-${hash}`);

if (!existsSync(target)) install();
console.log(target);

function install() {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, `.${name}-`));
  try {
    for (const file of ["package.json", "package-lock.json"])
      copyFileSync(join(manifest, file), join(folder, file));
    const options = { cwd: folder, stdio: ["ignore", 2, 2] };
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], options);
    for (const script of AFTER_INSTALL[name] ?? []) execFileSync(process.execPath, [script], options);
    renameSync(folder, target);
  } catch (error) {
    // somebody else was faster: theirs is the same
    if (!existsSync(target)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
