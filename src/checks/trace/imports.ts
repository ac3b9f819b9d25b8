/**
 * Finds the files that a script or a configuration imports, by reading its text. Files of the product do not count: a
 * script that imports `../src/index.js` tests that file.
 */
import { posix } from "node:path";
import { isSource } from "../../core/toolchain/files.ts";
import { readProjectText } from "./found.ts";

const MAX_FILES = 200;
const ENDINGS = ["", ...".ts .mts .cts .js .mjs .cjs .tsx .jsx .json /index.ts /index.js".split(" ")];
const SCRIPT = /\.(?:[cm]?[jt]sx?)$/;
/** Options of test runners that name files. */
const NAMING_OPTION =
  /\b(?:setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|testEnvironment|environment|runner|testRunner|resolver|transform|reporters?|preset|extends|snapshotSerializers|require|import|spec|file|loader|plugins|config|projects|workspace)\b["']?\s*[:=]\s*(\[[^\]]{0,2000}\]|\{[^}]{0,2000}\}|["'][^"'\n]{1,300}["'])/g;

/** The file and everything that it imports, relative to the project. */
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

/** A script brings files of its own folder. A script at the top brings none, because these would be the product. */
function isPart(target: string, home: string, isConfig: boolean): boolean {
  if (target.startsWith("..") || target.includes("node_modules/")) return false;
  return isConfig
    ? !isSource(target)
    : home !== "." && !isSource(`${home}/`) && target.startsWith(`${home}/`);
}

/** Imported files, as written in the text. */
export function importsIn(path: string, text: string): string[] {
  if (path.endsWith(".py")) {
    const found = text.matchAll(/^\s*(?:from\s+\.?([\w.]+)\s+import|import\s+([\w.]+))/gm);
    return [...found].map(([, from, whole]) => `./${(from ?? whole ?? "").replaceAll(".", "/")}.py`);
  }
  return modulesIn(path, text).filter((name) => /^\.{1,2}\//.test(name));
}

/** All imports of a script: files and packages. */
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
  // TypeScript imports name the compiled file
  if (/\.[cm]?js$/.test(base)) candidates.push(base.replace(/js$/, "ts"));
  return candidates.find((path) => readProjectText(root, path) !== null) ?? null;
}
