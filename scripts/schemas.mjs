/** Writes `schemas/*.json` from the code: `npm run schemas`. A test fails when they differ. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "schemas");
const made = mkdtempSync(join(tmpdir(), "loopwright-schemas-"));
try {
  const outfile = join(made, "published.mjs");
  await build({
    entryPoints: [join(root, "src/schema/published.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  const { renderSchemas } = await import(pathToFileURL(outfile).href);
  const schemas = renderSchemas();
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!schemas.has(name)) rmSync(join(folder, name));
  for (const [name, text] of schemas) writeFileSync(join(folder, name), text);
  console.log(`schemas/: ${[...schemas.keys()].join(", ")}`);
} finally {
  rmSync(made, { recursive: true, force: true });
}
