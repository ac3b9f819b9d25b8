// The licences of the packages that are bundled into dist/, from esbuild's own account of what it put where.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const NOTICES = "THIRD-PARTY-NOTICES.txt";

/** Writes the notices for everything in these bundles into the folder. Throws when a package has no licence text. */
export function writeNotices(root, folder, metafiles) {
  const packages = [...new Set(metafiles.flatMap(bundledFolders))].sort();
  const parts = packages.map((folder) => renderPackage(root, folder));
  const head =
    "Loopwright contains parts of the following packages. Each has its own licence, printed below it.";
  writeFileSync(join(folder, NOTICES), `${[head, ...parts].join(`\n\n${"=".repeat(80)}\n\n`)}\n`);
}

/** The package folders, as `node_modules/<name>`, of which something is in an output. */
function bundledFolders({ outputs }) {
  const inputs = Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((path) => inputs[path].bytesInOutput > 0),
  );
  return inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
}

function renderPackage(root, folder) {
  const path = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const texts = readdirSync(path).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  if (texts.length === 0)
    throw new Error(`${name}@${version} is bundled, and its package has no licence text`);
  const body = texts.map((file) => readFileSync(join(path, file), "utf8").trim());
  return [`${name} ${version} (${license})`, ...body].join("\n\n");
}
