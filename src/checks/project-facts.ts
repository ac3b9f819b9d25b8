/** Reads file names and package scripts of a project. Runs nothing. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_MANAGERS, type ProjectFacts, packageManagerOf } from "../core/toolchain/project-commands.ts";
import { readAnyones } from "../system/files.ts";

/** Never throws: a file that cannot be read counts as missing. */
export function readProjectFacts(dir: string): ProjectFacts {
  const files = namesIn(dir);
  const manifest = files.includes("package.json") ? readManifest(join(dir, "package.json")) : {};
  const packageManager = managerIn(manifest) ?? packageManagerOf(files);
  return { packageManager, scripts: scriptsIn(manifest), files };
}

const MAX_FILES = 5_000;
const MAX_MANIFEST = 2 * 1024 * 1024;
/** The test script that `npm init` writes. */
const NO_TESTS = /Error: no test specified/;

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).sort().slice(0, MAX_FILES);
  } catch {
    return [];
  }
}

function readManifest(path: string): object {
  try {
    const text = readAnyones(path, MAX_MANIFEST)?.replace(/^\uFEFF/, "") ?? "";
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function managerIn(manifest: object): ProjectFacts["packageManager"] {
  const said = "packageManager" in manifest ? manifest.packageManager : null;
  return PACKAGE_MANAGERS.find((name) => typeof said === "string" && said.startsWith(`${name}@`)) ?? null;
}

function scriptsIn(manifest: object): string[] {
  const scripts = "scripts" in manifest ? manifest.scripts : null;
  if (typeof scripts !== "object" || scripts === null) return [];
  return Object.entries(scripts).flatMap(([name, command]) =>
    typeof command !== "string" || (name === "test" && NO_TESTS.test(command)) ? [] : [name],
  );
}
