// Builds dist/: the command, the library and, with --types, the declarations.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const watch = process.argv.includes("--watch");

const entryPoints = { loop: "src/cli/main.ts", index: "src/index.ts" };
const options = {
  absWorkingDir: root,
  entryPoints: Object.fromEntries(Object.entries(entryPoints).filter(([, file]) => existsSync(root + file))),
  outdir: "dist",
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  chunkNames: "chunks/[name]-[hash]",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  define: { LOOPWRIGHT_VERSION: JSON.stringify(version) },
  // commander and others are CommonJS: a bundle in ESM needs a `require` for Node's own modules
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  logLevel: "warning",
};

rmSync(`${root}dist`, { recursive: true, force: true });
if (watch) {
  const context = await esbuild.context({ ...options, logLevel: "info" });
  await context.watch();
} else {
  await esbuild.build(options);
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
