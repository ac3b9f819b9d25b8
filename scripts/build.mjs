// Builds dist/: the command, the library and, with --types, the declarations.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const watch = process.argv.includes("--watch");

const options = {
  absWorkingDir: root,
  entryPoints: { main: "src/cli/main.ts", index: "src/index.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  chunkNames: "chunks/[name]-[hash]",
  minifySyntax: true,
  legalComments: "none",
  define: { LOOPWRIGHT_VERSION: JSON.stringify(version) },
  // commander and others are CommonJS: a bundle in ESM needs a `require` for Node's own modules
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  logLevel: "warning",
};

/** The file behind the command: one file, CommonJS, because it starts faster than ESM in chunks. */
const entry = {
  ...options,
  entryPoints: { loop: "src/cli/entry.ts" },
  outExtension: { ".js": ".cjs" },
  splitting: false,
  format: "cjs",
  banner: {},
  // for resident processes only; never loaded from here
  external: ["./watch.ts"],
};

rmSync(`${root}dist`, { recursive: true, force: true });
if (watch) {
  for (const one of [options, entry]) {
    const context = await esbuild.context({ ...one, logLevel: "info" });
    await context.watch();
  }
} else {
  await Promise.all([esbuild.build(options), esbuild.build(entry)]);
  linkCommand();
  if (process.argv.includes("--types")) {
    execFileSync(
      process.execPath,
      [
        `${root}node_modules/typescript/bin/tsc`,
        "--noEmit",
        "false",
        "--emitDeclarationOnly",
        "--declaration",
        "--rootDir",
        "src",
        "--outDir",
        "dist/types",
        "--project",
        "tsconfig.build.json",
      ],
      { cwd: root, stdio: "inherit" },
    );
  }
}

/** `npx loop` in a clone: npm links the commands of dependencies, but not a package's own. */
function linkCommand() {
  const link = `${root}node_modules/.bin/loop`;
  if (process.platform === "win32" || !existsSync(`${root}node_modules/.bin`)) return;
  rmSync(link, { force: true });
  symlinkSync("../../dist/loop.cjs", link);
}
