// Builds dist/: the command, the library, the plugin and, with --types, the declarations.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { buildPi } from "./build-pi.mjs";
import { buildPlugin } from "./build-plugin.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const watch = process.argv.includes("--watch");
/** A build is made beside dist/ and swapped in when it is whole: whoever runs the command meets the old or the new. */
const fresh = watch ? "dist" : `dist.${process.pid}.tmp`;

const KEEP_CHUNKS_MS = 15 * 60_000;

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  minifySyntax: true,
  legalComments: "none",
  define: { LOOPWRIGHT_VERSION: JSON.stringify(version) },
  logLevel: "warning",
};

const options = {
  ...shared,
  entryPoints: { main: "src/cli/main.ts", index: "src/index.ts" },
  outdir: fresh,
  splitting: true,
  format: "esm",
  chunkNames: "chunks/[name]-[hash]",
  // commander and others are CommonJS: a bundle in ESM needs a `require` for Node's own modules
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
};

/** The file behind the command, and the status line: one file, CommonJS, because it starts faster than ESM in chunks. */
const entry = {
  ...shared,
  entryPoints: { loop: "src/cli/entry.ts", statusline: "src/cli/statusline.ts" },
  outdir: fresh,
  outExtension: { ".js": ".cjs" },
  format: "cjs",
};

if (watch) {
  for (const one of [options, entry]) {
    const context = await esbuild.context({ ...one, logLevel: "info" });
    await context.watch();
  }
} else {
  try {
    await Promise.all([esbuild.build(options), esbuild.build(entry)]);
    await buildPlugin({ root, dist: fresh, version, shared });
    await buildPi({ root, dist: fresh, version, shared });
    if (process.argv.includes("--types")) emitTypes();
    swapIn();
  } finally {
    rmSync(`${root}${fresh}`, { recursive: true, force: true });
  }
  linkCommand();
}

function emitTypes() {
  const flags =
    "--noEmit false --emitDeclarationOnly --declaration --rootDir src --project tsconfig.build.json";
  const tsc = `${root}node_modules/typescript/bin/tsc`;
  execFileSync(process.execPath, [tsc, ...flags.split(" "), "--outDir", `${fresh}/types`], {
    cwd: root,
    stdio: "inherit",
  });
}

function swapIn() {
  const old = `${root}dist.${process.pid}.old`;
  if (existsSync(`${root}dist`)) {
    // `npm pack` builds with types and then once more without
    if (existsSync(`${root}dist/types`) && !existsSync(`${root}${fresh}/types`)) {
      renameSync(`${root}dist/types`, `${root}${fresh}/types`);
    }
    if (process.argv.includes("--keep-recent")) keepRecentChunks();
    renameSync(`${root}dist`, old);
  }
  renameSync(`${root}${fresh}`, `${root}dist`);
  rmSync(old, { recursive: true, force: true });
}

/** For the tests: those of another terminal run with the build of a moment ago, and load parts of it late. */
function keepRecentChunks() {
  for (const name of readdirSync(`${root}dist/chunks`)) {
    const [from, to] = [`${root}dist/chunks/${name}`, `${root}${fresh}/chunks/${name}`];
    if (existsSync(to) || Date.now() - statSync(from).mtimeMs > KEEP_CHUNKS_MS) continue;
    copyFileSync(from, to);
    const { atime, mtime } = statSync(from);
    utimesSync(to, atime, mtime);
  }
}

/** `npx loop` in a clone: npm links the commands of dependencies, but not a package's own. */
function linkCommand() {
  const link = `${root}node_modules/.bin/loop`;
  if (process.platform === "win32" || !existsSync(`${root}node_modules/.bin`)) return;
  rmSync(link, { force: true });
  symlinkSync("../../dist/loop.cjs", link);
}
