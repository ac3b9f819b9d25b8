// Builds <dist>/pi: the extension for pi, one file beside its manifest. The command is that of <dist>.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { writeNotices } from "./notices.mjs";

/** `shared` are the options that all bundles have in common. Returns the metafiles of what it built. */
export async function buildPi({ root, dist, version, shared }) {
  const out = join(root, dist, "pi");
  mkdirSync(out, { recursive: true });
  const { metafile } = await esbuild.build({
    ...shared,
    entryPoints: { extension: "src/hosts/pi/extension.ts" },
    outdir: out,
    // pi's loader rewrites modules, and takes CommonJS as it is
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    define: { ...shared.define, "import.meta.url": "__extensionUrl" },
    banner: { js: "const __extensionUrl=require('node:url').pathToFileURL(__filename).href;" },
    // the function itself: a default export of CommonJS is taken for something else
    footer: { js: "module.exports=module.exports.default;" },
  });
  cpSync(join(root, "LICENSE"), join(out, "LICENSE"));
  const manifest = {
    ...{ name: "loopwright-pi", version, license: "MIT", private: true },
    keywords: ["pi-package"],
    pi: { extensions: ["./extension.cjs"] },
  };
  writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeNotices(root, out, [metafile]);
  return [metafile];
}
