// Runs the figures of bench/: all of them, or those that are named. Exit 1 when a limit is broken.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const PARTS = new Set(["report", "project", "engine", "claude-run", "long-transcript"]);
const known = readdirSync(join(root, "bench"))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -3))
  .filter((name) => !PARTS.has(name));
const named = process.argv.slice(2);
const unknown = named.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no figure ${unknown.join(", ")}; there are: ${known.join(", ")}.`);
  process.exit(64);
}

const folder = mkdtempSync(join(tmpdir(), "loop-bench-"));
try {
  // Node 20 does not run TypeScript, and dist/ may be built anew while the figures are taken.
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["report", ...known].map((name) => `bench/${name}.ts`),
    outdir: join(folder, "bench"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    // mitata looks for them when it runs elsewhere
    external: ["bun:jsc", "@mitata/*"],
    outExtension: { ".js": ".mjs" },
    define: { LOOPWRIGHT_VERSION: '"bench"' },
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    logLevel: "warning",
  });
  const { COLUMNS } = await import(pathToFileURL(join(folder, "bench", "report.mjs")).href);
  const head = ["figure", "measured", "ratio", "against"].map((cell, at) => cell.padEnd(COLUMNS[at]));
  console.log(`${head.join(" ")} limit`);
  for (const name of named.length > 0 ? named : known) {
    const { status } = spawnSync(process.execPath, ["--expose-gc", join(folder, "bench", `${name}.mjs`)], {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, LOOP_BENCH_COMMAND: join(folder, "dist", "loop.cjs") },
    });
    if (status !== 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
