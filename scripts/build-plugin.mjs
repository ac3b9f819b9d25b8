// Builds <dist>/plugins: a marketplace folder with the plugin for Claude Code, which needs nothing but Node.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import * as esbuild from "esbuild";
import { writeNotices } from "./notices.mjs";
import { renderHooks } from "./plugin-hooks.mjs";

/** Of `src/hosts/claude-code`. */
const RESIDENT = ["server", "monitor"];
const HOOK = "hook";
/** What of dist/ makes the whole command line program. */
const COMMAND = ["loop.cjs", "statusline.cjs", "main.js", "chunks"];

/**
 * `dist` has the command in it already, and `command` are its metafiles; `shared` are the options that all bundles have
 * in common. Returns the metafiles of what it built.
 */
export async function buildPlugin({ root, dist, version, shared, command }) {
  const out = join(root, dist, "plugins");
  const plugin = join(out, "claude-code");
  const bin = join(plugin, "bin");
  cpSync(join(root, "plugins"), out, { recursive: true });
  const programs = await buildPrograms(root, bin, shared);
  for (const name of COMMAND) cpSync(join(root, dist, name), join(bin, "loop", name), { recursive: true });
  // main.js and chunks are modules here as they are in the package
  writeJson(join(bin, "loop", "package.json"), { type: "module" });
  cpSync(join(root, "LICENSE"), join(plugin, "LICENSE"));
  const manifest = join(plugin, ".claude-plugin", "plugin.json");
  writeJson(manifest, { ...JSON.parse(readFileSync(manifest, "utf8")), version });
  mkdirSync(join(plugin, "hooks"), { recursive: true });
  writeJson(join(plugin, "hooks", "hooks.json"), renderHooks("posix"));
  writeJson(join(plugin, "hooks", "hooks.windows.json"), renderHooks("windows"));
  writeNotices(root, plugin, [...command, ...programs]);
  writeJson(join(bin, "files.json"), hashAll(plugin));
  return programs;
}

/**
 * The resident ones are one file each: when the folder is replaced under them, nothing that they still have to load
 * is gone. The hook lives for some milliseconds and loads only what its event needs, so that it is in parts.
 */
async function buildPrograms(root, bin, shared) {
  const source = (name) => {
    const path = `src/hosts/claude-code/${name}-main.ts`;
    if (!existsSync(join(root, path))) throw new Error(`the plugin cannot be built: there is no ${path}`);
    return path;
  };
  const sourceOf = (names) => Object.fromEntries(names.map((name) => [name, source(name)]));
  const resident = {
    ...shared,
    entryPoints: sourceOf(RESIDENT),
    outdir: bin,
    format: "cjs",
    outExtension: { ".js": ".cjs" },
  };
  const hook = {
    ...shared,
    entryPoints: sourceOf([HOOK]),
    outdir: join(bin, "lib"),
    format: "esm",
    splitting: true,
    chunkNames: "[name]-[hash]",
    outExtension: { ".js": ".mjs" },
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  };
  const built = await Promise.all([esbuild.build(resident), esbuild.build(hook)]);
  writeFileSync(join(bin, "hook.cjs"), `import("./lib/${HOOK}.mjs");\n`);
  return built.map(({ metafile }) => metafile);
}

/** `loop doctor` finds by it what is missing or was changed. */
function hashAll(plugin) {
  const files = readdirSync(plugin, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
  return Object.fromEntries(files.map((path) => [relative(plugin, path).split(sep).join("/"), hash(path)]));
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
