// npm run release:check: packs the package, installs the tarball into an empty prefix with an empty HOME, and runs the
// demo from there. Prints what is in the tarball. Exits with 1 and one sentence when something is wrong. The network
// is used only by `npm install`, for the packages that package.json names as dependencies.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const REQUIRED = [
  ...["LICENSE", "README.md", "CHANGELOG.md", "package.json"],
  ...["dist/loop.cjs", "dist/main.js", "dist/index.js", "dist/types/index.d.ts", "dist/statusline.cjs"],
  ...["dist/pi/extension.cjs", "dist/plugins/claude-code/.claude-plugin/plugin.json"],
  ...["dist/THIRD-PARTY-NOTICES.txt", "docs/commands.md"],
];
const FORBIDDEN = /^(src|test|bench|scripts|node_modules|\.loop)\/|\.map$|(^|\/)\.env/;
const MAX_PACKED_BYTES = 4 * 1024 * 1024;

/** How this machine reaches a registry: certificates and proxies. */
const NETWORK = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|(?:https?|no)_proxy)$/i;

const folder = mkdtempSync(join(tmpdir(), "loop-release-"));
try {
  const tarball = pack();
  const { installed, loop, env } = install(tarball);
  checkDeclarations(installed);
  removeDependencies(installed);
  checkVersion(loop, env);
  runDemo(loop, env);
  console.log("The package can be released.");
} catch (error) {
  console.error(`release:check: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Builds, packs, and looks at what is in the tarball. */
function pack() {
  const output = run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
  // the build may print before it
  const [{ filename, files, size, unpackedSize }] = JSON.parse(output.slice(output.search(/^\[/m)));
  const paths = files.map(({ path }) => path);
  for (const { path, size: bytes } of files) console.log(`${String(bytes).padStart(9)}  ${path}`);
  console.log(`${paths.length} files, ${size} bytes packed, ${unpackedSize} unpacked`);
  const missing = REQUIRED.filter((path) => !paths.includes(path));
  if (missing.length > 0) throw new Error(`the tarball lacks ${missing.join(", ")}.`);
  const wrong = paths.filter((path) => FORBIDDEN.test(path));
  if (wrong.length > 0) throw new Error(`the tarball must not contain ${wrong.join(", ")}.`);
  if (size > MAX_PACKED_BYTES)
    throw new Error(`the tarball has ${size} bytes, more than ${MAX_PACKED_BYTES}.`);
  return join(folder, filename);
}

/** Into an empty prefix. Only npm knows of the person's registry, cache and network. */
function install(tarball) {
  const [prefix, home] = [join(folder, "prefix"), join(folder, "home")];
  for (const path of [prefix, home]) mkdirSync(path);
  const setting = (name) => run("npm", ["config", "get", name], { cwd: root }).trim();
  const env = { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", NO_COLOR: "1" };
  const network = Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name)));
  const settings = { npm_config_registry: setting("registry"), npm_config_cache: setting("cache") };
  const npmEnv = { ...env, ...network, ...settings };
  const flags = ["--no-audit", "--no-fund", "--prefer-offline"];
  run("npm", ["install", "--global", "--prefix", prefix, ...flags, tarball], { cwd: folder, env: npmEnv });
  const installed = join(prefix, "lib", "node_modules", manifest.name);
  const loop = join(prefix, "bin", "loop");
  if (!existsSync(loop)) throw new Error("the installed package has no command `loop`.");
  return { installed, loop, env };
}

/** What the published declarations import must come with the package. */
function checkDeclarations(installed) {
  const allowed = Object.keys(manifest.dependencies);
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const [, name] of readFileSync(path, "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      if (name.startsWith(".")) visit(join(dirname(path), name.replace(/\.[jt]s$/, ".d.ts")));
      else if (!name.startsWith("node:") && !allowed.includes(name))
        throw new Error(`${path.slice(installed.length + 1)} imports ${name}, which users do not have.`);
    }
  };
  visit(join(installed, "dist", "types", "index.d.ts"));
  console.log(`${seen.size} declaration files need nothing but ${allowed.join(", ")} and Node`);
}

/** Everything is bundled: the dependencies are there for the declarations, and the program must run without them. */
function removeDependencies(installed) {
  rmSync(join(installed, "node_modules"), { recursive: true, force: true });
  console.log(`${Object.keys(manifest.dependencies).join(", ")} removed: only the declarations need it`);
}

function checkVersion(loop, env) {
  const version = run(loop, ["--version"], { cwd: folder, env }).trim();
  if (version !== manifest.version)
    throw new Error(`loop --version prints "${version}", and package.json says ${manifest.version}.`);
  console.log(`loop --version: ${version}`);
}

function runDemo(loop, env) {
  const output = run(loop, ["demo"], { cwd: join(folder, "home"), env });
  console.log(output.trimEnd());
  if (!output.includes("SHIP")) throw new Error("the demo ended without the verdict SHIP.");
}

/** Throws one sentence, after what the program said. */
function run(command, args, options) {
  try {
    return execFileSync(command, args, { ...options, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    console.error([error.stdout, error.stderr].filter(Boolean).join("\n").trimEnd());
    throw new Error(`\`${[command, ...args].join(" ")}\` failed (${error.status ?? error.code}).`);
  }
}
