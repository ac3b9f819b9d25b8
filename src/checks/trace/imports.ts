/**
 * What a script or a configuration draws in from beside it, as far as plain text tells. Not the product: a script
 * that imports `../src/index.js` looks at that file, it does not consist of it.
 */
import { posix } from "node:path";
import { isSource } from "../../core/toolchain/files.ts";
import { readProjectText } from "./found.ts";

const MAX_FILES = 200;
const ENDINGS = [
  "",
  ".ts",
  ".mts",
  ".cts",
  ".js",
  ".mjs",
  ".cjs",
  ".tsx",
  ".jsx",
  ".json",
  "/index.ts",
  "/index.js",
];
const SCRIPT = /\.(?:[cm]?[jt]sx?)$/;
/** Options of runners that name files of theirs. */
const NAMING_OPTION =
  /\b(?:setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|testEnvironment|environment|runner|testRunner|resolver|transform|reporters?|preset|extends|snapshotSerializers|require|import|spec|file|loader|plugins|config|projects|workspace)\b["']?\s*[:=]\s*(\[[^\]]{0,2000}\]|\{[^}]{0,2000}\}|["'][^"'\n]{1,300}["'])/g;

/** The files that it consists of, itself included, from the project on. */
export function closureOf(root: string, first: string, isConfig: boolean): string[] {
  const seen = new Set<string>();
  const open = [first];
  const home = posix.dirname(first);
  for (let path = open.pop(); path !== undefined && seen.size < MAX_FILES; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const text = readProjectText(root, path);
    if (text === null) continue;
    const names = [...importsIn(path, text), ...(isConfig && path === first ? optionsIn(text) : [])];
    for (const name of names) {
      const target = locate(root, posix.dirname(path), name);
      if (target !== null && isPart(target, home, isConfig)) open.push(target);
    }
  }
  return [...seen];
}

/** A script in a folder of its own brings what is in that folder; one at the top would bring the product. */
function isPart(target: string, home: string, isConfig: boolean): boolean {
  if (target.startsWith("..") || target.includes("node_modules/")) return false;
  return isConfig
    ? !isSource(target)
    : home !== "." && !isSource(`${home}/`) && target.startsWith(`${home}/`);
}

/** Names of files that it draws in, as it writes them. */
export function importsIn(path: string, text: string): string[] {
  if (path.endsWith(".py")) {
    const found = text.matchAll(/^\s*(?:from\s+\.?([\w.]+)\s+import|import\s+([\w.]+))/gm);
    return [...found].map(([, from, whole]) => `./${(from ?? whole ?? "").replaceAll(".", "/")}.py`);
  }
  return modulesIn(path, text).filter((name) => /^\.{1,2}\//.test(name));
}

/** All that a script imports: files and packages. */
export function modulesIn(path: string, text: string): string[] {
  if (!SCRIPT.test(path)) return [];
  const found = text.matchAll(
    /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*)["']([^"'\n]+)["']/g,
  );
  return [...found].map(([, name = ""]) => name);
}

function optionsIn(text: string): string[] {
  return [...text.matchAll(NAMING_OPTION)].flatMap(([, value = ""]) =>
    [...value.matchAll(/["']([^"'\n]+)["']/g)].map(([, name = ""]) => name.replace(/^<rootDir>\//, "./")),
  );
}

export function locate(root: string, folder: string, name: string): string | null {
  if (posix.isAbsolute(name)) return null;
  const base = posix.normalize(posix.join(folder, name));
  const candidates = ENDINGS.map((ending) => base + ending);
  // TypeScript names the file that will be, not the one that is
  if (/\.[cm]?js$/.test(base)) candidates.push(base.replace(/js$/, "ts"));
  return candidates.find((path) => readProjectText(root, path) !== null) ?? null;
}
