// node scripts/install-client.mjs <name>…: installs test/clients/<name> (pinned, with its own lock file) into a
// cache outside of the checkout and prints the folder. Several may run at once; what is there stays.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// What npm would run as install scripts, which newer versions refuse by default. Named here one by one.
const AFTER_INSTALL = {
  claude: ["node_modules/@anthropic-ai/claude-code/install.cjs"],
  opencode: ["node_modules/opencode-ai/postinstall.mjs"],
};

const names = process.argv.slice(2);
const unknown = names.find(
  (name) => !/^[a-z0-9-]+$/.test(name) || !existsSync(manifestOf(name, "package-lock.json")),
);
if (names.length === 0 || unknown !== undefined) {
  console.error(`install-client: there is no client "${unknown ?? ""}" under test/clients`);
  process.exit(64);
}
const cache =
  process.env.LOOPWRIGHT_CLIENTS ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "loopwright-clients");

for (const name of names) {
  const hash = createHash("sha256")
    .update(readFileSync(manifestOf(name, "package-lock.json")))
    .digest("hex")
    .slice(0, 16);
  const target = join(cache, `${name}-${hash}`);
  if (!existsSync(target)) install(name, target);
  console.log(target);
}

function manifestOf(name, file) {
  return fileURLToPath(new URL(`../test/clients/${name}/${file}`, import.meta.url));
}

function install(name, target) {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, `.${name}-`));
  try {
    for (const file of ["package.json", "package-lock.json"])
      copyFileSync(manifestOf(name, file), join(folder, file));
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
